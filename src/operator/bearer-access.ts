import { createHash } from "node:crypto";
import type { KubeObject } from "../api/object.ts";
import type { KubeClient } from "../kube/client.ts";
import { reviewTypes } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";
import { ExpiringMap } from "../util/expiring-map.ts";
import { TokenBucket } from "../util/token-bucket.ts";

/** Whether somebody may read a path. */
export type BearerAccess =
  | { readonly kind: "allowed"; readonly user: string }
  /** No token, or nobody's. */
  | { readonly kind: "unauthorized" }
  | { readonly kind: "forbidden"; readonly user: string; readonly reason: string }
  /** Too many questions at once: the API server answers them, with what is left for the controllers. */
  | { readonly kind: "too-many" };

export type CheckBearerAccess = (authorization: string | undefined, path: string) => Promise<BearerAccess>;

interface BearerAccessOptions {
  readonly client: Pick<KubeClient, "create">;
  readonly clock: Clock;
}

/** How often the API server is asked. */
const reviewRate = { perSecond: 5, burst: 20 };
/** How long an answer holds, so that a watch of one node is not two reviews each time. */
const rememberMs = 10_000;
const maxTokenLength = 16_384;

/**
 * Asks the API server whose the token of a request is (TokenReview), and whether they may get the path
 * (SubjectAccessReview of a non-resource URL), as Kubernetes' own components do for their endpoints. (03 §6.5)
 */
export function bearerAccess({ client, clock }: BearerAccessOptions): CheckBearerAccess {
  const bucket = new TokenBucket(reviewRate, clock);
  const known = new ExpiringMap<BearerAccess>(clock);
  return async (authorization, path) => {
    const token = bearerTokenOf(authorization);
    if (token === undefined) return { kind: "unauthorized" };
    const key = `${createHash("sha256").update(token).digest("base64")} ${path}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    if (!bucket.tryTake()) return { kind: "too-many" };
    const access = await review(token, path, client);
    known.set(key, access, rememberMs);
    return access;
  };
}

function bearerTokenOf(authorization = ""): string | undefined {
  const [scheme = "", token = "", ...more] = authorization.split(" ").filter((part) => part !== "");
  const isBearer = scheme.toLowerCase() === "bearer" && more.length === 0;
  return isBearer && token !== "" && token.length <= maxTokenLength ? token : undefined;
}

interface ReviewedToken extends KubeObject {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

interface ReviewedAccess extends KubeObject {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string };
}

async function review(token: string, path: string, client: Pick<KubeClient, "create">): Promise<BearerAccess> {
  const { status: reviewed } = await client.create<ReviewedToken>(reviewTypes.TokenReview, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenReview",
    metadata: {},
    spec: { token },
  } as ReviewedToken);
  const { username = "", uid, groups, extra } = reviewed?.user ?? {};
  if (reviewed?.authenticated !== true || username === "") return { kind: "unauthorized" };
  const { status } = await client.create<ReviewedAccess>(reviewTypes.SubjectAccessReview, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: "get" } },
  } as ReviewedAccess);
  if (status?.allowed === true && status.denied !== true) return { kind: "allowed", user: username };
  return { kind: "forbidden", user: username, reason: status?.reason ?? "" };
}
