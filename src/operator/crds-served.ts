import type { KubeClient } from "../kube/client.ts";
import { karpenterTypes } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";
import { errorMessage } from "../util/error-text.ts";
import type { Logger } from "../util/logger.ts";

interface CrdsServedOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 5_000;

/** Polls until NodePools and NodeClaims can be listed; the process runs meanwhile. (03 §6.5) */
export function crdsServed({ client, clock, log, signal }: CrdsServedOptions): () => boolean {
  let isServed = false;
  const poll = async (): Promise<void> => {
    let lastMessage = "";
    while (!isServed && !signal.aborted) {
      try {
        for (const type of [karpenterTypes.NodePool, karpenterTypes.NodeClaim])
          await client.list(type, { limit: 1, signal });
        isServed = true;
      } catch (error) {
        if (signal.aborted) return;
        const text = errorMessage(error);
        if (text !== lastMessage) {
          const remedy = "karpenter crds | kubectl apply --server-side -f -";
          log.error(`not ready: NodePools and NodeClaims cannot be listed; if their CRDs are missing: ${remedy}`, {
            error,
          });
        }
        lastMessage = text; // the same error is logged once
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  };
  void poll();
  return () => isServed;
}
