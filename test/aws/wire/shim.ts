import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { type AwsParams, type AwsRequest, formOf, listOf, numbered, readAwsRequest } from "./aws-request.ts";
import { ec2Refusal, xmlOf } from "./ec2-xml.ts";
import { instanceStatusAnswer, placementGroupsAnswer, reservationsAnswer } from "./shim-ec2-tables.ts";
import { fleetAnswer } from "./shim-fleet.ts";
import { productsAnswer, spotPricesAnswer } from "./shim-prices.ts";
import { type ShimFault, ShimTables } from "./shim-tables.ts";

export interface ShimAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sends a request on to moto; changed parts replace those of the request. */
export type Forward = (change?: { readonly body?: string }) => Promise<ShimAnswer>;

/** Answers a request itself, or nothing: then moto does. */
type Intercept = (
  call: AwsRequest,
  tables: ShimTables,
  forward: Forward,
) => Promise<ShimAnswer | undefined> | ShimAnswer | undefined;

/** What moto lacks or does not let us set. (04 §7.3) */
const intercepts: Readonly<Record<string, Intercept>> = {
  "ssm:GetParameter": parameterAnswer,
  "pricing:GetProducts": productsAnswer,
  "ec2:DescribeSpotPriceHistory": spotPricesAnswer,
  "ec2:DescribeCapacityReservations": reservationsAnswer,
  "ec2:DescribePlacementGroups": placementGroupsAnswer,
  "ec2:DescribeInstanceStatus": instanceStatusAnswer,
  "ec2:DescribeInstanceTypes": rememberedAnswer,
  "ec2:DescribeInstanceTypeOfferings": rememberedAnswer,
  "ec2:DescribeInstances": pagedAnswer,
  "ec2:CreateFleet": fleetAnswer,
  "sqs:ReceiveMessage": polledAnswer,
};

/** One call that went through, for tests to look at. */
interface ShimCall extends AwsRequest {
  readonly status: number;
  readonly answer: string;
}

export interface Shim {
  readonly url: string;
  readonly tables: ShimTables;
  readonly calls: ShimCall[];
  /** Called when moto has done what was asked, before the answer is sent. */
  onCall?: ((call: ShimCall) => void) | undefined;
  close(): Promise<void>;
}

/** A proxy before moto that answers what moto cannot, and fails when told to. It does no signatures. (04 §7.3) */
export async function startShim(motoUrl: string): Promise<Shim> {
  const tables = new ShimTables();
  const calls: ShimCall[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const shim: Shim & { url: string } = {
    url: "",
    tables,
    calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, "close");
    },
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy()); // moto or the caller went away
  });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const call = await readAwsRequest(incoming);
    const answer = await answerTo(call, {
      tables,
      forward: (change) => forwardTo(motoUrl, call, { agent, ...change }),
    });
    if (answer === "hang-up") {
      calls.push({ ...call, status: 0, answer: "" });
      incoming.socket.destroy();
      return;
    }
    const made = { ...call, status: answer.status, answer: answer.body };
    calls.push(made);
    shim.onCall?.(made);
    send(outgoing, answer);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  shim.url = `http://127.0.0.1:${port}`;
  return shim;
}

