import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import type { Pod, PodSpec, SelectorRequirement } from "../api/kubernetes/pod.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { deservesEvent, ignoredPodText, type PodValidation, podProblems } from "./pod-validation.ts";
import { emptyVolumeIndex, type VolumeIndex } from "./volumes.ts";

const validation: PodValidation = { labelPolicy: labelPolicy("kwok"), volumes: emptyVolumeIndex };
const pod = (spec: PodSpec): Pod => ({ metadata: { name: "p" }, spec });
const required = (...terms: readonly (readonly SelectorRequirement[])[]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  },
});
const preferred = (
  ...weights: readonly (readonly [weight: number, ...expressions: SelectorRequirement[]])[]
): PodSpec => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: weights.map(([weight, ...matchExpressions]) => ({
        weight,
        preference: { matchExpressions },
      })),
    },
  },
});
const codes = (spec: PodSpec) => podProblems(pod(spec), validation).map(({ code }) => code);
const texts = (spec: PodSpec) => podProblems(pod(spec), validation).map(({ text }) => text);
const noPool: SelectorRequirement = { key: labels.nodePool, operator: "DoesNotExist" };
const anyPool: SelectorRequirement = { key: labels.nodePool, operator: "Exists" };

describe("02:V-1 a pod that will not run on our nodes", () => {
  const cases: readonly [title: string, spec: PodSpec, expected: boolean][] = [
    ["in its first required term", required([noPool]), true],
    ["in a later term, which is an alternative", required([anyPool], [noPool]), false],
    ["in its heaviest wish", preferred([1, anyPool], [2, noPool]), true],
    ["in a lighter wish", preferred([2, anyPool], [1, noPool]), false],
    ["in the first of equal wishes", preferred([1, noPool], [1, anyPool]), true],
    ["by contradiction", { nodeSelector: { [labels.nodePool]: "a" }, ...required([noPool]) }, true],
    ["not by naming a pool", { nodeSelector: { [labels.nodePool]: "a" } }, false],
    ["not by an operator nobody knows", required([{ key: labels.nodePool, operator: "Near" }]), false],
  ];
  it.each(cases)("%s", (_, spec, expected) => expect(codes(spec).includes("avoids-karpenter")).toBe(expected));

  it("is told so, without an event", () => {
    const problems = podProblems(pod(required([noPool])), validation);
    expect(ignoredPodText(problems)).toBe(
      "ignoring pod, configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)",
    );
    expect(deservesEvent(problems)).toBe(false);
  });

  it("gets no event for anything else that is wrong with it either", () => {
    const problems = podProblems(pod(required([noPool, { key: labels.zone, operator: "In" }])), validation);
    expect(problems.map(({ emitsEvent }) => emitsEvent)).toEqual([false, true]);
    expect(deservesEvent(problems)).toBe(false);
    expect(deservesEvent(problems.slice(1))).toBe(true);
    expect(deservesEvent([])).toBe(false);
  });
});

