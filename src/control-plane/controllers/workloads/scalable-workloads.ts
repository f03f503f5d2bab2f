import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { apiVersionOf, builtInTypes } from "../../../kube/resources.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { controllerReferenceOf } from "./ownership.ts";

/** Kinds with `spec.replicas`. */
export const scalableTypes: readonly ResourceType[] = [
  builtInTypes.Deployment,
  builtInTypes.ReplicaSet,
  builtInTypes.StatefulSet,
  builtInTypes.ReplicationController,
];

export interface ScalableWorkload extends KubeObject {
  readonly spec: {
    readonly replicas?: number | undefined;
    readonly selector?: LabelSelector | undefined;
    readonly template?: Partial<ApiPod> | undefined;
  };
}

/** The workload that decides how many pods like this one there are: of a ReplicaSet of a Deployment, the Deployment. */
export function scalableWorkloadOf(
  pod: Pick<KubeObject, "metadata">,
  context: ControllerContext,
): ScalableWorkload | undefined {
  const direct = scalableOwner(pod, context);
  const isBelowDeployment = direct !== undefined && controllerReferenceOf(direct)?.kind === "Deployment";
  return isBelowDeployment ? (scalableOwner(direct, context) ?? direct) : direct;
}

function scalableOwner(child: Pick<KubeObject, "metadata">, { view }: ControllerContext): ScalableWorkload | undefined {
  const reference = controllerReferenceOf(child);
  const type = scalableTypes.find((one) => one.kind === reference?.kind && apiVersionOf(one) === reference.apiVersion);
  const found = type && view<ScalableWorkload>(type).get(`${child.metadata.namespace}/${reference?.name}`);
  return found?.metadata.uid === reference?.uid ? found : undefined;
}
