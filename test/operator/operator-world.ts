import type { KubeClient } from "../../src/kube/client.ts";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import type { OperatorDependencies } from "../../src/operator/operator.ts";
import { beforeWrites } from "../world/intercept-calls.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { type TestWorldOptions, testWorld } from "../world/test-world.ts";

export const lease = { name: "karpenter-leader-election", namespace: "karpenter" };

/** A call of an operator that changes something. */
interface Write {
  readonly by: string;
  readonly verb: string;
  readonly kind: string;
  readonly name: string;
}

/** A running cluster for operators that elect a leader. */
export async function operatorWorld(options: Pick<TestWorldOptions, "seed" | "hasCrds"> = {}) {
  const world = await testWorld({ seed: "operator", namespaces: [lease.namespace], ...options });
  world.startCluster();
  const { client } = world;
  const writes: Write[] = [];
  const recorded = (by: string): ((client: KubeClient) => KubeClient) =>
    beforeWrites(({ verb, type, name }) => writes.push({ by, verb, kind: type.kind, name }));
  const start = (identity: string, changes: Partial<OperatorDependencies> = {}) => {
    const lines: LogLine[] = [];
    let hasLost = false;
    let hasBegun = false;
    const operator = world.startOperator(identity, {
      client: recorded(identity)(client),
      log: recordingLog(lines),
      leaderElection: lease,
      onLeaseLost: () => {
        hasLost = true;
      },
      ...changes,
    });
    void operator.started.then(() => {
      hasBegun = true;
    });
    return { ...operator, lines, hasLost: () => hasLost, hasBegun: () => hasBegun };
  };
  return {
    ...world,
    writes,
    start,
    leader: async () => (await client.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity,
  };
}
