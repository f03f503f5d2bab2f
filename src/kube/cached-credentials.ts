import type { Clock } from "../util/clock.ts";
import type { ClientIdentity, Credentials } from "./connection.ts";

export interface ExpiringIdentity {
  readonly identity: ClientIdentity;
  /** Until when it holds, in milliseconds since the epoch; absent: until it is refused. */
  readonly expiresAt?: number | undefined;
}

/** Asks for an identity once, and again when it expired or was refused; callers at the same time share one question. */
export function cachedCredentials(fetchIdentity: () => Promise<ExpiringIdentity>, clock: Clock): Credentials {
  let cached: Promise<ExpiringIdentity> | undefined;
  const forget = (fetching: Promise<ExpiringIdentity>): void => {
    if (cached === fetching) cached = undefined;
  };
  const startFetch = (): Promise<ExpiringIdentity> => {
    const fetching = fetchIdentity();
    fetching.catch(() => forget(fetching)); // a failure is not remembered
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
    invalidate: () => {
      cached = undefined;
      return true;
    },
  };
}
