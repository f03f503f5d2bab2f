import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { bearerAccess } from "../../src/operator/bearer-access.ts";
import { explainRoutes } from "../../src/operator/explain-routes.ts";
import { isIn, kwokClass, pool } from "../stories/manifests.ts";
import { barePod, budget, deployment } from "../stories/workloads.ts";
import { type TestWorld, testWorld } from "../world/test-world.ts";

const inDefault = { namespace: "default" };
const account = (name: string) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, ...inDefault } });

/** May ask about nodes, and nothing else. */
const reader = [
  account("reader"),
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "explain" },
    rules: [{ nonResourceURLs: ["/explain/node/*"], verbs: ["get"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "explain" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "explain" },
    subjects: [{ kind: "ServiceAccount", name: "reader", ...inDefault }],
  },
] as const;

async function tokenOf(name: string, { api }: Pick<TestWorld, "api">, spec: object = {}): Promise<string> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const made = await api.create(api.kinds.get(builtInTypes.ServiceAccount), body, {
    ...{ subresource: "token", name },
    ...inDefault,
  });
  return (made.object as KubeObject & { status: { token: string } }).status.token;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly reason?: string;
    readonly message?: string;
    readonly at?: string;
    // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the tests look at
    readonly explanation?: any;
  };
}

/** A cluster with a controller that can be asked; the token is the administrator's unless given. */
async function explaining(world: TestWorld, operator = world.startOperator("one")) {
  world.api.tokens.addAdmin("admin");
  const access = bearerAccess({ client: world.client, clock: world.clock });
  const routes = explainRoutes({ explanations: operator.explanations, access });
  return async (path: string, authorization: string | undefined = "Bearer admin"): Promise<Answer> => {
    const route = routes[path.startsWith("/explain/pod/") ? "/explain/pod/" : "/explain/node/"];
    if (route === undefined) throw new Error(`no route for ${path}`);
    const { status, body } = await world.during(
      Promise.resolve(route(new URL(path, "http://localhost"), { authorization })),
      0,
    );
    return { status, body: JSON.parse(String(body)) };
  };
}

const eager = { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] };
const fourCpus = [isIn("karpenter.kwok.sh/instance-cpu", "4"), isIn("karpenter.sh/capacity-type", "on-demand")];
const eagerPool = pool({ requirements: fourCpus, spec: { disruption: eager } });

const placed = (object: object): KubeObject => {
  const { metadata, ...rest } = object as KubeObject;
  return { ...rest, metadata: { ...inDefault, ...metadata } } as KubeObject;
};

