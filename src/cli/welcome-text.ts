/** What `karpenter` prints without a command: what works, and what to try. */
export function welcomeText(version: string): string {
  return `karpenter ${version}: Karpenter, the Kubernetes node autoscaler, in TypeScript.

What works so far:
  karpenter up        a cluster, a simulated cloud and the controller in one process, for kubectl; --demo plays a demo
  karpenter run       the controller on a real cluster, with the KWOK provider
  karpenter plan      which nodes these workloads need, of which type, at what cost, offline
  karpenter diff      what a change of manifests does to nodes, pods and price
  karpenter explain   why a pod is pending, the nearest miss, and the smallest change that fixes it
  karpenter top       the nodes of a cluster: how full they are, what they cost, why they stay
  karpenter snapshot  a live cluster in one file, for plan and explain
  karpenter convert   old manifests (v1beta1, Provisioner, AWSNodeTemplate) to v1, with a warning for every assumption
  karpenter crds      the CustomResourceDefinitions, for one provider or all

Try next:
  npx karpenter up --demo
  npx karpenter plan -f examples/kwok.yaml -f examples/workload.yaml
  npx karpenter convert -f examples/v1beta1.yaml
  npx karpenter --help
`;
}
