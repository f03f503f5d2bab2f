import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import type { KubeletConfiguration } from "../../api/validation/kubelet-decode.ts";
import { type CompileExpression, compiledKubeletExpressions } from "../../api/validation/kubelet-expressions.ts";
import { managedKubelet } from "../../api/validation/kubelet-managed.ts";
import type { KubeletSettings, NodeSettings } from "./node-settings.ts";

export interface NodeSettingsOptions {
  /** The gate NodeClassCEL. */
  readonly allowsExpressions?: boolean | undefined;
  readonly compile?: CompileExpression | undefined;
}

/** The settings of a node class that decide capacity and overhead of its nodes. */
export function nodeSettingsOf(
  { spec }: Pick<Ec2NodeClass, "spec">,
  { allowsExpressions = false, compile }: NodeSettingsOptions = {},
): Partial<NodeSettings> {
  if (spec === undefined) return {};
  const { kubelet, blockDeviceMappings, instanceStorePolicy, networkInterfaces, connectionTracking, cpuOptions } = spec;
  return {
    amiFamily: resolvedAmiFamily(spec),
    ...(kubelet && { kubelet: plainKubelet(kubelet) }),
    ...(allowsExpressions && { kubeletExpressions: compiledKubeletExpressions(kubelet, compile) }),
    ...(blockDeviceMappings && { blockDeviceMappings }),
    ...(instanceStorePolicy && { instanceStorePolicy }),
    ...(networkInterfaces && { networkInterfaces }),
    tracksConnections: connectionTracking !== undefined,
    nestsVirtualization: cpuOptions?.nestedVirtualization === "enabled",
  };
}

/** The kubelet settings without expressions, in whose place the family's default applies. (01 §1.6.4.3) */
function plainKubelet(block: KubeletConfiguration): KubeletSettings {
  const reading = managedKubelet(block);
  if (reading.kind === "error") return {};
  const { maxPods, ...rest } = reading.kubelet;
  return typeof maxPods === "number" ? { ...rest, maxPods } : rest;
}
