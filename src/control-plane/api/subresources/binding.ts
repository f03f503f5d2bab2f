import { isRecord } from "../../../api/object.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { draftOf, ensureRecord } from "../../kinds/object-draft.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { badRequest, conflict } from "../api-errors.ts";
import { type SuccessStatus, successStatus } from "../request.ts";
import { storageKey } from "../server-context.ts";
import type { PodSubresourceContext } from "./eviction.ts";

/** Binds a pod to a node, as schedulers do. */
export function bindPod(body: unknown, { server, kind, pod, request }: PodSubresourceContext): SuccessStatus {
  const node = nodeOf(body);
  const name = pod.metadata.name ?? "";
  const written = textAt(body, "metadata", "name");
  if (written !== "" && written !== name) throw badRequest("name in URL does not match name in Binding object");
  const uid = textAt(body, "metadata", "uid");
  if (uid !== "" && uid !== pod.metadata.uid) throw conflict(kind, name, "the UID in the precondition does not match");
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(kind, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const bound = textAt(pod.spec, "nodeName");
  if (bound !== "") throw conflict(kind, name, `pod ${name} is already assigned to node "${bound}"`);
  if (listAt(pod.spec, "schedulingGates").length > 0) {
    throw conflict(kind, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  const draft = draftOf(pod);
  ensureRecord(draft, "spec")["nodeName"] = node;
  const annotations = recordAt(body, "metadata", "annotations") as Record<string, string> | undefined;
  if (annotations !== undefined) draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
  const status = ensureRecord(draft, "status");
  delete status["nominatedNodeName"]; // it has been followed, or has become untrue
  markScheduled(status, rfc3339(server.clock.now()));
  const key = storageKey(kind, { name, namespace: pod.metadata.namespace });
  if (request.dryRun !== true) server.store.put(kind.storage, key, draft);
  return { ...successStatus, code: 201 };
}

function nodeOf(body: unknown): string {
  if (!isRecord(body) || body["kind"] !== "Binding") throw badRequest("not a Binding object");
  const target = recordAt(body, "target");
  const kind = textAt(target, "kind");
  if (kind !== "" && kind !== "Node")
    throw badRequest(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node"`);
  const name = textAt(target, "name");
  if (name === "") throw badRequest("target.name: Required value");
  return name;
}

function markScheduled(status: Record<string, unknown>, now: string): void {
  const others = listAt(status, "conditions").filter((one) => one["type"] !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  status["conditions"] = [...others, scheduled];
}
