import type { LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as InterfaceRequest } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;

export interface NetworkRequest {
  readonly spec: Pick<Spec, "networkInterfaces" | "associatePublicIPAddress" | "ipPrefixCount" | "connectionTracking">;
  readonly securityGroupIds: readonly string[];
  /** How many EFA interfaces the pods need. */
  readonly efaCount: number;
  readonly isIpv6: boolean;
}

/** The network interfaces of a node: the class's own, one for each EFA, or one. (04 §3.4) */
export function networkInterfaceRequests(request: NetworkRequest): InterfaceRequest[] {
  const { spec, efaCount } = request;
  const groups = { Groups: [...request.securityGroupIds] };
  const addresses = addressRequest(request);
  if (spec.networkInterfaces !== undefined && spec.networkInterfaces.length > 0) {
    return spec.networkInterfaces.map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
      NetworkCardIndex: networkCardIndex,
      DeviceIndex: deviceIndex,
      InterfaceType: interfaceType,
      ...groups,
      ...(interfaceType === "interface" && addresses),
    }));
  }
  if (efaCount > 0) {
    return Array.from({ length: efaCount }, (_, card) => ({
      NetworkCardIndex: card,
      // Only the first card's first device may be device 0.
      DeviceIndex: card === 0 ? 0 : 1,
      InterfaceType: "efa",
      ...groups,
      ...addresses,
    }));
  }
  return [{ DeviceIndex: 0, InterfaceType: "interface", ...groups, ...addresses }];
}

function addressRequest({ spec, isIpv6 }: NetworkRequest): InterfaceRequest {
  const { associatePublicIPAddress, ipPrefixCount, connectionTracking } = spec;
  return {
    ...(associatePublicIPAddress !== undefined && { AssociatePublicIpAddress: associatePublicIPAddress }),
    ...(isIpv6 && { PrimaryIpv6: true, Ipv6AddressCount: 1 }),
    ...(ipPrefixCount !== undefined &&
      (isIpv6 ? { Ipv6PrefixCount: ipPrefixCount } : { Ipv4PrefixCount: ipPrefixCount })),
    ...(connectionTracking && {
      ConnectionTrackingSpecification: {
        TcpEstablishedTimeout: connectionTracking.tcpEstablishedTimeout,
        UdpStreamTimeout: connectionTracking.udpStreamTimeout,
        UdpTimeout: connectionTracking.udpTimeout,
      },
    }),
  };
}
