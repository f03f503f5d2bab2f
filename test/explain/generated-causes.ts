import type { Random } from "../../src/util/random.ts";
import {
  affinity,
  caseOf,
  claim,
  claimVolume,
  type GeneratedCase,
  inZones,
  isIn,
  type Maker,
  own,
  podTerm,
  selector,
  storageClass,
  taint,
  volume,
  type WorkloadKind,
  withClaims,
  zoneKey,
} from "./case-draft.ts";
import { clusterCauseMakers } from "./cluster-causes.ts";

/** Every cause we know, each with its variations; those of one pool and one pod first. */
export const causeMakers: Readonly<Record<string, Maker>> = {
  "a taint": (r) => ({
    template: {
      taints: [taint("dedicated", r.pick(["gpu", "batch", undefined]), r.pick(["NoSchedule", "NoExecute"]))],
    },
  }),
  "two taints": () => ({ template: { taints: [taint("dedicated", "batch"), taint("slow", "yes", "NoExecute")] } }),
  "a toleration of another value": () => ({
    template: { taints: [taint("team", "red")] },
    pod: { tolerations: [{ key: "team", operator: "Equal", value: "blue", effect: "NoSchedule" }] },
  }),
  "a label's value is misspelled": (r) => ({
    poolLabels: { team: "blue" },
    ...selector({ team: r.pick(["bleu", "bluee"]) }),
  }),
  "a label's value is misspelled in affinity": () => ({
    poolLabels: { team: "payments" },
    pod: affinity(isIn("team", "paymnets")),
  }),
  "a label's name is misspelled": (r) => ({
    poolLabels: { team: "blue" },
    ...selector({ [r.pick(["taem", "teams"])]: "blue" }),
  }),
  "a well-known label's name is misspelled": () => selector({ "topology.kubernetes.io/zoen": "test-zone-a" }),
  "a label of another value": (r) => ({
    poolLabels: { team: r.pick(["blue", "red"]) },
    ...selector({ team: "green" }),
  }),
  "a label nobody has": (r) => selector({ [r.pick(["tier", "example.com/tier"])]: "gold" }),
  "a label must exist": () => ({ pod: affinity({ key: "tier", operator: "Exists" }) }),
  "a label must not be what it is": () => ({
    poolLabels: { team: "blue" },
    pod: affinity({ key: "team", operator: "NotIn", values: ["blue"] }),
  }),
  "a label of a pool's requirement": () => ({
    requirements: [isIn("team", "red", "green")],
    ...selector({ team: "blue" }),
  }),
  "an architecture the pool leaves out": () => selector({ "kubernetes.io/arch": "arm64" }),
  "another name of an architecture": (r) => selector({ "kubernetes.io/arch": r.pick(["x86_64", "x64"]) }),
  "an operating system the pool leaves out": () => selector({ "kubernetes.io/os": "windows" }),
  "a zone the pool leaves out": (r) => ({
    requirements: inZones("a", "b"),
    ...selector({ [zoneKey]: `test-zone-${r.pick(["c", "d"])}` }),
  }),
  "a zone the pool excludes": () => ({
    requirements: [{ key: zoneKey, operator: "NotIn", values: ["test-zone-c"] }],
    pod: affinity(...inZones("c")),
  }),
  "a zone that does not exist": () => selector({ [zoneKey]: "mars-1a" }),
  "no zone is left": () => ({
    requirements: inZones("a"),
    pod: affinity({ key: zoneKey, operator: "NotIn", values: ["test-zone-a"] }),
  }),
  "a pool of another name": () => selector({ "karpenter.sh/nodepool": "mian" }),
  "a capacity type that is misspelled": () => selector({ "karpenter.sh/capacity-type": "on-demnd" }),
  "a capacity type the pool leaves out": () => ({
    requirements: [isIn("karpenter.sh/capacity-type", "on-demand")],
    ...selector({ "karpenter.sh/capacity-type": "spot" }),
  }),
  "an instance type that is misspelled": () => selector({ "node.kubernetes.io/instance-type": "c-4x-amd64-linxu" }),
  "instance types the pool leaves out": () => ({
    requirements: [isIn("node.kubernetes.io/instance-type", "c-2x-amd64-linux")],
    requests: { cpu: "3" },
  }),
  "a number of CPUs that no type has": () => ({
    pod: affinity({ key: "karpenter.kwok.sh/instance-cpu", operator: "Gt", values: ["512"] }),
  }),
  "a host name": () => selector({ "kubernetes.io/hostname": "node-1" }),
  "too much CPU": (r) => ({ requests: { cpu: r.pick(["300", "999", "256"]) } }),
  "too much memory": (r) => ({ requests: { memory: r.pick(["3Ti", "9Ti"]) } }),
  "too much ephemeral storage": () => ({ requests: { "ephemeral-storage": "50Gi" } }),
  "too much for types of the pool": () => ({
    requirements: [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }],
    requests: { cpu: "6" },
  }),
  "too much of an init container": () => ({
    pod: { initContainers: [{ name: "init", image: "nginx", resources: { requests: { cpu: "300" } } }] },
  }),
  "too much of two containers": () => ({
    requests: { cpu: "200" },
    pod: {
      initContainers: [
        { name: "side", image: "nginx", restartPolicy: "Always", resources: { requests: { cpu: "100" } } },
      ],
    },
  }),
  "a GPU that no type has": () => ({ limits: { "nvidia.com/gpu": "1" } }),
  "a CPU limit": (r) => ({ pool: { limits: { cpu: r.pick(["0", "1", "2"]) } }, requests: { cpu: "3" } }),
  "a memory limit": () => ({ pool: { limits: { memory: "1Gi" } } }),
  "a limit of nodes": () => ({ pool: { limits: { nodes: "0" } } }),
  "a limit that hides larger types": () => ({ pool: { limits: { cpu: "8" } }, requests: { cpu: "12" } }),
  minValues: () => ({ requirements: [{ key: "karpenter.kwok.sh/instance-family", operator: "Exists", minValues: 9 }] }),
  "minValues of a list": () => ({
    requirements: [
      { ...isIn("node.kubernetes.io/instance-type", "c-2x-amd64-linux", "c-4x-amd64-linux"), minValues: 2 },
    ],
    requests: { cpu: "3" },
  }),
  "pod affinity to nobody": (r) => ({
    pod: podTerm("podAffinity", "nobody", r.pick([zoneKey, "kubernetes.io/hostname"])),
  }),
  "spread over a label nobody has": () => ({
    pod: {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", labelSelector: own },
      ],
    },
  }),
  "a volume in a zone the pool leaves out": () => ({
    requirements: inZones("a", "b"),
    objects: [volume("disk-1", "c"), claim("data", { storageClassName: "", volumeName: "disk-1" }, true)],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a claim of a misspelled name": () => ({
    objects: [storageClass("quick"), claim("data", { storageClassName: "quick" })],
    pod: claimVolume("dta"),
    kinds: withClaims,
  }),
  "a claim that does not exist": () => ({
    objects: [storageClass("quick")],
    pod: claimVolume("archive"),
    kinds: withClaims,
  }),
  "a storage class that is misspelled": () => ({
    objects: [storageClass("quick"), claim("data", { storageClassName: "qiuck" })],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a storage class of zones the pool leaves out": () => ({
    requirements: inZones("a"),
    objects: [
      storageClass("zonal", {
        allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: ["test-zone-c"] }] }],
      }),
      claim("data", { storageClassName: "zonal" }),
    ],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a database's volume in a zone the pool leaves out": () => ({
    requirements: inZones("a", "b"),
    objects: [volume("disk-1", "c"), claim("data-stuck-0", { storageClassName: "", volumeName: "disk-1" }, true)],
    kinds: ["StatefulSet"],
  }),
  "a database's volume in a zone that is gone": () => ({
    objects: [volume("disk-1", "z"), claim("data-stuck-0", { storageClassName: "", volumeName: "disk-1" }, true)],
    kinds: ["StatefulSet"],
  }),
  "a taint and a zone": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    requirements: inZones("a"),
    ...selector({ [zoneKey]: "test-zone-b" }),
  }),
  "a limit and a taint": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    pool: { limits: { cpu: "1" } },
    requests: { cpu: "3" },
  }),
  "only a static pool": () => ({ pool: { replicas: 0 } }),
  ...clusterCauseMakers,
};

/** A case of a cause, or of any; the same random gives the same. */
export function generatedCase(
  random: Random,
  cause = random.pick(Object.keys(causeMakers)),
  wanted?: WorkloadKind,
): GeneratedCase {
  const make = causeMakers[cause];
  if (make === undefined) throw new Error(`there is no cause ${cause}`);
  return caseOf(cause, make(random), random, wanted);
}