describe("02:V-2 to 02:V-4 what a pod asks of its node", () => {
  const one = (operator: string, values?: readonly string[], key: string = labels.instanceType): PodSpec =>
    required([{ key, operator, values }]);
  const cases: readonly [title: string, spec: PodSpec, expected: readonly string[]][] = [
    ["nothing", {}, []],
    ["empty terms", required([]), []],
    ["labels of its own", { nodeSelector: { "example.com/team": "a", team: "b" } }, []],
    ["well-known labels of a restricted domain", { nodeSelector: { "karpenter.kwok.sh/instance-size": "4x" } }, []],
    ["an old spelling of a well-known label", { nodeSelector: { "beta.kubernetes.io/arch": "arm64" } }, []],
    ["a restricted domain", { nodeSelector: { "karpenter.sh/x": "a" } }, ["restricted-label"]],
    ["below a restricted domain", { nodeSelector: { "x.karpenter.sh/x": "a" } }, ["restricted-label"]],
    ["a provider's domain", { nodeSelector: { "karpenter.kwok.sh/x": "a" } }, ["restricted-label"]],
    ["a domain of kubernetes.io", { nodeSelector: { "node.kubernetes.io/x": "a" } }, []],
    ["a known and an unknown capacity type", one("In", ["spot", "x"], labels.capacityType), []],
    ["not an unknown capacity type", one("NotIn", ["x"], labels.capacityType), []],
    ["a reserved one", one("In", ["reserved"], labels.capacityType), []],
    ["a key that is no name", one("Exists", undefined, "a/b/c"), ["invalid-key"]],
    ["a value that is none", one("In", ["not a value"]), ["invalid-value"]],
    ["In without values", one("In", []), ["value-count"]],
    ["NotIn without values", one("NotIn", []), []],
    ["an operator nobody knows", one("Near", ["a"]), ["unknown-operator"]],
    ["bounds", required(["Gt", "Lt", "Gte", "Lte"].map((operator) => ({ key: "k", operator, values: ["0"] }))), []],
    ["a negative bound", one("Gt", ["-1"]), ["invalid-value", "value-count"]],
    ["two bounds in one", one("Lt", ["1", "2"]), ["value-count"]],
    ["a bound that is no number", one("Gte", ["a"]), ["value-count"]],
    ["no bound", one("Lte", []), ["value-count"]],
    [
      "every required term, not only the first",
      required([{ key: "a", operator: "Exists" }], [{ key: labels.hostname, operator: "Exists" }]),
      ["restricted-label"],
    ],
    ["no wish", preferred([1, { key: labels.hostname, operator: "Exists" }]), []],
    [
      "no pod affinity",
      {
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "karpenter.sh/x" }] },
        },
      },
      [],
    ],
    [
      "all that is wrong, selectors by key and first",
      { nodeSelector: { "karpenter.sh/b": "-", "karpenter.sh/a": "" }, ...one("In", []) },
      ["restricted-label", "restricted-label", "invalid-value", "value-count"],
    ],
  ];
  it.each(cases)("%s", (_, spec, expected) => expect(codes(spec)).toEqual(expected));

  it("02:V-3 matchFields", () => {
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["n"] }];
    const spec: PodSpec = {
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
      },
    };
    expect(texts(spec)).toEqual(["node selector term with matchFields is not supported"]);
  });

  it.each(["karpenter.sh/unheard-of", labels.hostname])("02:V-4 tells what labels there are instead of %s", (key) => {
    expect(ignoredPodText(podProblems(pod({ nodeSelector: { [key]: "x" } }), validation))).toBe(
      `ignoring pod, using label ${key} is not allowed as it might interfere with the internal provisioning logic; ` +
        "specify a well known label: [karpenter.kwok.sh/instance-cpu karpenter.kwok.sh/instance-family " +
        "karpenter.kwok.sh/instance-memory karpenter.kwok.sh/instance-size karpenter.kwok.sh/reservation-id " +
        "karpenter.sh/capacity-type karpenter.sh/nodepool kubernetes.io/arch kubernetes.io/os " +
        "node.kubernetes.io/instance-type node.kubernetes.io/windows-build topology.kubernetes.io/region " +
        "topology.kubernetes.io/zone], or a custom label that does not use a restricted domain: " +
        "[karpenter.kwok.sh karpenter.sh]",
    );
  });

  it("02:V-4 tells which capacity types there are", () => {
    expect(texts({ nodeSelector: { [labels.capacityType]: "preemptible" } })).toEqual([
      "no valid values found in [preemptible] for karpenter.sh/capacity-type, expected one of: " +
        "map[on-demand:{} reserved:{} spot:{}], got: [preemptible]",
    ]);
  });

  it("02 §1.5 joins what is wrong, each with its key", () => {
    const problems = podProblems(
      pod(required([{ key: "beta.kubernetes.io/os", operator: "In" }], [{ key: "a", operator: "Out" }])),
      validation,
    );
    expect(ignoredPodText(problems)).toBe(
      "ignoring pod, requirement on kubernetes.io/os is not valid, In on kubernetes.io/os needs at least one value; " +
        'requirement on a is not valid, unknown operator "Out"; did you mean NotIn?',
    );
  });
});

