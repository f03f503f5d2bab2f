import { expect, it } from "vitest";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { nodeSettingsOf } from "./node-class-settings.ts";

const spec: NonNullable<Ec2NodeClass["spec"]> = {
  subnetSelectorTerms: [],
  securityGroupSelectorTerms: [],
  amiSelectorTerms: [],
  metadataOptions: {
    httpEndpoint: "enabled",
    httpProtocolIPv6: "disabled",
    httpPutResponseHopLimit: 1,
    httpTokens: "required",
  },
};

it.each([
  [{ maxPods: 58 }, { maxPods: 58 }],
  [{ maxPods: 0 }, { maxPods: 0 }],
  [{ maxPods: "vcpus" }, {}],
  [{}, {}],
  [{ maxPods: 58, podsPerCore: "ten" }, {}],
  [{ kubeReserved: { cpu: "100m" }, serializeImagePulls: false }, { kubeReserved: { cpu: "100m" } }],
])("01 §8.3 the kubelet settings of %j are %j", (kubelet, settings) => {
  expect(nodeSettingsOf({ spec: { ...spec, kubelet } }).kubelet).toEqual(settings);
});
