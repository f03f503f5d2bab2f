import type { KubeClient } from "../kube/client.ts";
import { custom } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";
import type { Logger } from "../util/logger.ts";

interface KindsServedOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 5_000;

/** Whether the cluster serves NodePools and NodeClaims: asked until it does. Where it does not, we go on. (03 §6.5) */
export function kindsServed({ client, clock, log, signal }: KindsServedOptions): () => boolean {
  let isServed = false;
  const ask = async (): Promise<void> => {
    let complaint = "";
    while (!isServed && !signal.aborted) {
      try {
        for (const type of [custom.NodePool, custom.NodeClaim]) await client.list(type, { limit: 1 });
        isServed = true;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (text !== complaint) log.error("not ready: NodePools and NodeClaims cannot be listed", { error });
        complaint = text; // the same again is no news
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  };
  void ask();
  return () => isServed;
}