describe("02:V-5 a pod's claims", () => {
  const bindCompleted = { "pv.kubernetes.io/bind-completed": "yes" };
  interface Parts {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly phase?: string;
    readonly metadata?: PersistentVolumeClaim["metadata"];
  }
  const claim = (
    name: string,
    { volumeName, storageClassName, phase, metadata }: Parts = {},
  ): PersistentVolumeClaim => ({
    metadata: { name, namespace: "default", ...metadata },
    spec: { volumeName, storageClassName },
    status: { phase },
  });
  const bound = { volumeName: "pv-1", metadata: { annotations: bindCompleted } };
  const claims: readonly PersistentVolumeClaim[] = [
    claim("bound", bound),
    claim("bound-without-class", { ...bound, storageClassName: "missing" }),
    claim("dying", { ...bound, metadata: { annotations: bindCompleted, deletionTimestamp: "2026-01-15T11:00:00Z" } }),
    claim("lost", { ...bound, phase: "Lost" }),
    claim("volume-gone", { ...bound, volumeName: "pv-9" }),
    claim("volume-dying", { ...bound, volumeName: "pv-2", storageClassName: "later" }),
    claim("unbound", { volumeName: "pv-1" }),
    claim("no-class", {}),
    claim("class-gone", { storageClassName: "missing" }),
    claim("at-once", { storageClassName: "at-once" }),
    claim("later", { storageClassName: "later" }),
    claim("host", { storageClassName: "host" }),
    claim("in-tree", { storageClassName: "in-tree" }),
    claim("unsupported-volume", { ...bound, volumeName: "pv-3", storageClassName: "later" }),
    claim("p-tmp", { storageClassName: "missing" }),
  ];
  const volumes: readonly PersistentVolume[] = [
    { metadata: { name: "pv-1" }, spec: { csi: { driver: "csi.example.com" } } },
    { metadata: { name: "pv-2", deletionTimestamp: "2026-01-15T11:00:00Z" } },
    { metadata: { name: "pv-3" }, spec: { csi: { driver: "disk.csi.azure.com" } } },
  ];
  const classes: readonly StorageClass[] = [
    { metadata: { name: "at-once" }, volumeBindingMode: "Immediate" },
    { metadata: { name: "later" }, provisioner: "csi.example.com", volumeBindingMode: "WaitForFirstConsumer" },
    {
      metadata: { name: "host" },
      allowedTopologies: [{}, { matchLabelExpressions: [{ key: "example.com/host", values: ["n"] }] }],
    },
    { metadata: { name: "in-tree" }, provisioner: "kubernetes.io/azure-disk" },
  ];
  const index: VolumeIndex = {
    claims: new Map(claims.map((one) => [`default/${one.metadata.name}`, one])),
    volumes: new Map(volumes.map((one) => [one.metadata.name ?? "", one])),
    classes: new Map(classes.map((one) => [one.metadata.name ?? "", one])),
  };
  const rules: PodValidation = {
    ...validation,
    volumes: index,
    unsupportedDrivers: new Set(["disk.csi.azure.com"]),
    unsupportedTopologyKeys: new Set(["example.com/host"]),
  };
  const using = (...names: readonly string[]): Pod =>
    pod({ volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) });

  const cases: readonly [claim: string, code: string, text: string][] = [
    [
      "nowhere",
      "claim-missing",
      'getting persistent volume claim, persistentvolumeclaims "nowhere" not found (PersistentVolumeClaim=nowhere)',
    ],
    ["dying", "claim-deleting", "persistentvolumeclaim is being deleted (PersistentVolumeClaim=default/dying)"],
    [
      "lost",
      "claim-lost",
      "persistentvolumeclaim bound to non-existent persistentvolume " +
        "(PersistentVolume=pv-1, PersistentVolumeClaim=default/lost)",
    ],
    [
      "volume-gone",
      "volume-missing",
      'failed to validate pvc, persistentvolumes "pv-9" not found ' +
        "(PersistentVolume=pv-9, PersistentVolumeClaim=default/volume-gone, StorageClass=)",
    ],
    [
      "volume-dying",
      "volume-deleting",
      "failed to validate pvc, persistentvolume is being deleted " +
        "(PersistentVolume=pv-2, PersistentVolumeClaim=default/volume-dying, StorageClass=later)",
    ],
    [
      "unbound",
      "claim-not-bound",
      "pvc is considered unbound because it does not contain annotation " +
        "(PersistentVolume=pv-1, PersistentVolumeClaim=unbound, annotation=pv.kubernetes.io/bind-completed)",
    ],
    [
      "no-class",
      "class-unnamed",
      "unbound pvc must define a storage class (PersistentVolumeClaim=default/no-class, StorageClass=)",
    ],
    [
      "class-gone",
      "class-missing",
      'failed to validate pvc, failed to get storage class, storageclasses.storage.k8s.io "missing" not found ' +
        "(PersistentVolumeClaim=default/class-gone, StorageClass=missing)",
    ],
    [
      "at-once",
      "class-immediate",
      "failed to validate pvc, pvc with immediate volume binding mode must be bound " +
        "(PersistentVolumeClaim=default/at-once, StorageClass=at-once)",
    ],
    [
      "host",
      "topology-key-unsupported",
      "failed to validate pvc, storage class uses unsupported topology key " +
        "(PersistentVolumeClaim=default/host, StorageClass=host, TopologyKey=example.com/host)",
    ],
    [
      "in-tree",
      "driver-unsupported",
      "failed to validate pvc, provisioner is not supported " +
        "(PersistentVolumeClaim=default/in-tree, Provisioner=disk.csi.azure.com, StorageClass=in-tree)",
    ],
    [
      "unsupported-volume",
      "driver-unsupported",
      "failed to validate pvc, provisioner is not supported " +
        "(PersistentVolumeClaim=default/unsupported-volume, Provisioner=disk.csi.azure.com, StorageClass=later)",
    ],
  ];
  it.each(cases)("%s: %s", (name, code, text) =>
    expect(podProblems(using(name), rules)).toEqual([{ code, text, emitsEvent: true }]),
  );

  it.each(["bound", "bound-without-class", "later"])("%s is fine", (name) =>
    expect(podProblems(using(name), rules)).toEqual([]),
  );

  it("the claim of an ephemeral volume is named after the pod, and other volumes have none", () => {
    const problems = podProblems(pod({ volumes: [{ name: "empty" }, { name: "tmp", ephemeral: {} }] }), rules);
    expect(problems.map(({ code }) => code)).toEqual(["class-missing"]);
  });

  it("only the first faulty claim is told, after what the pod itself asks for", () => {
    const faulty = using("bound", "no-class", "nowhere");
    const problems = podProblems({ ...faulty, spec: { ...faulty.spec, ...required([noPool]) } }, rules);
    expect(problems.map(({ code }) => code)).toEqual(["avoids-karpenter", "class-unnamed"]);
  });

  it("drivers and keys are refused only where a provider says so", () => {
    expect(podProblems(using("host", "in-tree"), { ...validation, volumes: index })).toEqual([]);
  });
});
