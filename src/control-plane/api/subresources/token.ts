import { isRecord, type KubeObject } from "../../../api/object.ts";
import { numberAt, recordAt } from "../../kinds/draft.ts";
import { badRequest } from "../failures.ts";
import { rfc3339 } from "../times.ts";
import type { Machine } from "../writer.ts";

const defaultSeconds = 3600;

/** A token nobody here asks for: simulated pods present none, and the server knows one token only. */
export function tokenFor(account: KubeObject, body: unknown, { clock, random }: Machine): KubeObject {
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
