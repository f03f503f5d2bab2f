import type { KubeObject } from "../../src/api/object.ts";

/** A class whose machines join when the cloud pleases. */
export function kwokNodeClass(name = "default", spec: object = {}): KubeObject {
  return { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name }, spec };
}

/** A class as a manifest for AWS writes it. */
export function ec2NodeClass(name = "default", spec: object = {}): KubeObject {
  const discovered = [{ tags: { "karpenter.sh/discovery": "my-cluster" } }];
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name },
    spec: {
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "KarpenterNodeRole",
      subnetSelectorTerms: discovered,
      securityGroupSelectorTerms: discovered,
      ...spec,
    },
  };
}
