import { describe, expect, it } from "vitest";
import { CloudError } from "../../cloud/cloud-error.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { ActivityReporter } from "./activity-reporter.ts";

const noon = new Date(2026, 0, 1, 12, 0, 3).getTime();

function narrated() {
  const lines: string[] = [];
  const clock = new VirtualClock({ startAt: noon });
  const narrator = new ActivityReporter({
    print: (line) => lines.push(line),
    clock,
    isColoured: false,
    priceOf: (id) => (id.startsWith("kwok://") ? 0.0412 : undefined),
  });
  return { log: narrator.log, lines, clock, narrator };
}

/** What was told after a moment. */
async function told({ lines, clock }: ReturnType<typeof narrated>): Promise<readonly string[]> {
  await clock.advance(1_000);
  return lines.splice(0);
}

const claim = (name: string) => ({ NodeClaim: { name } });
const launched = (name: string, zone = "test-zone-a") => ({
  ...claim(name),
  "provider-id": `kwok://${name}`,
  "instance-type": "c-4x-amd64-linux",
  zone,
  "capacity-type": "spot",
  allocatable: { cpu: "4" },
});

describe("the log for people", () => {
  it("03 §6.3 tells of a node from the pods that need it to its end, with what it costs", async () => {
    const scene = narrated();
    const { log, clock } = scene;
    log.info("found provisionable pod(s)", { Pods: "shop/a, shop/b and 5 other(s)", duration: "12ms" });
    log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: 1, pods: 7 });
    log.info("created nodeclaim", { ...claim("default-x"), requests: { cpu: "900m", pods: "7" } });
    log.with({ controller: "nodeclaim.lifecycle" }).info("launched nodeclaim", launched("default-x"));
    expect(await told(scene)).toEqual([
      "12:00:03 7 pods wait for a place, shop/a among them\n",
      "12:00:03 1 new node will take 7 pods\n",
      "12:00:03 bought c-4x-amd64-linux, spot, in test-zone-a at $0.041 an hour: default-x for 7 pods\n",
    ]);
    await clock.advance(9_000);
    log.info("registered nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    log.info("initialized nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    expect(await told(scene)).toEqual(["12:00:13 joined: default-x as node-1\n", "12:00:13 ready: default-x (10 s)\n"]);
    log.info("tainted node", { Node: { name: "node-1" }, "taint.Key": "karpenter.sh/disrupted" });
    log.info("deleted node", { Node: { name: "node-1" } });
    log.info("deleted nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    expect(await told(scene)).toEqual(["12:00:14 draining: node-1\n", "12:00:14 removed: default-x\n"]);
  });

  it("tells at once what happens to several", async () => {
    const scene = narrated();
    for (const name of ["a", "b", "c", "d"]) scene.log.info("launched nodeclaim", launched(name));
    scene.log.info("launched nodeclaim", launched("e", "test-zone-b"));
    expect(await told(scene)).toEqual([
      "12:00:03 bought 4 times c-4x-amd64-linux, spot, in test-zone-a at $0.041 an hour: a, b, c and 1 more\n",
      "12:00:03 bought c-4x-amd64-linux, spot, in test-zone-b at $0.041 an hour: e\n",
    ]);
  });

  it("03 §6.3 says once why pods get no node, and again when that changes", async () => {
    const scene = narrated();
    const refuse = (name: string, error: string) =>
      scene.log.error("could not schedule pod", { Pod: { namespace: "shop", name }, error });
    refuse("web-0", "no room\n at all");
    refuse("web-1", "no room\n at all");
    expect(await told(scene)).toEqual(["12:00:03 no node for shop/web-0, shop/web-1: no room at all\n"]);
    refuse("web-0", "no room\n at all");
    refuse("web-2", "no room\n at all");
    refuse("web-1", "did not tolerate taint");
    expect(await told(scene)).toEqual([
      "12:00:04 no node for shop/web-2: no room at all\n",
      "12:00:04 no node for shop/web-1: did not tolerate taint\n",
    ]);
    await scene.clock.advance(10 * 60_000);
    refuse("web-0", "no room\n at all");
    expect(await told(scene)).toHaveLength(1);
  });

  it("tells anything else as it is written, in one line; errors once", async () => {
    const scene = narrated();
    scene.log.info("nodepool node limit reached", { NodePool: { name: "default" }, limit: 3 });
    for (let time = 0; time < 3; time++) {
      scene.log.error("Reconciler error", { controller: "x", name: "y", error: new Error("not\n yet") });
    }
    expect(await told(scene)).toEqual([
      "12:00:03 nodepool node limit reached default  limit=3\n",
      "12:00:03 error: Reconciler error  name=y: not yet\n",
    ]);
  });

  it("leaves out what is for machines, and what the pool itself says", async () => {
    const scene = narrated();
    scene.log.debug("computing scheduling decision for provisionable pod(s)");
    const error = new AggregateError([new CloudError("node-class-not-ready", "there is no KWOKNodeClass default")]);
    scene.log.error("Reconciler error", { error });
    expect(await told(scene)).toEqual([]);
    scene.log.error("ignoring nodepool, not ready", { NodePool: { name: "default" } });
    expect(await told(scene)).toEqual([
      "12:00:04 nodepool default is not ready: kubectl describe nodepool default says why\n",
    ]);
  });

  it("tells what is left when asked to", () => {
    const { log, lines, narrator } = narrated();
    log.info("deleted nodeclaim", claim("a"));
    expect(lines).toEqual([]);
    narrator.flush();
    expect(lines).toEqual(["12:00:03 removed: a\n"]);
  });
});
