import { isRecord, type KubeObject } from "../../../api/object.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { numberAt, recordAt, stringsAt } from "../../object-fields.ts";
import { badRequest } from "../api-errors.ts";
import type { ServerContext } from "../server-context.ts";

const defaultSeconds = 3600;

/** A random token. The server accepts only its own, but a TokenReview knows whose this one is. */
export function issueToken(account: KubeObject, body: unknown, { clock, random, tokens }: ServerContext): KubeObject {
  if (!isRecord(body) || body["kind"] !== "TokenRequest") throw badRequest("not a TokenRequest object");
  const seconds = numberAt(body, "spec", "expirationSeconds") ?? defaultSeconds;
  if (seconds < 600) throw badRequest("spec.expirationSeconds: may not specify a duration less than 10 minutes");
  const { name, namespace, uid } = account.metadata;
  const token = random.hex(64);
  const forMs = Math.min(seconds, 1e9) * 1000;
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const user = { username: `system:serviceaccount:${namespace}:${name}`, uid, groups };
  tokens.addIssued(token, user, { audiences: stringsAt(body, "spec", "audiences"), forMs });
  return {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name, namespace, creationTimestamp: rfc3339(clock.now()) },
    spec: { ...recordAt(body, "spec"), expirationSeconds: seconds },
    status: { token, expirationTimestamp: rfc3339(clock.now() + forMs) },
  };
}
