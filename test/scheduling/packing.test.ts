import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import {
  codes,
  messages,
  podsOnNodes,
  podsPerNewNode,
  poolsOfNewNodes,
  requestsPerNewNode,
  sizesOfNewNodes,
  typesPerNewNode,
} from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const tiny = instanceType("tiny").cpu(1);
const sizes = problem().types(tiny, small, large);

describe("pods to nodes", () => {
  it("02:Q-6 one pod, one node", () => {
    expect(podsPerNewNode(solved(problem().pod(web)))).toEqual([["p-0"]]);
  });

  it("02:Q-6 as many nodes as it takes", () => {
    expect(sizesOfNewNodes(solved(problem().pods(10, web)))).toEqual([4, 4, 2]);
  });

  it("02:L-1 the smallest node that holds the pod is the first choice", () => {
    expect(typesPerNewNode(solved(sizes.pod(web)))).toEqual([["tiny", "small", "large"]]);
    expect(typesPerNewNode(solved(sizes.pod(web.cpu("1001m"))))).toEqual([["small", "large"]]);
  });

  it("02:F-1 many small pods fill one large node", () => {
    const decision = solved(sizes.pods(16, web.cpu("500m")));
    expect([sizesOfNewNodes(decision), typesPerNewNode(decision)]).toEqual([[16], [["large"]]]);
  });

  it("02:Q-20 nodes that are full are left alone, and the rest gets a new one", () => {
    const decision = solved(sizes.pods(3, web.cpu("4")));
    expect([sizesOfNewNodes(decision), typesPerNewNode(decision)]).toEqual([
      [2, 1],
      [["large"], ["small", "large"]],
    ]);
  });

  it("02:Q-1 large and small pods share: the large ones go first", () => {
    const decision = solved(sizes.pods(2, web.cpu("500m")).pods(2, web.cpu("3")));
    expect(podsPerNewNode(decision)).toEqual([["p-2", "p-3", "p-0", "p-1"]]);
  });

  it("02:A-9 a node may be filled to the last", () => {
    const full = problem().types(small.memory("4Gi"));
    expect(sizesOfNewNodes(solved(full.pods(4, web.memory("1Gi"))))).toEqual([4]);
    expect(sizesOfNewNodes(solved(full.pods(4, web.memory("1025Mi"))))).toEqual([3, 1]);
  });

  it("02:A-11 what the system keeps is not for pods", () => {
    const kept = problem().types(small.overhead({ cpu: "100m", memory: "1Gi" }));
    expect(sizesOfNewNodes(solved(kept.pods(4, web)))).toEqual([3, 1]);
    expect(codes(solved(kept.pod(web.cpu("4"))))).toEqual({ "p-0": "instance-types" });
  });

  it("02:A-9 a request for nothing fits where there is nothing", () => {
    const decision = solved(problem().pod(web.request("example.com/fpga", "0"), pod().cpu("0").memory("0")));
    expect(podsPerNewNode(decision)).toEqual([["p-0", "p-1"]]);
  });

  it("02:A-10 a resource no node has cannot be had", () => {
    expect(codes(solved(problem().pod(web.request("example.com/fpga", "1"))))).toEqual({ "p-0": "instance-types" });
    const storage = problem().types(small.resource("ephemeral-storage", "10Gi"));
    expect(solved(storage.pod(web.request("ephemeral-storage", "10Gi"))).refusals).toEqual([]);
    expect(codes(solved(storage.pod(web.request("ephemeral-storage", "11Gi"))))).toEqual({ "p-0": "instance-types" });
  });

  it("02:F-3 a pod that is too large is told so, and the others are placed", () => {
    const decision = solved(sizes.pod(web, web.cpu("9")));
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
    expect(messages(decision)["p-1"]).toMatch(/^no instance type has enough resources, .*"cpu":"9","pods":"1"}$/);
  });

  it("02:A-2 the number of pods is a resource like others", () => {
    const decision = solved(problem().types(small.resource("pods", "2")).pods(5, web.cpu("100m")));
    expect(sizesOfNewNodes(decision)).toEqual([2, 2, 1]);
  });

  it("02:A-10 accelerators are counted, and lead to nodes that have them", () => {
    const types = [small, large.resource("nvidia.com/gpu", "2")];
    const decision = solved(
      problem()
        .types(...types)
        .pods(3, web.request("nvidia.com/gpu", "1")),
    );
    expect([sizesOfNewNodes(decision), typesPerNewNode(decision)]).toEqual([
      [2, 1],
      [["large"], ["large"]],
    ]);
  });

  it("02:F-1 a node is valid though it is more expensive than another would have been", () => {
    const cheap = instanceType("cheap").cpu(8).price(0.1).zones("b");
    const decision = solved(problem().types(small, cheap).pods(2, web.on("zone", "a")));
    expect(typesPerNewNode(decision)).toEqual([["small"]]);
  });

  it("02:A-13 amounts are compared exactly, fractions of a byte included", () => {
    const exact = problem().types(small.memory("9007199254740991"));
    expect(solved(exact.pod(web.memory("9007199254740991"))).refusals).toEqual([]);
    expect(codes(solved(exact.pod(web.memory("9007199254740992"))))).toEqual({ "p-0": "instance-types" });
    const fine = problem().types(small.memory("1Gi"));
    expect(codes(solved(fine.pod(web.memory("1073741824001m"))))).toEqual({ "p-0": "instance-types" });
    expect(solved(fine.pod(web.memory("1073741823999m"))).refusals).toEqual([]);
  });
});

