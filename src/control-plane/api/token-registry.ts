import { createHash } from "node:crypto";
import type { Clock } from "../../util/clock.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";

/** Who a token stands for. */
export interface TokenUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

/** The group that may do everything. */
export const mastersGroup = "system:masters";
export const adminUser: TokenUser = { username: "kubernetes-admin", groups: [mastersGroup, "system:authenticated"] };
/** What a token is for unless its request says otherwise. */
const apiAudience = "https://kubernetes.default.svc";

interface KnownToken {
  readonly user: TokenUser;
  readonly audiences: readonly string[];
}

/** The tokens this server would know again. Those of service accounts are forgotten when the process ends. (05 §5) */
export class TokenRegistry {
  /** By hash, so that how long a lookup takes says nothing about tokens. */
  readonly #admins = new Map<string, KnownToken>();
  readonly #issued: ExpiringMap<KnownToken>;

  constructor(clock: Clock) {
    this.#issued = new ExpiringMap(clock);
  }

  /** A token that grants everything. */
  addAdmin(token: string): void {
    this.#admins.set(hashOf(token), { user: adminUser, audiences: [apiAudience] });
  }

  /** A token of a service account. */
  addIssued(
    token: string,
    user: TokenUser,
    { audiences, forMs }: { audiences: readonly string[]; forMs: number },
  ): void {
    this.#issued.set(hashOf(token), { user, audiences: audiences.length === 0 ? [apiAudience] : audiences }, forMs);
  }

  /** Undefined: nobody's, expired, or for none of these audiences; the server's own if there are none. */
  find(token: string, audiences: readonly string[]): KnownToken | undefined {
    const key = hashOf(token);
    const known = this.#admins.get(key) ?? this.#issued.get(key);
    if (known === undefined) return undefined;
    const asked = audiences.length === 0 ? [apiAudience] : audiences;
    const common = asked.filter((one) => known.audiences.includes(one));
    return common.length === 0 ? undefined : { user: known.user, audiences: common };
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
