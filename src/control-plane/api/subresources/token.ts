import { isRecord, type KubeObject } from "../../../api/object.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { numberAt, recordAt } from "../../object-fields.ts";
import { badRequest } from "../api-errors.ts";
import type { ServerContext } from "../server-context.ts";

const defaultSeconds = 3600;

/** A random token: simulated pods use none, and the server accepts only its own. */
export function issueToken(account: KubeObject, body: unknown, { clock, random }: ServerContext): KubeObject {
  if (!isRecord(body) || body["kind"] !== "TokenRequest") throw badRequest("not a TokenRequest object");
  const seconds = numberAt(body, "spec", "expirationSeconds") ?? defaultSeconds;
  if (seconds < 600) throw badRequest("spec.expirationSeconds: may not specify a duration less than 10 minutes");
  const { name, namespace } = account.metadata;
  return {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name, namespace, creationTimestamp: rfc3339(clock.now()) },
    spec: { ...recordAt(body, "spec"), expirationSeconds: seconds },
    status: { token: random.hex(64), expirationTimestamp: rfc3339(clock.now() + Math.min(seconds, 1e9) * 1000) },
  };
}
