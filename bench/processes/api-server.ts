import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { KubeObject } from "../../src/api/object.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { makeCertificate } from "../../src/control-plane/certificate.ts";
import { serveApi } from "../../src/control-plane/http/serve-api.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { answer } from "./asking.ts";
import { Churn } from "./churn.ts";
import { pendingPods, unschedulable } from "./pending-pods.ts";
import { pools, standingCluster } from "./standing-cluster.ts";

/** An API server with nothing behind it but what the bench plays, in a process of its own. */

const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, standing: { type: "boolean" } } });
const clock = systemClock();
const random = new Random("bench");
const api = new ApiServer({
  clock,
  random,
  watchWindow: 65_536,
  maxMemory: 1024 * 1024 * 1024, // a hundred thousand pods
  ...(values.standing && { restore: standingCluster(clock.now()) }),
});
const client = new InProcessClient(api);
await installCrds(api, "kwok");
await createObjects(api, [...pools, { apiVersion: "v1", kind: "Namespace", metadata: { name: "karpenter" } }]);

const hosts = ["127.0.0.1"];
const certificate = await makeCertificate({ hosts, now: clock.now() });
const served = await serveApi(api, {
  token: "token",
  host: "127.0.0.1",
  port: 0,
  certificate,
  onInternalError: console.error,
});
writeFileSync(values.kubeconfig ?? "kubeconfig", served.kubeconfig);

const claimTimes: number[] = [];
void (async () => {
  const { signal } = new AbortController();
  for await (const { type } of api.watch(api.kinds.get(karpenterTypes.NodeClaim), { signal })) {
    if (type === "ADDED") claimTimes.push(clock.now());
  }
})();

let churn: Churn | undefined;

export const answers = {
  /** As controllers create them and the scheduler gives up on them: two writes each. */
  arrive: async (count: number): Promise<{ readonly from: number; readonly to: number }> => {
    const from = clock.now();
    for (const [index, pod] of pendingPods(count).entries()) {
      await client.create(builtInTypes.Pod, pod);
      const { name = "", namespace } = pod.metadata;
      await client.patch(builtInTypes.Pod, { name, namespace }, unschedulable(clock.now()), { subresource: "status" });
      if (index % 50 === 49) await turn();
    }
    return { from, to: clock.now() };
  },
  claimTimes: (): readonly number[] => claimTimes,
  revision: (): number => api.revision,
  count: async (kind: keyof typeof kinds): Promise<number> => (await client.list<KubeObject>(kinds[kind])).items.length,
  lease: async (): Promise<{ readonly transitions: number; readonly holder: string | undefined }> => {
    const key = { name: "karpenter-leader-election", namespace: "karpenter" };
    const { spec } = await client.get<KubeObject & { spec: { leaseTransitions?: number; holderIdentity?: string } }>(
      builtInTypes.Lease,
      key,
    );
    return { transitions: spec.leaseTransitions ?? 0, holder: spec.holderIdentity };
  },
  churn: (perSecond: number): void => {
    churn = new Churn({ client, clock, random: random.fork("churn"), perSecond });
  },
  /** How many changes it made. */
  calm: (): number => {
    const made = churn?.stop() ?? 0;
    churn = undefined;
    return made;
  },
};
const kinds = { pods: builtInTypes.Pod, nodes: builtInTypes.Node, claims: karpenterTypes.NodeClaim };
export type ServerAnswers = typeof answers;

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

answer(answers);
