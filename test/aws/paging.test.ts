import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Ec2NodeClass } from "../../src/api/kinds/ec2-node-class.ts";
import { sdkEc2 } from "../../src/providers/aws/api/sdk-ec2.ts";
import { sdkPricing } from "../../src/providers/aws/api/sdk-services.ts";
import { LivePrices } from "../../src/providers/aws/instance-types/live-prices.ts";
import { SecurityGroups } from "../../src/providers/aws/node-class/security-groups.ts";
import { SubnetAddresses } from "../../src/providers/aws/node-class/subnet-addresses.ts";
import { Subnets } from "../../src/providers/aws/node-class/subnets.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";

/** What AWS answers to the page a token asks for; the first has none. */
type Answer = (page: { readonly token: string; readonly body: string; readonly target: string }) => string;

let server: Server | undefined;

/** The SDK talks to this server from now on. */
async function answering(answer: Answer): Promise<readonly string[]> {
  const bodies: string[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      const token = /NextToken(?:=|":")([^&"]+)/.exec(body)?.[1] ?? "";
      response.end(answer({ token, body, target: String(request.headers["x-amz-target"] ?? "") }));
    });
  });
  await new Promise<void>((listening) => server?.listen(0, "127.0.0.1", listening));
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  return bodies;
}

afterEach(async () => {
  vi.unstubAllEnvs();
  server?.closeAllConnections();
  await new Promise((closed) => server?.close(closed));
  server = undefined;
});

const options = { region: "us-west-2", version: "0.0.0" };

function nodeClass(spec: object): Ec2NodeClass {
  return { metadata: { name: "web", uid: "1", generation: 1 }, spec } as unknown as Ec2NodeClass;
}

const nextOf: Readonly<Record<string, string>> = { "": "two", two: "three", three: "four" };

function xmlPage(action: string, list: string, token: string, items: Readonly<Record<string, string>>): string {
  const next = nextOf[token] === undefined ? "" : `<nextToken>${nextOf[token]}</nextToken>`;
  return `<${action}Response><requestId>r</requestId><${list}>${items[token] ?? ""}</${list}>${next}</${action}Response>`;
}

describe("answers in pages", () => {
  it("04 §1.5 subnets are those of all pages, though the first and one in between are empty", async () => {
    const item = (id: string) =>
      `<item><subnetId>${id}</subnetId><availabilityZone>us-west-2a</availabilityZone></item>`;
    const pages = { two: item("subnet-1") + item("subnet-2"), four: item("subnet-3") };
    const bodies = await answering(({ token }) => xmlPage("DescribeSubnets", "subnetSet", token, pages));
    const clock = new VirtualClock();
    const addresses = new SubnetAddresses({ clock, refreshMs: 60_000 });
    const subnets = new Subnets({ ec2: await sdkEc2(options), clock, refreshMs: 60_000, addresses });
    const found = await subnets.resolve(nodeClass({ subnetSelectorTerms: [{ tags: { a: "b" } }] }));
    expect(found.map(({ id }) => id)).toEqual(["subnet-1", "subnet-2", "subnet-3"]);
    expect(bodies).toHaveLength(4);
    for (const body of bodies) expect(body).toContain("MaxResults=500");
  });

  it("04 §1.6 security groups are those of all pages; none at all is an empty list", async () => {
    const item = (id: string) => `<item><groupId>${id}</groupId><groupName>${id}</groupName></item>`;
    const pages = { "": item("sg-2"), three: item("sg-1") };
    const bodies = await answering(({ token, body }) =>
      body.includes("sg-none")
        ? xmlPage("DescribeSecurityGroups", "securityGroupInfo", "four", {})
        : xmlPage("DescribeSecurityGroups", "securityGroupInfo", token, pages),
    );
    const groups = new SecurityGroups({ ec2: await sdkEc2(options), clock: new VirtualClock() });
    const found = await groups.resolve(nodeClass({ securityGroupSelectorTerms: [{ tags: { a: "b" } }] }));
    expect(found.map(({ id }) => id)).toEqual(["sg-1", "sg-2"]);
    expect(bodies).toHaveLength(4);
    const none = {
      ...nodeClass({ securityGroupSelectorTerms: [{ id: "sg-none" }] }),
      metadata: { name: "none", uid: "2" },
    };
    expect(await groups.resolve(none)).toEqual([]);
  });

  it("04 §2.6 prices are those of all pages, of shared and of bare metal instances", async () => {
    const product = (instanceType: string, USD: string) =>
      JSON.stringify({
        product: { attributes: { instanceType } },
        terms: { OnDemand: { t: { priceDimensions: { d: { pricePerUnit: { USD } } } } } },
      });
    const shared: Readonly<Record<string, readonly string[]>> = {
      "": [product("m5.large", "0.1")],
      three: [product("m5.xlarge", "0.2"), product("c5.large", "0")],
      four: [product("c5.large", "0.3")],
    };
    const bodies = await answering(({ token, body, target }) => {
      if (!target.endsWith("GetProducts"))
        return xmlPage("DescribeSpotPriceHistory", "spotPriceHistorySet", "four", {});
      if (body.includes("bare metal")) return JSON.stringify({ PriceList: [product("m5.metal", "4")] });
      return JSON.stringify({ PriceList: shared[token] ?? [], NextToken: nextOf[token] });
    });
    const aws = { region: "us-west-2", ec2: await sdkEc2(options), pricing: await sdkPricing(options) };
    const prices = new LivePrices({ aws, clock: new VirtualClock(), isIsolatedVpc: false });
    await prices.refresh().catch(() => {}); // there are no spot prices
    const names = ["m5.large", "m5.xlarge", "c5.large", "m5.metal"];
    expect(names.map((name) => prices.onDemand({ name } as never))).toEqual([0.1, 0.2, 0.3, 4]);
    const asked = bodies.filter((body) => body.includes("ServiceCode"));
    expect(asked).toHaveLength(5);
    for (const body of asked) expect(body).toContain('"MaxResults":100');
  });
});