async function answerTo(
  call: AwsRequest,
  { tables, forward }: { readonly tables: ShimTables; readonly forward: Forward },
): Promise<ShimAnswer | "hang-up"> {
  const fault = tables.takeFault(call);
  if (fault?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
  if (fault?.code !== undefined && fault.isApplied !== true) return refusal(call, fault);
  const answer = (await intercepts[`${call.service}:${call.action}`]?.(call, tables, forward)) ?? (await forward());
  if (fault?.code !== undefined) return refusal(call, fault);
  return fault?.isAnswerLost === true ? "hang-up" : answer;
}

/** An error as the protocol of the service has it. */
function refusal(
  { service }: AwsRequest,
  { code = "", message = "refused by the shim", status = 400 }: ShimFault,
): ShimAnswer {
  if (service === "ec2") return { status, body: ec2Refusal(code, message) };
  if (service === "iam") {
    const error = xmlOf({ Error: { Type: "Sender", Code: code, Message: message } });
    return {
      status,
      body: `<ErrorResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/">${error}</ErrorResponse>`,
    };
  }
  return {
    status,
    body: JSON.stringify({ __type: code, message }),
    headers: { "content-type": "application/x-amz-json-1.1", "x-amzn-errortype": code },
  };
}

/** Parameters under /aws/service, which moto does not let us write. */
function parameterAnswer({ params }: AwsRequest, { parameters }: ShimTables): ShimAnswer | undefined {
  const name = String(params["Name"]);
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  const body = JSON.stringify({ Parameter: { Name: name, Type: "String", Value: value, Version: 1 } });
  return { status: 200, body, headers: { "content-type": "application/x-amz-json-1.1" } };
}

/** Smaller pages than we ask for, so that a few instances fill several. */
function pagedAnswer({ params }: AwsRequest, { instancePageSize }: ShimTables, forward: Forward) {
  if (instancePageSize === undefined || params["MaxResults"] === undefined) return undefined;
  return forward({ body: formOf({ ...params, MaxResults: instancePageSize }) });
}

/**
 * A poll of 20 s of which nobody waits for the answer would be answered after 20 s all the same, and take its message. When a
 * process dies its connections end; in tests all processes share theirs.
 */
const longestPollSeconds = 1;
function polledAnswer({ params }: AwsRequest, _: ShimTables, forward: Forward): Promise<ShimAnswer> {
  const asked = Number(params["WaitTimeSeconds"] ?? 0);
  return forward({ body: JSON.stringify({ ...params, WaitTimeSeconds: Math.min(asked, longestPollSeconds) }) });
}

/** Answers that never change and take moto seconds each time, with the types the account has besides. */
async function rememberedAnswer(call: AwsRequest, tables: ShimTables, forward: Forward): Promise<ShimAnswer> {
  const body = tables.onlyTypes.length === 0 ? call.body : formOf(withTypeFilter(call.params, tables.onlyTypes));
  const key = `${call.region} ${body}`;
  const known = tables.remembered.get(key) ?? forward({ body });
  tables.remembered.set(key, known);
  let answer = await known;
  for (const [type, like] of tables.typesLike) answer = await withTypeLike(answer, { call, type, like, forward });
  return answer;
}

function withTypeFilter(params: AwsParams, types: readonly string[]): AwsParams {
  const filters = listOf(params["Filter"]);
  const Value = numbered(types);
  return { ...params, Filter: numbered([...filters, { Name: "instance-type", Value }]) };
}

const typeSets = {
  DescribeInstanceTypes: { set: "instanceTypeSet", filter: "instance-type" },
  DescribeInstanceTypeOfferings: { set: "instanceTypeOfferingSet", filter: "instance-type" },
} as const;

/** The answer with what moto says of another type, under the name of a type it does not have. */
async function withTypeLike(
  answer: ShimAnswer,
  {
    call,
    type,
    like,
    forward,
  }: { readonly call: AwsRequest; readonly type: string; readonly like: string; readonly forward: Forward },
): Promise<ShimAnswer> {
  const { set, filter } = typeSets[call.action as keyof typeof typeSets];
  const { Action, Version, LocationType } = call.params;
  const params = { Action, Version, ...(LocationType !== undefined && { LocationType }) } as AwsParams;
  const body = formOf({ ...params, Filter: { 1: { Name: filter, Value: { 1: like } } } });
  const { body: found } = await forward({ body });
  const rows = found.slice(found.indexOf(`<${set}>`) + set.length + 2, found.indexOf(`</${set}>`));
  return { ...answer, body: answer.body.replace(`</${set}>`, () => `${rows.replaceAll(like, type)}</${set}>`) };
}

function forwardTo(
  motoUrl: string,
  call: AwsRequest,
  { agent, body = call.body }: { readonly agent: Agent; readonly body?: string },
): Promise<ShimAnswer> {
  const headers = { ...call.headers, "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${motoUrl}${call.path}`, { method: call.method, headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 500,
          body: Buffer.concat(chunks).toString("utf8"),
          headers: answerHeaders(incoming.headers),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** The type, and what AWS says beside the body: REST services name their errors there. */
function answerHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name]) => name === "content-type" || name.startsWith("x-amz"));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function send(outgoing: ServerResponse, { status, body, headers = {} }: ShimAnswer): void {
  outgoing.writeHead(status, { "content-type": "text/xml", ...headers });
  outgoing.end(body);
}
