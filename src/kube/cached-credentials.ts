import type { Clock } from "../util/clock.ts";
import type { ClientIdentity, Credentials } from "./connection.ts";

export interface ExpiringIdentity {
  readonly identity: ClientIdentity;
  /** Milliseconds since the epoch; absent: valid until the server rejects it. */
  readonly expiresAt?: number | undefined;
}

/** Fetches an identity once and again after it expired or was rejected; concurrent callers share one fetch. */
export function cachedCredentials(fetchIdentity: () => Promise<ExpiringIdentity>, clock: Clock): Credentials {
  let cached: Promise<ExpiringIdentity> | undefined;
  let latest: ClientIdentity | undefined;
  const forget = (fetching: Promise<ExpiringIdentity>): void => {
    if (cached === fetching) cached = undefined;
  };
  const startFetch = (): Promise<ExpiringIdentity> => {
    const fetching = fetchIdentity();
    fetching.then(
      ({ identity }) => {
        latest = identity;
      },
      () => forget(fetching), // a failure is not remembered
    );
    return fetching;
  };

  return {
    current: async () => {
      const earlier = cached;
      if (earlier !== undefined) {
        const { identity, expiresAt } = await earlier;
        if (expiresAt === undefined || clock.now() < expiresAt) return identity;
        forget(earlier);
      }
      cached ??= startFetch();
      return (await cached).identity;
    },
    // A hundred requests may be rejected with one identity: the first of them has it fetched again.
    invalidate: (rejected) => {
      if (latest === rejected) cached = latest = undefined;
      return true;
    },
  };
}