describe("what a pod asks for", () => {
  const asks = (one: typeof web) => requestsPerNewNode(solved(problem().types(instanceType("huge").cpu(64)).pod(one)));

  it.each([
    ["02:A-3 an init container runs alone: the larger counts", pod().cpu("1").initContainer({ cpu: "3" }), "3"],
    ["02:A-3 and does not where it is the smaller", pod().cpu("2").initContainer({ cpu: "1" }), "2"],
    ["02:A-3 a sidecar stays, and counts beside the app", pod().cpu("2").sidecar({ cpu: "1" }), "3"],
    [
      "02:A-3 a sidecar before an init container runs beside it",
      pod().cpu("1").sidecar({ cpu: "2" }).initContainer({ cpu: "3" }),
      "5",
    ],
    [
      "02:A-3 a sidecar after an init container does not",
      pod().cpu("1").initContainer({ cpu: "3" }).sidecar({ cpu: "1" }),
      "3",
    ],
    ["02:A-4 what is said of the pod as a whole counts", pod().cpu("1").podLevel({ cpu: "5" }), "5"],
    ["02:A-5 the runtime's overhead comes on top", pod().cpu("1").overhead({ cpu: "250m" }), "1250m"],
  ])("%s", (_, one, cpu) => expect(asks(one)).toEqual([{ cpu, pods: "1" }]));

  it("02:A-7 a limit is no request", () => {
    expect(asks(pod().cpu("1").limit("cpu", "9"))).toEqual([{ cpu: "1", pods: "1" }]);
  });
});

