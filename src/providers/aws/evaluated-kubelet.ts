import {
  type CompiledKubeletExpression,
  evaluatedMaxPods,
  evaluatedReservation,
  type InstanceVariables,
} from "../../api/validation/kubelet-expressions.ts";
import { ec2PodCapacity } from "./capacity.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { KubeletSettings, NodeSettings } from "./node-settings.ts";

/** The settings with expressions evaluated for a type. One that fails leaves the default of its key. (04 §1.10) */
export function settingsForType(settings: NodeSettings, typeInfo: Ec2InstanceTypeInfo): NodeSettings {
  const { kubeletExpressions } = settings;
  if (kubeletExpressions.length === 0) return settings;
  const variables = instanceVariablesOf(typeInfo, settings);
  const kubelet = kubeletExpressions.reduce<KubeletSettings>(
    (known, one) => withEvaluated(known, one, { ...variables, maxPods: known.maxPods ?? variables.maxPods }),
    settings.kubelet,
  );
  return { ...settings, kubelet };
}

/** What expressions can ask about a type; `max_pods` is the default of its family. (04 §1.10) */
export function instanceVariablesOf(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings): InstanceVariables {
  return {
    vcpus: typeInfo.vcpu,
    memoryMib: typeInfo.memoryMiB,
    defaultEnis: typeInfo.enis,
    ipsPerEni: typeInfo.ipv4PerEni,
    maxPods: ec2PodCapacity(typeInfo, { ...settings, kubelet: {} }),
    instanceType: typeInfo.name,
  };
}

/** maxPods is evaluated first, so that the others see its result. */
function withEvaluated(
  kubelet: KubeletSettings,
  { expression, program }: CompiledKubeletExpression,
  variables: InstanceVariables,
): KubeletSettings {
  if (expression.field === "maxPods") {
    const outcome = evaluatedMaxPods(program, variables);
    return outcome.kind === "ok" ? { ...kubelet, maxPods: outcome.value } : kubelet;
  }
  const { field, resource } = expression;
  const outcome = evaluatedReservation(program, { resource, variables });
  return outcome.kind === "ok" ? { ...kubelet, [field]: { ...kubelet[field], [resource]: outcome.value } } : kubelet;
}
