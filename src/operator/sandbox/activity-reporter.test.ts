import { describe, expect, it } from "vitest";
import { CloudError } from "../../cloud/cloud-error.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { ActivityReporter } from "./activity-reporter.ts";

const noon = new Date(2026, 0, 1, 12, 0, 3).getTime();

function reporter(causeOf?: (pod: string) => Promise<string | undefined>) {
  const lines: string[] = [];
  const clock = new VirtualClock({ startAt: noon });
  const activityReporter = new ActivityReporter({
    print: (line) => lines.push(line),
    clock,
    isColoured: false,
    priceOf: (id) => (id.startsWith("kwok://") ? 0.0412 : undefined),
    causeOf,
  });
  return { log: activityReporter.log, lines, clock, activityReporter };
}

/** What was printed after a moment. */
async function printed({ lines, clock }: ReturnType<typeof reporter>): Promise<readonly string[]> {
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
  it("02:H-1 a refusal is printed once a round plans no nodes: the next one may place the pod", async () => {
    const reported = reporter();
    const { log } = reported;
    const refused = { Pod: { namespace: "shop", name: "a" }, error: "exceeds limits" };
    log.error("could not schedule pod", refused);
    log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: 1, pods: 7 });
    expect(await printed(reported)).toEqual(["12:00:03 1 new node for 7 pods\n"]);
    log.error("could not schedule pod", refused);
    expect(await printed(reported)).toEqual(["12:00:04 no node for shop/a: exceeds limits\n"]);
  });

  it("03 §6.3 follows a node from the pods that need it to its deletion, with its price", async () => {
    const reported = reporter();
    const { log, clock } = reported;
    log.info("found provisionable pod(s)", { Pods: "shop/a, shop/b and 5 other(s)", duration: "12ms" });
    log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: 1, pods: 7 });
    log.info("created nodeclaim", { ...claim("default-x"), requests: { cpu: "900m", pods: "7" } });
    log.with({ controller: "nodeclaim.lifecycle" }).info("launched nodeclaim", launched("default-x"));
    expect(await printed(reported)).toEqual([
      "12:00:03 7 pods are pending: shop/a and 6 more\n",
      "12:00:03 1 new node for 7 pods\n",
      "12:00:03 launched c-4x-amd64-linux, spot, in test-zone-a at $0.041 per hour: default-x for 7 pods\n",
    ]);
    await clock.advance(9_000);
    log.info("registered nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    log.info("initialized nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    expect(await printed(reported)).toEqual([
      "12:00:13 joined: default-x as node-1\n",
      "12:00:13 ready: default-x (10 s)\n",
    ]);
    log.info("tainted node", { Node: { name: "node-1" }, "taint.Key": "karpenter.sh/disrupted" });
    log.info("deleted node", { Node: { name: "node-1" } });
    log.info("deleted nodeclaim", { ...claim("default-x"), Node: { name: "node-1" } });
    expect(await printed(reported)).toEqual(["12:00:14 draining: node-1\n", "12:00:14 deleted: default-x\n"]);
  });

  it("prints one line for several objects", async () => {
    const reported = reporter();
    for (const name of ["a", "b", "c", "d"]) reported.log.info("launched nodeclaim", launched(name));
    reported.log.info("launched nodeclaim", launched("e", "test-zone-b"));
    expect(await printed(reported)).toEqual([
      "12:00:03 launched 4 × c-4x-amd64-linux, spot, in test-zone-a at $0.041 per hour: a, b, c and 1 more\n",
      "12:00:03 launched c-4x-amd64-linux, spot, in test-zone-b at $0.041 per hour: e\n",
    ]);
  });

  it("03 §6.3 says once why pods get no node, and again when that changes", async () => {
    const reported = reporter();
    const refuse = (name: string, error: string) =>
      reported.log.error("could not schedule pod", { Pod: { namespace: "shop", name }, error });
    refuse("web-0", "no room\n at all");
    refuse("web-1", "no room\n at all");
    expect(await printed(reported)).toEqual(["12:00:03 no node for shop/web-0, shop/web-1: no room at all\n"]);
    refuse("web-0", "no room\n at all");
    refuse("web-2", "no room\n at all");
    refuse("web-1", "did not tolerate taint");
    expect(await printed(reported)).toEqual([
      "12:00:04 no node for shop/web-2: no room at all\n",
      "12:00:04 no node for shop/web-1: did not tolerate taint\n",
    ]);
    await reported.clock.advance(10 * 60_000);
    refuse("web-0", "no room\n at all");
    expect(await printed(reported)).toHaveLength(1);
  });

  it("03 §6.3 says what explain says first, once for several pods", async () => {
    const asked: string[] = [];
    const causeOf = async (pod: string) => {
      asked.push(pod);
      return pod === "shop/web-0" ? "NodePool default has no type with 64 cpu" : undefined;
    };
    const reported = reporter(causeOf);
    const refuse = (name: string, error: string) =>
      reported.log.error("could not schedule pod", { Pod: { namespace: "shop", name }, error });
    refuse("web-0", "no instance type met the requirements/resources/offering tuple");
    refuse("web-1", "no instance type met the requirements/resources/offering tuple");
    refuse("api-0", "did not tolerate taint");
    expect(await printed(reported)).toEqual([
      "12:00:03 no node for shop/web-0, shop/web-1: NodePool default has no type with 64 cpu\n",
      "12:00:03 no node for shop/api-0: did not tolerate taint\n",
    ]);
    expect(asked).toEqual(["shop/web-0", "shop/api-0"]);
  });

  it("03 §6.2 says which pod and budget a drain waits for, and which pod waits for a volume", async () => {
    const reported = reporter();
    const Pod = { namespace: "shop", name: "web-0" };
    const because = "a PodDisruptionBudget prevents pod evictions (The disruption budget web needs 2 healthy pods)";
    for (let time = 0; time < 3; time++) {
      reported.log.debug("pod cannot be evicted", { Node: { name: "node-1" }, Pod, error: because });
      reported.log.debug("ignoring pod", { Pod, error: 'ignoring pod, persistentvolumeclaims "data" not found' });
      reported.log.debug("ignoring pod", { Pod, error: "ignoring pod, it has a gate" });
    }
    expect(await printed(reported)).toEqual([
      `12:00:03 draining node-1 waits for shop/web-0: ${because} (kubectl get pdb -n shop)\n`,
      '12:00:03 waiting for a volume: shop/web-0: persistentvolumeclaims "data" not found (kubectl get pvc -n shop)\n',
    ]);
  });

  it("prints any other line as it is logged, in one line; errors once", async () => {
    const reported = reporter();
    reported.log.info("nodepool node limit reached", { NodePool: { name: "default" }, limit: 3 });
    for (let time = 0; time < 3; time++) {
      reported.log.error("Reconciler error", { controller: "x", name: "y", error: new Error("not\n yet") });
    }
    expect(await printed(reported)).toEqual([
      "12:00:03 nodepool node limit reached default  limit=3\n",
      "12:00:03 error: Reconciler error  name=y: not yet\n",
    ]);
  });

  it("leaves out debug lines, and what the pool itself reports", async () => {
    const reported = reporter();
    reported.log.debug("computing scheduling decision for provisionable pod(s)");
    const error = new AggregateError([new CloudError("node-class-not-ready", "there is no KWOKNodeClass default")]);
    reported.log.error("Reconciler error", { error });
    expect(await printed(reported)).toEqual([]);
    reported.log.error("ignoring nodepool, not ready", { NodePool: { name: "default" } });
    expect(await printed(reported)).toEqual([
      "12:00:04 nodepool default is not ready (kubectl describe nodepool default)\n",
    ]);
  });

  it("prints what is pending when it is flushed", () => {
    const { log, lines, activityReporter } = reporter();
    log.info("deleted nodeclaim", claim("a"));
    expect(lines).toEqual([]);
    activityReporter.flush();
    expect(lines).toEqual(["12:00:03 deleted: a\n"]);
  });
});