describe("the order of things", () => {
  it("02:Q-1 more cpu first, then more memory, then the elder, then by uid", () => {
    const at = (uid: string, created: string) => web.uid(uid).created(created);
    const decision = solved(
      problem()
        .types(instanceType("huge").cpu(64))
        .pod(
          at("a0", "2026-01-02T00:00:00Z").named("young"),
          at("u1", "2026-01-01T00:00:00Z").named("old-1"),
          at("u0", "2026-01-01T00:00:00Z").named("old-0"),
          at("u9", "2026-01-03T00:00:00Z").named("wide").memory("1Gi"),
          at("u9", "2026-01-03T00:00:00Z").named("tall").cpu("2"),
        ),
    );
    expect(podsPerNewNode(decision)).toEqual([["tall", "wide", "old-0", "old-1", "young"]]);
  });

  it("02:P-6 priority is no order", () => {
    const urgent = pod().label("app", "web").cpu("1").named("urgent").priority(1_000_000);
    const decision = solved(problem().pod(web.cpu("2").named("large"), urgent));
    expect(podsPerNewNode(decision)).toEqual([["large", "urgent"]]);
  });

  it("02:Q-20 the next pod goes where the fewest are, and among equals where the last one went", () => {
    const apart = pod().label("app", "x").cpu("2").apart("host");
    const decision = solved(problem().types(large).pods(3, apart).pods(4, web));
    expect(podsPerNewNode(decision)).toEqual([
      ["p-0", "p-3"],
      ["p-1", "p-4"],
      ["p-2", "p-5", "p-6"],
    ]);
  });

  it("02:Q-6 existing nodes come before those that are planned, and these before new ones", () => {
    const decision = solved(problem().nodes(node("n1").cpu("1")).pods(6, web));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0"] });
    expect(podsPerNewNode(decision)).toEqual([["p-1", "p-2", "p-3", "p-4"], ["p-5"]]);
  });

  it("02:Q-3 02:Q-4 a pod that fails is tried again after the others", () => {
    const follower = pod().cpu("2").near("zone", { app: "leader" });
    const leader = pod().label("app", "leader").cpu("1");
    expect(podsPerNewNode(solved(problem().pod(follower, leader.on("zone", "b"))))).toEqual([["p-1", "p-0"]]);
  });

  it("02:Q-21 planned nodes have placeholder names: no pod can select them", () => {
    const decision = solved(problem().pod(web.needs(["host", "In", "n1"])));
    expect(messages(decision)).toEqual({
      "p-0":
        "incompatible requirements, key kubernetes.io/hostname, kubernetes.io/hostname In [n1] not in kubernetes.io/hostname In [hostname-placeholder-0001]",
    });
  });

  it("02:Q-2 a full lap without progress ends the search", () => {
    const decision = solved(problem().pods(3, pod().cpu("2").near("zone", { app: "nobody" })));
    expect(codes(decision)).toEqual({ "p-0": "topology", "p-1": "topology", "p-2": "topology" });
  });
});

describe("several pools", () => {
  it("02:T-1 the heavier pool first, then the later name; none is the least weight", () => {
    const order = (...pools: readonly ReturnType<typeof nodePool>[]) =>
      poolsOfNewNodes(
        solved(
          problem()
            .pools(...pools)
            .pod(web),
        ),
      );
    expect(order(nodePool("a"), nodePool("b").weight(1), nodePool("c").weight(50))).toEqual(["c"]);
    expect(order(nodePool("a"), nodePool("b"))).toEqual(["b"]);
    expect(order(nodePool("b"), nodePool("a"))).toEqual(["b"]);
  });

  it("02:N-2 a pod may name its pool, whatever the weights", () => {
    const pools = problem().pools(nodePool("light"), nodePool("heavy").weight(100));
    expect(poolsOfNewNodes(solved(pools.pod(web.on("pool", "light"))))).toEqual(["light"]);
    expect(codes(solved(pools.pod(web.on("pool", "none"))))).toEqual({ "p-0": "requirements" });
  });

  it("02:N-2 or a label only one of them has", () => {
    const pools = problem().pools(nodePool("red").label("team", "red"), nodePool("zzz"));
    expect(poolsOfNewNodes(solved(pools.pod(web.on("team", "red"))))).toEqual(["red"]);
  });

  it("02:Q-22 where the first has no room, the next is asked", () => {
    const pools = [nodePool("small").weight(9).types(small), nodePool("large").types(large)];
    expect(
      poolsOfNewNodes(
        solved(
          problem()
            .pools(...pools)
            .pod(web.cpu("6")),
        ),
      ),
    ).toEqual(["large"]);
  });

  it("02:Q-22 what each pool said is told, in their order", () => {
    const pools = [nodePool("first").weight(9).taint("a:NoSchedule"), nodePool("second").taint("b:NoSchedule")];
    const { refusals } = solved(
      problem()
        .pools(...pools)
        .pod(web),
    );
    expect(refusals.map(({ pools: verdicts }) => verdicts.map(({ pool, cause }) => [pool, cause.code]))).toEqual([
      [
        ["first", "taint"],
        ["second", "taint"],
      ],
    ]);
    expect(refusals[0]?.message).toBe(
      "did not tolerate taint (taint=a:NoSchedule); did not tolerate taint (taint=b:NoSchedule)",
    );
  });

  it("02:Q-6 a pod of one pool does not join a node of another", () => {
    const pools = problem().pools(nodePool("a"), nodePool("b"));
    const decision = solved(pools.pod(web.on("pool", "a"), web.on("pool", "b"), web));
    expect(poolsOfNewNodes(decision)).toEqual(["a", "b"]);
  });
});

