import { capacityBufferConditions, readyForProvisioningReasons } from "../../api/conditions/capacity-buffer.ts";
import type { Condition, ConditionObservation } from "../../api/conditions/condition.ts";
import { setCondition } from "../../api/conditions/set-condition.ts";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import type { BufferFault } from "../../core/round/resolve-buffers.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { BufferResolution } from "./resolve-buffer.ts";

type BufferStatus = NonNullable<CapacityBuffer["status"]>;

/** A merge patch: null removes a field. */
type BufferStatusPatch = {
  readonly [Field in Exclude<keyof BufferStatus, "conditions">]?: BufferStatus[Field] | null;
} & {
  readonly conditions?: readonly Condition[];
};

/** The patch that brings a buffer's status up to date; undefined if it is. (02:B-4) */
export function bufferStatusPatch(
  buffer: CapacityBuffer,
  { resolution, nowMs }: { readonly resolution: BufferResolution; readonly nowMs: number },
): BufferStatusPatch | undefined {
  const conditions = setCondition(buffer, {
    set: capacityBufferConditions,
    type: "ReadyForProvisioning",
    nowMs,
    ...readyForProvisioningCondition(resolution),
  });
  const wanted: BufferStatusPatch = {
    ...(resolution.kind === "resolved" && sizeFields(resolution)),
    provisioningStrategy: buffer.spec.provisioningStrategy,
    conditions,
  };
  return isStatusCurrent(buffer, wanted) ? undefined : wanted;
}

/** A buffer that cannot be resolved keeps the size it last had. */
function sizeFields({ pods, template }: BufferResolution & { readonly kind: "resolved" }): BufferStatusPatch {
  return {
    replicas: pods.length,
    podTemplateRef: template ? { name: template.name } : null,
    podTemplateGeneration: template?.generation ?? null,
  };
}

function isStatusCurrent({ status }: CapacityBuffer, wanted: BufferStatusPatch): boolean {
  return (
    status?.conditions === wanted.conditions &&
    status?.provisioningStrategy === wanted.provisioningStrategy &&
    (wanted.replicas === undefined || status?.replicas === wanted.replicas) &&
    (wanted.podTemplateRef === undefined || status?.podTemplateRef?.name === wanted.podTemplateRef?.name) &&
    (wanted.podTemplateGeneration === undefined ||
      (status?.podTemplateGeneration ?? null) === wanted.podTemplateGeneration)
  );
}

function readyForProvisioningCondition(resolution: BufferResolution): ConditionObservation {
  switch (resolution.kind) {
    case "resolved":
      return {
        status: "True",
        reason: readyForProvisioningReasons.resolved,
        message: "Pod template resolved successfully",
      };
    case "refused":
      return { status: "False", ...faultConditions[resolution.fault] };
    case "unknown": {
      const { error } = resolution;
      const message = errorMessage(error);
      return { status: "False", reason: readyForProvisioningReasons.resolutionFailed, message };
    }
  }
}

const faultConditions: Readonly<Record<BufferFault, Omit<ConditionObservation, "status">>> = {
  ResolutionFailed: {
    reason: readyForProvisioningReasons.resolutionFailed,
    message:
      "a buffer needs a podTemplateRef, or a scalableRef to a Deployment, StatefulSet or ReplicaSet of group apps",
  },
  TooManyReplicas: {
    reason: readyForProvisioningReasons.resolutionFailed,
    message: "the buffers have more replicas together than supported; lower replicas, percentage or limits",
  },
  PodTemplateNotFound: {
    reason: readyForProvisioningReasons.podTemplateNotFound,
    message: "the PodTemplate this buffer refers to does not exist in its namespace",
  },
  ScalableRefNotFound: {
    reason: readyForProvisioningReasons.scalableRefNotFound,
    message: "the workload this buffer refers to does not exist in its namespace",
  },
};
