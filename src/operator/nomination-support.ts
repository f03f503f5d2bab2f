import type { ServerVersion } from "../kube/server-version.ts";
import type { Clock } from "../util/clock.ts";
import { errorMessage } from "../util/error-text.ts";
import type { Logger } from "../util/logger.ts";

interface NominationSupportOptions {
  /** Undefined: the version cannot be known. */
  readonly serverVersion: (() => Promise<ServerVersion>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 5_000;
/** From this version on the scheduler follows nominations that others wrote (NominatedNodeNameForExpectation). */
const firstVersion: ServerVersion = { major: 1, minor: 35 };

/** Asks for the version of the API server until it answers; false until then, and for older servers. (02:L-40) */
export function nominationSupport({ serverVersion, clock, log, signal }: NominationSupportOptions): () => boolean {
  let isSupported = false;
  const ask = async (): Promise<void> => {
    while (serverVersion !== undefined && !signal.aborted) {
      try {
        const { major, minor } = await serverVersion();
        isSupported = major > firstVersion.major || (major === firstVersion.major && minor >= firstVersion.minor);
        if (!isSupported)
          log.info("pods are not nominated: the API server is too old", { version: `${major}.${minor}` });
        return;
      } catch (error) {
        log.debug("cannot read the version of the API server", { error: errorMessage(error) });
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  };
  void ask();
  return () => isSupported;
}
