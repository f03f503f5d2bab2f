/** What is special about a node. */
interface NodeFacts {
  readonly type?: string;
  readonly zone?: string;
  readonly pods?: readonly string[];
  readonly annotations?: string;
}

/** A NodePool of on-demand nodes. */
export function poolManifest(disruption = '{consolidateAfter: 0s, budgets: [{nodes: "100%"}]}', more = ""): string {
  return `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: ${disruption}
  ${more}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: kubernetes.io/os, operator: In, values: [linux]}
`;
}

/** A NodeClaim with its Node, and a pod for each request of cpu. */
export function nodeManifest(name: string, facts: NodeFacts = {}): string {
  const { type = "c-8x-amd64-linux", zone = "test-zone-a", pods = [], annotations = "{}" } = facts;
  const running = pods.map(
    (cpu, index) => `
---
apiVersion: v1
kind: Pod
metadata: {name: on-${name}-${index}, annotations: ${annotations}}
spec: {nodeName: ${name}, containers: [{name: app, image: app, resources: {requests: {cpu: "${cpu}"}}}]}
`,
  );
  return `
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: ${name}
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: ${type}, topology.kubernetes.io/zone: ${zone}, karpenter.sh/capacity-type: on-demand}
---
{apiVersion: v1, kind: Node, metadata: {name: ${name}}}
${running.join("")}`;
}
