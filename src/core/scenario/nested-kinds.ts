import { apiGroupOf, type KubeObject } from "../../api/object.ts";
import { countAt, eachItem, eachValue, type NestedKind, type NestedPart } from "./nested-parts.ts";
import { sparkParts } from "./spark-application.ts";

const jobSetParts: readonly NestedPart[] = [
  {
    at: ["replicatedJobs", eachItem],
    template: ["template", "spec", "template"],
    counts: [["replicas"], ["template", "spec", "parallelism"], ["template", "spec", "completions"]],
    podsOf: ({ name, fields }) => ({
      name: `${name}-${fields["name"]}`,
      groups: countAt(fields, ["replicas"], 1),
      count: Math.min(
        countAt(fields, ["template", "spec", "parallelism"], 1),
        countAt(fields, ["template", "spec", "completions"], Number.POSITIVE_INFINITY),
      ),
      labels: {
        "jobset.sigs.k8s.io/jobset-name": name,
        "jobset.sigs.k8s.io/replicatedjob-name": String(fields["name"]),
      },
    }),
  },
];

/** A head, and groups of workers; of clusters in a RayJob or RayService `at` leads to the spec of the cluster. */
function rayClusterParts(at: readonly string[]): readonly NestedPart[] {
  const ray = (name: string, group: string, type: "head" | "worker") => ({
    "ray.io/cluster": name,
    "ray.io/group": group,
    "ray.io/node-type": type,
  });
  return [
    {
      at: [...at, "headGroupSpec"],
      template: ["template"],
      counts: [],
      podsOf: ({ name }) => ({ name: `${name}-head`, count: 1, labels: ray(name, "headgroup", "head") }),
    },
    {
      at: [...at, "workerGroupSpecs", eachItem],
      template: ["template"],
      counts: [["replicas"], ["minReplicas"], ["maxReplicas"], ["numOfHosts"]],
      podsOf: ({ name, fields }) => ({
        name: `${name}-${fields["groupName"]}-worker`,
        count: rayWorkers(fields),
        labels: ray(name, String(fields["groupName"]), "worker"),
      }),
    },
  ];
}

/** The written number, moved into the range; a replica is as many pods as it has hosts. */
function rayWorkers(group: Readonly<Record<string, unknown>>): number {
  if (group["suspend"] === true) return 0;
  const least = countAt(group, ["minReplicas"], 0);
  const most = countAt(group, ["maxReplicas"], Number.POSITIVE_INFINITY);
  const replicas = Math.min(Math.max(countAt(group, ["replicas"], least), least), most);
  return replicas * countAt(group, ["numOfHosts"], 1);
}

const volcanoParts: readonly NestedPart[] = [
  {
    at: ["tasks", eachItem],
    template: ["template"],
    counts: [["replicas"]],
    podsOf: ({ name, fields }) => ({
      name: `${name}-${fields["name"]}`,
      count: countAt(fields, ["replicas"], 1),
      labels: { "volcano.sh/job-name": name, "volcano.sh/task-spec": String(fields["name"]) },
    }),
  },
];

/** Leaders first: a group is a leader and `size` less one workers, which have the leader's template if it has none. */
const leaderWorkerParts: readonly NestedPart[] = [
  {
    at: ["leaderWorkerTemplate"],
    template: ["leaderTemplate"],
    orTemplate: ["workerTemplate"],
    counts: [],
    podsOf: ({ name, spec }) => ({
      name,
      count: countAt(spec, ["replicas"], 1),
      labels: { "leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/worker-index": "0" },
    }),
  },
  {
    at: ["leaderWorkerTemplate"],
    template: ["workerTemplate"],
    counts: [["size"]],
    podsOf: ({ name, fields, spec }) => ({
      name,
      groups: countAt(spec, ["replicas"], 1),
      count: Math.max(countAt(fields, ["size"], 1) - 1, 0),
      first: 1,
      labels: { "leaderworkerset.sigs.k8s.io/name": name },
    }),
  },
];

/** Kubeflow's training kinds have a map from a role, such as Worker, to its replicas. */
function trainingJob(field: string, missing: (role: string) => number = () => 1): NestedKind {
  const part: NestedPart = {
    at: [field, eachValue],
    template: ["template"],
    counts: [["replicas"]],
    podsOf: ({ name, key, fields }) => ({
      name: `${name}-${key.toLowerCase()}`,
      count: countAt(fields, ["replicas"], missing(key)),
      labels: { "training.kubeflow.org/job-name": name, "training.kubeflow.org/replica-type": key.toLowerCase() },
    }),
  };
  return { parts: [part], suspend: ["runPolicy", "suspend"], isFinite: true };
}

const fleetParts: readonly NestedPart[] = [
  {
    at: [],
    template: ["template", "spec", "template"],
    counts: [["replicas"]],
    podsOf: ({ name, fields }) => ({
      name,
      count: countAt(fields, ["replicas"], 0),
      labels: { "agones.dev/fleet": name },
    }),
  },
];

/** By group and kind; versions are read alike. */
const nestedKinds: Readonly<Record<string, NestedKind>> = {
  "jobset.x-k8s.io/JobSet": { parts: jobSetParts, suspend: ["suspend"], isFinite: true, makes: "Job" },
  "leaderworkerset.x-k8s.io/LeaderWorkerSet": { parts: leaderWorkerParts, makes: "StatefulSet" },
  "batch.volcano.sh/Job": { parts: volcanoParts, isFinite: true },
  "ray.io/RayCluster": { parts: rayClusterParts([]), suspend: ["suspend"] },
  "ray.io/RayJob": { parts: rayClusterParts(["rayClusterSpec"]), suspend: ["suspend"], isFinite: true },
  "ray.io/RayService": { parts: rayClusterParts(["rayClusterConfig"]), suspend: ["suspend"] },
  "kubeflow.org/PyTorchJob": trainingJob("pytorchReplicaSpecs"),
  "kubeflow.org/TFJob": trainingJob("tfReplicaSpecs"),
  "kubeflow.org/XGBoostJob": trainingJob("xgbReplicaSpecs"),
  "kubeflow.org/PaddleJob": trainingJob("paddleReplicaSpecs"),
  "kubeflow.org/MXJob": trainingJob("mxReplicaSpecs"),
  "kubeflow.org/JAXJob": trainingJob("jaxReplicaSpecs"),
  "kubeflow.org/MPIJob": trainingJob("mpiReplicaSpecs", (role) => (role === "Worker" ? 0 : 1)),
  "sparkoperator.k8s.io/SparkApplication": { parts: sparkParts([]), suspend: ["suspend"], isFinite: true },
  "sparkoperator.k8s.io/ScheduledSparkApplication": {
    parts: sparkParts(["template"]),
    suspend: ["suspend"],
    isFinite: true,
  },
  "agones.dev/Fleet": { parts: fleetParts },
  "agones.dev/GameServerSet": { parts: fleetParts },
};

/** Undefined for kinds that have their template in `spec.template`, or none. */
export function nestedKindOf({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): NestedKind | undefined {
  const key = `${apiGroupOf(apiVersion)}/${kind}`;
  return Object.hasOwn(nestedKinds, key) ? nestedKinds[key] : undefined;
}
