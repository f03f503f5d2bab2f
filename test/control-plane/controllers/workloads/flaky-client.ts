import type { KubeClient } from "../../../../src/kube/client.ts";
import { KubeError } from "../../../../src/kube/kube-error.ts";
import type { Clock } from "../../../../src/util/clock.ts";
import type { Random } from "../../../../src/util/random.ts";
import { interceptCalls } from "../../../world/intercept-calls.ts";

/** A client on a bad network: slow, and one call in so many fails, half of those after it took effect. (05:CP-T4) */
export function flakyClient(
  client: KubeClient,
  { clock, random, oneIn }: { clock: Clock; random: Random; oneIn: number },
): KubeClient {
  const failure = () =>
    random.pick([
      () => new KubeError("conflict", "the object has been modified"),
      () => new KubeError("server-error", "an error on the server"),
      () => new KubeError("timeout", "the request timed out"),
    ])();
  const call = async <T>(run: () => Promise<T>): Promise<T> => {
    await clock.sleep(random.int(30));
    if (random.int(oneIn) > 0) return run();
    if (random.int(2) === 0) await run();
    await clock.sleep(random.int(1_000));
    throw failure();
  };
  return {
    ...interceptCalls(client, (_, proceed) => call(proceed)),
    async *watch(type, options) {
      // Every watch ends early, sometimes with an error.
      const cut = new AbortController();
      const timer = clock.setTimer(1_000 + random.int(120_000), () => cut.abort());
      options.signal.addEventListener("abort", () => cut.abort(), { once: true });
      try {
        for await (const event of client.watch(type, { ...options, signal: cut.signal })) {
          const delay = random.int(50);
          if (delay > 25) await clock.sleep(delay);
          yield event as never;
        }
      } finally {
        timer.cancel();
      }
      if (!options.signal.aborted && random.int(4) === 0) throw new KubeError("expired", "too old resource version");
    },
  };
}