describe("taints of a pool", () => {
  const pool = nodePool().taint("dedicated=gpu:NoSchedule");

  it.each([
    ["nobody tolerates it", web, false],
    [
      "tolerated by value",
      web.tolerates({ key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" }),
      true,
    ],
    ["tolerated by key", web.tolerates({ key: "dedicated", operator: "Exists" }), true],
    ["tolerated with everything else", web.tolerates({ operator: "Exists" }), true],
    ["another value", web.tolerates({ key: "dedicated", operator: "Equal", value: "cpu" }), false],
    ["another effect", web.tolerates({ key: "dedicated", operator: "Exists", effect: "NoExecute" }), false],
  ])("02:N-1 02:Q-43 %s", (_, one, isPlaced) => {
    const decision = solved(problem().pools(pool).pod(one));
    expect(codes(decision)).toEqual(isPlaced ? {} : { "p-0": "taint" });
  });

  it("02:N-1 taints a node sheds when it has started do not count", () => {
    expect(solved(problem().pools(nodePool().startupTaint("booting:NoSchedule")).pod(web)).refusals).toEqual([]);
  });
});

describe("host ports", () => {
  it.each([
    ["the same port", [80, {}], [80, {}], 2],
    ["different ports", [80, {}], [81, {}], 1],
    ["different protocols", [80, {}], [80, { protocol: "UDP" }], 1],
    ["different addresses", [80, { ip: "10.0.0.1" }], [80, { ip: "10.0.0.2" }], 1],
    ["one address and all of them", [80, { ip: "10.0.0.1" }], [80, {}], 2],
  ] as const)("02:S-50 %s", (_, [port, on], [other, otherOn], nodes) => {
    const decision = solved(problem().pod(web.cpu("2").hostPort(port, on), web.hostPort(other, otherOn)));
    expect(decision.newNodes).toHaveLength(nodes);
  });
});

describe("devices claimed through dynamic resource allocation", () => {
  const text = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";

  it.each([
    ["the pod lists a claim", web.resourceClaim("gpu")],
    ["a container uses one", web.device("gpu", { of: "app" })],
    ["an init container uses one", web.device("gpu", { of: "init" })],
    ["both do", web.device("gpu", { of: "app" }).device("gpu", { of: "init" })],
  ])("02:D-1 %s: refused with its reason, and others are placed", (_, one) => {
    const decision = solved(problem().nodes(node("n1")).pod(one, web.cpu("5")).types(large));
    expect(messages(decision)).toEqual({ "p-0": text });
    expect(codes(decision)).toEqual({ "p-0": "dynamic-resources" });
    expect(podsPerNewNode(decision)).toEqual([["p-1"]]);
  });

  it("02:D-1 a daemon with claims takes no room", () => {
    const daemon = pod().cpu("3").resourceClaim("gpu");
    expect(requestsPerNewNode(solved(problem().daemons(daemon).pod(web.cpu("4"))))).toEqual([{ cpu: "4", pods: "1" }]);
    expect(podsOnNodes(solved(problem().daemons(daemon).nodes(node("n1")).pod(web.cpu("4"))))).toEqual({ n1: ["p-0"] });
  });
});
