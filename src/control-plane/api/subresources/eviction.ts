import { isRecord, type KubeObject } from "../../../api/object.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { draftOf, ensureRecord, type JsonObject, type ObjectDraft } from "../../kinds/object-draft.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import { listAt, numberAt, recordAt, textAt } from "../../object-fields.ts";
import { apiError, badRequest, conflict, forbidden } from "../api-errors.ts";
import { type DeleteRequest, type SuccessStatus, successStatus, type WriteRequest } from "../request.ts";
import { type ServerContext, storageKey } from "../server-context.ts";

export interface PodSubresourceContext {
  readonly server: ServerContext;
  readonly kind: ServedKind;
  readonly pod: KubeObject;
  readonly request: WriteRequest;
}

export interface PodEvictionContext extends PodSubresourceContext {
  readonly remove: (pod: KubeObject, request: DeleteRequest) => unknown;
}

const budgetStorage = "poddisruptionbudgets.policy";
/** The disruption controller removes entries after two minutes: this many means that it is not running. */
const maxDisrupted = 2000;
const budgetRefusal = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Deletes a pod if its PodDisruptionBudget allows another disruption. (05:CP-L6) */
export function evictPod(body: unknown, context: PodEvictionContext): SuccessStatus {
  const request = deleteRequest(body, context);
  const { pod, kind, server, remove } = context;
  const name = pod.metadata.name ?? "";
  const { uid, resourceVersion } = request.preconditions ?? {};
  if (uid !== undefined && uid !== pod.metadata.uid)
    throw conflict(kind, name, "the UID in the precondition does not match");
  if (resourceVersion !== undefined && resourceVersion !== pod.metadata.resourceVersion) throw conflict(kind, name);
  if (!isUnbudgeted(pod)) spendDisruption(context, request.dryRun === true);
  const current = request.dryRun === true ? pod : withDisruptionTarget(server, kind, pod);
  remove(current, { ...request, preconditions: undefined });
  return { ...successStatus, code: 201 };
}

function deleteRequest(body: unknown, { pod, request }: PodEvictionContext): DeleteRequest {
  if (!isRecord(body) || body["kind"] !== "Eviction") throw badRequest("not an Eviction object");
  const version = body["apiVersion"];
  if (version !== "policy/v1" && version !== "policy/v1beta1") throw badRequest("expected an Eviction in policy/v1");
  if (textAt(body, "metadata", "name") !== pod.metadata.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const options = recordAt(body, "deleteOptions") ?? {};
  const grace = numberAt(options, "gracePeriodSeconds");
  const uid = textAt(options, "preconditions", "uid");
  const resourceVersion = textAt(options, "preconditions", "resourceVersion");
  const policy = textAt(options, "propagationPolicy");
  return {
    dryRun: request.dryRun === true || (Array.isArray(options["dryRun"]) && options["dryRun"].includes("All")),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === "Foreground" || policy === "Orphan" || policy === "Background" ? { propagation: policy } : {}),
    preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
  };
}

/** Terminating, finished and pending pods do not count against a budget. */
function isUnbudgeted({ metadata, status }: KubeObject): boolean {
  const phase = textAt(status, "phase");
  return metadata.deletionTimestamp !== undefined || phase === "Succeeded" || phase === "Failed" || phase === "Pending";
}

function spendDisruption({ server, pod }: PodEvictionContext, isDryRun: boolean): void {
  const { namespace = "" } = pod.metadata;
  const matching = [...server.store.collection(budgetStorage).range({ prefix: `${namespace}/` })]
    .map(([, budget]) => budget)
    .filter(({ spec }) => compileSelector(recordAt(spec, "selector")).matches(pod.metadata.labels));
  const [budget, second] = matching;
  if (budget === undefined) return;
  if (second !== undefined) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw apiError("server-error", message);
  }
  if (!isReady(pod) && mayEvictUnhealthy(budget)) return;
  assertAllowed(budget);
  if (!isDryRun) decrement(server, budget, pod);
}

function isReady({ status }: KubeObject): boolean {
  return listAt(status, "conditions").some((one) => one["type"] === "Ready" && one["status"] === "True");
}

/** An unready pod may be evicted if the policy says so, or if enough others are healthy. */
function mayEvictUnhealthy({ spec, status }: KubeObject): boolean {
  if (textAt(spec, "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const desired = numberAt(status, "desiredHealthy") ?? 0;
  return desired > 0 && (numberAt(status, "currentHealthy") ?? 0) >= desired;
}

function assertAllowed(budget: KubeObject): void {
  const { metadata, status } = budget;
  const name = metadata.name ?? "";
  const policy = { group: "policy", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets" };
  if ((numberAt(status, "observedGeneration") ?? 0) < (metadata.generation ?? 0)) {
    throw tooManyDisruptions(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = numberAt(status, "disruptionsAllowed") ?? 0;
  if (allowed < 0) throw forbidden(policy, name, "pdb disruptions allowed is negative");
  if (Object.keys(recordAt(status, "disruptedPods") ?? {}).length > maxDisrupted) {
    throw forbidden(policy, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed > 0) return;
  const desired = numberAt(status, "desiredHealthy") ?? 0;
  const current = numberAt(status, "currentHealthy") ?? 0;
  throw tooManyDisruptions(`The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`);
}

/** Without retryAfterSeconds kubectl prints the refusal and retries; with it the client waits silently. */
function tooManyDisruptions(cause: string, retryAfterSeconds?: number): Error {
  return apiError("too-many-requests", budgetRefusal, {
    causes: [{ reason: "DisruptionBudget", message: cause }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Before the delete, so that two concurrent evictions cannot both use the last disruption. */
function decrement(server: ServerContext, budget: KubeObject, pod: KubeObject): void {
  const draft = draftOf(budget);
  const status = ensureRecord(draft, "status");
  const left = (numberAt(status, "disruptionsAllowed") ?? 1) - 1;
  status["disruptionsAllowed"] = left;
  ensureRecord(status, "disruptedPods")[pod.metadata.name ?? ""] = rfc3339(server.clock.now());
  if (left === 0) setDisruptionAllowed(draft, server.clock.now());
  server.store.put(budgetStorage, `${budget.metadata.namespace}/${budget.metadata.name}`, draft);
}

function setDisruptionAllowed(draft: ObjectDraft, now: number): void {
  const condition = listAt(draft.status, "conditions").find((one) => one["type"] === "DisruptionAllowed");
  if (condition === undefined || condition["status"] === "False") return;
  Object.assign(condition, { status: "False", reason: "InsufficientPods", lastTransitionTime: rfc3339(now) });
}

function withDisruptionTarget(server: ServerContext, kind: ServedKind, pod: KubeObject): KubeObject {
  const draft = draftOf(pod);
  const condition: JsonObject = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: rfc3339(server.clock.now()),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const status = ensureRecord(draft, "status");
  const others = listAt(status, "conditions").filter((one) => one["type"] !== "DisruptionTarget");
  if (others.length < listAt(status, "conditions").length) return pod;
  status["conditions"] = [...others, condition];
  const key = storageKey(kind, { name: pod.metadata.name ?? "", namespace: pod.metadata.namespace });
  return server.store.put(kind.storage, key, draft);
}
