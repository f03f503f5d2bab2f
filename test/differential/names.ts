/** Few names, so that constraints meet. */
export const keys = {
  zone: "topology.kubernetes.io/zone",
  hostname: "kubernetes.io/hostname",
  arch: "kubernetes.io/arch",
  os: "kubernetes.io/os",
  instanceType: "node.kubernetes.io/instance-type",
  capacityType: "karpenter.sh/capacity-type",
  nodePool: "karpenter.sh/nodepool",
  instanceCpu: "karpenter.kwok.sh/instance-cpu",
  instanceFamily: "karpenter.kwok.sh/instance-family",
  instanceSize: "karpenter.kwok.sh/instance-size",
  reservation: "karpenter.kwok.sh/reservation-id",
  team: "example.com/team",
  rack: "example.com/rack",
  gpu: "example.com/gpu",
} as const;

export const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"] as const;
export const apps = ["x", "y", "z"] as const;
export const teams = ["red", "blue"] as const;
export const poolNames = ["pool-a", "pool-b", "pool-c"] as const;
export const namespaces = ["default", "other"] as const;
