import type { Clock } from "../util/clock.ts";
import type { Credentials, Identity } from "./connection.ts";

export interface FreshIdentity {
  readonly identity: Identity;
  /** Until when it holds, in milliseconds since the epoch; absent: until it is refused. */
  readonly expiresAt?: number | undefined;
}

/** Asks for an identity once, and again when it expired or was refused; callers at the same time share one question. */
export function cachedCredentials(ask: () => Promise<FreshIdentity>, clock: Clock): Credentials {
  let asked: Promise<FreshIdentity> | undefined;
  const forget = (question: Promise<FreshIdentity>): void => {
    if (asked === question) asked = undefined;
  };
  const askNow = (): Promise<FreshIdentity> => {
    const question = ask();
    question.catch(() => forget(question)); // a failure is not remembered
    return question;
  };

  return {
    current: async () => {
      const earlier = asked;
      if (earlier !== undefined) {
        const { identity, expiresAt } = await earlier;
        if (expiresAt === undefined || clock.now() < expiresAt) return identity;
        forget(earlier);
      }
      asked ??= askNow();
      return (await asked).identity;
    },
    refused: () => {
      asked = undefined;
      return true;
    },
  };
}
