import { isKubeError } from "../../kube/kube-error.ts";
import { backOffMs } from "../../util/back-off.ts";
import type { KarpenterContext } from "../karpenter-context.ts";

const maxAttempts = 5;
const backOff = { baseMs: 50, maxMs: 1_000 };

/**
 * Writes under an optimistic lock, again with what is there if somebody else wrote meanwhile. An object that is gone is
 * as good as written. After the first attempt the write should read the object from the API server. (03:D-71)
 */
export async function retryOnConflict(
  { clock, random }: Pick<KarpenterContext, "clock" | "random">,
  write: (isFirst: boolean) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await write(attempt === 1);
      return;
    } catch (error) {
      if (isKubeError(error, "not-found")) return;
      if (attempt === maxAttempts || !isKubeError(error, "conflict")) throw error;
      await clock.sleep(backOffMs(attempt, { ...backOff, random }));
    }
  }
}