describe("asking the running controller", () => {
  it("03 §6.5 a token is asked for, looked up, and must be allowed to get the path", async () => {
    const world = await testWorld({ namespaces: [] });
    await createObjects(world.api, [...reader, account("stranger")]);
    const ask = await explaining(world);
    await world.pass(1);
    const path = "/explain/node/nobody";
    const codeOf = async (authorization: string | undefined, asked = path) => (await ask(asked, authorization)).status;
    expect((await ask(path, "")).body).toMatchObject({ reason: "unauthorized" });
    expect(await codeOf("")).toBe(401);
    expect(await codeOf("Bearer made-up")).toBe(401);
    expect(await codeOf("Basic YTpi")).toBe(401);
    const mayRead = await tokenOf("reader", world);
    expect(await codeOf(`Bearer ${mayRead}`)).toBe(404); // allowed, and there is no such node
    expect(await codeOf(`Bearer ${mayRead}`, "/explain/pod/default/web")).toBe(403);
    const other = await ask(path, `Bearer ${await tokenOf("stranger", world)}`);
    expect(other).toMatchObject({ status: 403, body: { reason: "forbidden" } });
    expect(other.body.message).toContain("system:serviceaccount:default:stranger may not get this path");
    // A token for somebody else's ears is nobody's here.
    expect(await codeOf(`Bearer ${await tokenOf("reader", world, { audiences: ["vault"] })}`)).toBe(401);
    await world.stop();
  });

  it("03 §6.5 a token that has expired, or too many questions, are refused", async () => {
    const world = await testWorld();
    await createObjects(world.api, reader);
    const ask = await explaining(world);
    await world.pass(1);
    const token = await tokenOf("reader", world, { expirationSeconds: 600 });
    expect((await ask("/explain/node/nobody", `Bearer ${token}`)).status).toBe(404);
    await world.pass(601);
    expect((await ask("/explain/node/nobody", `Bearer ${token}`)).status).toBe(401);
    const statuses: number[] = [];
    for (let index = 0; index < 40; index++) {
      statuses.push((await ask(`/explain/node/n-${index}`, "Bearer guess")).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
    await world.stop();
  });

  it("03 §6.5 a replica that does not lead says so", async () => {
    const world = await testWorld({ namespaces: ["karpenter"] });
    const lease = { name: "karpenter-leader-election", namespace: "karpenter" };
    world.startOperator("one", { leaderElection: lease });
    await world.pass(5);
    const ask = await explaining(world, world.startOperator("two", { leaderElection: lease }));
    await world.pass(5);
    expect(await ask("/explain/node/n")).toMatchObject({ status: 503, body: { reason: "not-leading" } });
    await world.stop();
  });

  it("03 §4 why a node stays and goes: a budget of pods, then a command that waits, then one that runs", async () => {
    const world = await testWorld();
    world.startCluster();
    const ask = await explaining(world);
    await world.create(kwokClass, eagerPool, placed(budget("web", { minAvailable: 3 })));
    await world.create(placed(deployment("web", { replicas: 3, cpu: "1", memory: "1Gi" })));
    await world.pass(60);
    await world.create(placed(deployment("other", { replicas: 2, cpu: "1", memory: "1Gi" })));
    await world.pass(90);
    const nodeOf = async (app: string): Promise<string> => {
      const pods = await world.list<KubeObject & Pod>(builtInTypes.Pod);
      return pods.find(({ metadata }) => metadata.labels?.["app"] === app)?.spec.nodeName ?? "";
    };
    const kept = await ask(`/explain/node/${await nodeOf("web")}`);
    expect(kept).toMatchObject({ status: 200, body: { explanation: { outcome: "kept", nodePool: "default" } } });
    expect(kept.body.explanation.blockers.map(({ code }: { code: string }) => code)).toContain("pdb");
    expect(kept.body.explanation.verdicts.map(({ method }: { method: string }) => method)).toContain("emptiness");

    // Empty: the command waits 15 seconds, and the controller says until when.
    await world.client.delete(builtInTypes.Deployment, { name: "other", ...inDefault });
    const left = await nodeOf("other");
    await world.pass(14);
    const waiting = await ask(`/explain/node/${left}`);
    expect(waiting.body.explanation).toMatchObject({ outcome: "going", progress: { state: "waiting" } });
    expect(waiting.body.explanation.cause).toMatch(/checked again at 2026-01-01T\S+Z and then starts/);
    await world.pass(120);
    expect((await ask(`/explain/node/${left}`)).status).toBe(404);
    await world.stop();
  });

  it("02 §6.2 why a pod is pending, and where one that is not runs", async () => {
    const world = await testWorld();
    world.startCluster();
    const ask = await explaining(world);
    await world.create(kwokClass, eagerPool, placed(barePod("small")), placed(barePod("giant", { cpu: "1000" })));
    await world.pass(60);
    const giant = await ask("/explain/pod/default/giant");
    expect(giant).toMatchObject({ status: 200, body: { explanation: { outcome: { kind: "unplaced" } } } });
    expect(giant.body.explanation.suggestions.length).toBeGreaterThan(0);
    const [claim] = await world.list<KubeObject & { status: { nodeName: string } }>(karpenterTypes.NodeClaim);
    const small = await ask("/explain/pod/default/small");
    expect(small.body.explanation).toMatchObject({ outcome: { kind: "not-pending", node: claim?.status.nodeName } });
    expect((await ask("/explain/pod/default/none")).status).toBe(404);
    expect((await ask("/explain/pod/none")).status).toBe(404);
    await world.stop();
  });
});
