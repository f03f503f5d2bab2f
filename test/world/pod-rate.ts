import type { KubeClient } from "../../src/kube/client.ts";
import type { Clock } from "../../src/util/clock.ts";
import { beforeWrites } from "./intercept-calls.ts";

/** As kube-controller-manager creates pods: so many a second, whichever ReplicaSet they are of. Zero is no limit. */
export function withPodRate(
  client: KubeClient,
  { clock, podsPerSecond }: { readonly clock: Clock; readonly podsPerSecond: number },
): KubeClient {
  let freeAt = 0;
  return beforeWrites(async ({ verb, type }) => {
    if (verb !== "create" || type.kind !== "Pod" || podsPerSecond === 0) return;
    freeAt = Math.max(freeAt, clock.now()) + 1_000 / podsPerSecond;
    await clock.sleep(freeAt - clock.now());
  })(client);
}
