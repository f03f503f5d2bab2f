import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import type { AmiFamily } from "../../api/vocabulary.ts";
import type { NodeSettings } from "./node-settings.ts";

/** What a node class says about the size of its nodes. */
export function nodeSettingsOf({ spec }: Pick<Ec2NodeClass, "spec">): Partial<NodeSettings> {
  if (spec === undefined) return {};
  const { kubelet, blockDeviceMappings, instanceStorePolicy, networkInterfaces, connectionTracking } = spec;
  return {
    amiFamily: resolvedAmiFamily(spec) as AmiFamily,
    ...(kubelet && { kubelet: kubelet as NodeSettings["kubelet"] }),
    ...(blockDeviceMappings && { blockDeviceMappings }),
    ...(instanceStorePolicy && { instanceStorePolicy }),
    ...(networkInterfaces && { networkInterfaces }),
    tracksConnections: connectionTracking !== undefined,
  };
}
