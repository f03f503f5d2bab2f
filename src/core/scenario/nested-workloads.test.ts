import { describe, expect, it } from "vitest";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { type ExpansionOptions, expandWorkloads } from "./expand-workloads.ts";
import { isFiniteWork } from "./finite-work.ts";
import { readInputObject } from "./object-form.ts";

const fields = new BuiltInFields();
const template = (cpu: number) => ({ spec: { containers: [{ name: "app", resources: { requests: { cpu } } }] } });

function object(apiVersion: string, kind: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name: "it", namespace: "ml" }, spec };
}

const kubeflow = (kind: string, field: string, roles: object, more: object = {}) =>
  object("kubeflow.org/v1", kind, { [field]: roles, ...more });
const ray = {
  headGroupSpec: { template: template(1) },
  workerGroupSpecs: [
    { groupName: "small", replicas: 2, minReplicas: 0, maxReplicas: 5, template: template(2) },
    { groupName: "multi", minReplicas: 1, numOfHosts: 2, template: template(3) },
    { groupName: "off", replicas: 4, suspend: true, template: template(4) },
    { groupName: "many", replicas: 9, maxReplicas: 1, template: template(5) },
  ],
};
const rayPods = [
  "it-head-0 1",
  "it-small-worker-0 2",
  "it-small-worker-1 2",
  "it-multi-worker-0 3",
  "it-multi-worker-1 3",
  "it-many-worker-0 5",
];
const spark = (more: object = {}) => ({
  type: "Scala",
  driver: { cores: 1, memory: "512m", nodeSelector: { disk: "ssd" } },
  executor: { instances: 2, coreRequest: "1500m", cores: 2, memory: "8g", labels: { team: "a" } },
  ...more,
});

/** The pods in the form `NAME CPU`. */
function pods(one: KubeObject, options: ExpansionOptions = {}, ...others: readonly KubeObject[]): readonly string[] {
  const { object: read, problems } = readInputObject(one, fields);
  expect(problems).toEqual([]);
  return expandWorkloads([read, ...others], options).objects.flatMap(({ object: made }) =>
    made.kind === "Pod" && !others.includes(made) ? [`${made.metadata.name} ${cpuOf(made as KubeObject & Pod)}`] : [],
  );
}

function cpuOf({ spec }: Pod): unknown {
  return spec.containers?.[0]?.resources?.requests?.["cpu"];
}

describe("kinds with several pod templates", () => {
  it.each<[string, KubeObject, readonly string[]]>([
    [
      "a JobSet: every replicated job has as many pods as run at once",
      object("jobset.x-k8s.io/v1alpha2", "JobSet", {
        replicatedJobs: [
          { name: "leader", template: { spec: { template: template(1) } } },
          {
            name: "workers",
            replicas: 2,
            template: { spec: { parallelism: 2, completions: 4, template: template(2) } },
          },
        ],
      }),
      ["it-leader-0-0 1", "it-workers-0-0 2", "it-workers-0-1 2", "it-workers-1-0 2", "it-workers-1-1 2"],
    ],
    [
      "a suspended JobSet",
      object("jobset.x-k8s.io/v1alpha2", "JobSet", {
        suspend: true,
        replicatedJobs: [{ name: "a", template: { spec: { template: template(1) } } }],
      }),
      [],
    ],
    [
      "a LeaderWorkerSet: size counts the leader",
      object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
        replicas: 2,
        leaderWorkerTemplate: { size: 3, leaderTemplate: template(1), workerTemplate: template(2) },
      }),
      ["it-0 1", "it-1 1", "it-0-1 2", "it-0-2 2", "it-1-1 2", "it-1-2 2"],
    ],
    [
      "a LeaderWorkerSet whose leader has the template of workers",
      object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
        leaderWorkerTemplate: { size: 2, workerTemplate: template(2) },
      }),
      ["it-0 2", "it-0-1 2"],
    ],
    [
      "a Volcano Job",
      object("batch.volcano.sh/v1alpha1", "Job", {
        minAvailable: 3,
        schedulerName: "volcano",
        tasks: [
          { name: "ps", template: template(1) },
          { name: "worker", replicas: 2, template: template(2) },
        ],
      }),
      ["it-ps-0 1", "it-worker-0 2", "it-worker-1 2"],
    ],
    ["a RayCluster: workers stay within their range, and have hosts", object("ray.io/v1", "RayCluster", ray), rayPods],
    ["a RayJob", object("ray.io/v1", "RayJob", { entrypoint: "x", rayClusterSpec: ray }), rayPods],
    ["a RayService", object("ray.io/v1", "RayService", { rayClusterConfig: ray }), rayPods],
    [
      "a PyTorchJob",
      kubeflow("PyTorchJob", "pytorchReplicaSpecs", {
        Master: { template: template(1) },
        Worker: { replicas: 2, template: template(2) },
      }),
      ["it-master-0 1", "it-worker-0 2", "it-worker-1 2"],
    ],
    [
      "a suspended PyTorchJob",
      kubeflow(
        "PyTorchJob",
        "pytorchReplicaSpecs",
        { Worker: { template: template(1) } },
        { runPolicy: { suspend: true } },
      ),
      [],
    ],
    ["a TFJob", kubeflow("TFJob", "tfReplicaSpecs", { PS: { replicas: 1, template: template(1) } }), ["it-ps-0 1"]],
    [
      "an XGBoostJob",
      kubeflow("XGBoostJob", "xgbReplicaSpecs", { Master: { template: template(1) } }),
      ["it-master-0 1"],
    ],
    [
      "a PaddleJob",
      kubeflow("PaddleJob", "paddleReplicaSpecs", { Worker: { template: template(1) } }),
      ["it-worker-0 1"],
    ],
    ["a JAXJob", kubeflow("JAXJob", "jaxReplicaSpecs", { Worker: { template: template(1) } }), ["it-worker-0 1"]],
    [
      "an MPIJob, which has no workers unless it says so",
      kubeflow("MPIJob", "mpiReplicaSpecs", { Launcher: { template: template(1) }, Worker: { template: template(2) } }),
      ["it-launcher-0 1"],
    ],
    [
      "a SparkApplication: a driver and executors",
      object("sparkoperator.k8s.io/v1beta2", "SparkApplication", spark()),
      ["it-driver-0 1", "it-exec-0 1500m", "it-exec-1 1500m"],
    ],
    [
      "a ScheduledSparkApplication that allocates executors as it runs",
      object("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", {
        schedule: "@daily",
        template: spark({ dynamicAllocation: { enabled: true, initialExecutors: 3, minExecutors: 1 } }),
      }),
      ["it-driver-0 1", "it-exec-0 1500m", "it-exec-1 1500m", "it-exec-2 1500m"],
    ],
    [
      "a Fleet of game servers",
      object("agones.dev/v1", "Fleet", { replicas: 2, template: { spec: { ports: [], template: template(1) } } }),
      ["it-0 1", "it-1 1"],
    ],
  ])("%s", (_, one, expected) => {
    expect(pods(one)).toEqual(expected);
  });

  it("their pods have the namespace, an owner and the labels of their kind", () => {
    const { objects } = expandWorkloads([object("ray.io/v1", "RayCluster", ray)]);
    expect(objects[1]?.object.metadata).toMatchObject({
      namespace: "ml",
      labels: { "ray.io/cluster": "it", "ray.io/group": "small", "ray.io/node-type": "worker" },
      ownerReferences: [{ kind: "RayCluster", name: "it", controller: true }],
    });
  });

  it("are not planned again where their pods run", () => {
    const runningPod = (kind: string, name: string): KubeObject => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "x",
        namespace: "ml",
        ownerReferences: [{ apiVersion: "v1", kind, name, uid: "u", controller: true }],
      },
      spec: {},
    });
    const jobSet = object("jobset.x-k8s.io/v1alpha2", "JobSet", {
      replicatedJobs: [{ name: "a", template: { spec: { template: template(1) } } }],
    });
    expect(pods(jobSet, {}, runningPod("Job", "it-a-0"))).toEqual([]);
    expect(pods(jobSet, {}, runningPod("Job", "other-a-0"))).toEqual(["it-a-0-0 1"]);
    expect(pods(object("ray.io/v1", "RayCluster", ray), {}, runningPod("RayCluster", "it"))).toEqual([]);
  });

  it("an autoscaler decides about spec.replicas", () => {
    const set = object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
      leaderWorkerTemplate: { size: 2, workerTemplate: template(1) },
    });
    const autoscaler = object("autoscaling/v2", "HorizontalPodAutoscaler", {
      scaleTargetRef: { apiVersion: "leaderworkerset.x-k8s.io/v1", kind: "LeaderWorkerSet", name: "it" },
      minReplicas: 1,
      maxReplicas: 2,
    });
    expect(pods(set, { replicas: "max" }, autoscaler)).toEqual(["it-0 1", "it-1 1", "it-0-1 1", "it-1-1 1"]);
    const { notes } = expandWorkloads([set, autoscaler], { replicas: "max" });
    expect(notes).toMatchObject([{ code: "replica-range", planned: 2, range: { least: 1, most: 2 } }]);
  });

  it("pods of jobs end by themselves, those of clusters and services do not", () => {
    const ends = (apiVersion: string, kind: string, spec: object) =>
      expandWorkloads([object(apiVersion, kind, spec)]).objects.every(({ object: pod }) =>
        isFiniteWork(pod as KubeObject & Pod),
      );
    expect(ends("ray.io/v1", "RayJob", { rayClusterSpec: ray })).toBe(true);
    expect(ends("ray.io/v1", "RayCluster", ray)).toBe(false);
    expect(ends("batch.volcano.sh/v1alpha1", "Job", { tasks: [{ name: "a", template: template(1) }] })).toBe(true);
    expect(ends("batch/v1", "Job", { template: template(1) })).toBe(true);
  });

  it.each<[string, KubeObject, readonly string[]]>([
    [
      "a typo in a pod",
      kubeflow("TFJob", "tfReplicaSpecs", {
        Worker: { template: { spec: { containers: [{ name: "a" }], nodeSelectr: {} } } },
      }),
      ["spec.tfReplicaSpecs.Worker.template.spec.nodeSelectr unknown-field"],
    ],
    [
      "replicas in quotes",
      object("batch.volcano.sh/v1alpha1", "Job", { tasks: [{ name: "a", replicas: "2", template: template(1) }] }),
      ["spec.tasks[0].replicas type"],
    ],
    [
      "fewer than none",
      object("ray.io/v1", "RayCluster", {
        workerGroupSpecs: [{ groupName: "a", replicas: -1, template: template(1) }],
      }),
      ["spec.workerGroupSpecs[0].replicas too-small"],
    ],
    [
      "a part without template",
      object("ray.io/v1", "RayCluster", { headGroupSpec: {} }),
      ["spec.headGroupSpec.template required"],
    ],
    [
      "memory that Spark cannot read",
      object("sparkoperator.k8s.io/v1beta2", "SparkApplication", spark({ driver: { memory: "1 gig" } })),
      ["spec.driver invalid-value"],
    ],
    ["no spec", { apiVersion: "ray.io/v1", kind: "RayCluster", metadata: {} }, ["spec required"]],
  ])("what is wrong is named with its place: %s", (_, one, expected) => {
    const { problems } = readInputObject(one, fields);
    expect(problems.map(({ code, path }) => `${formatPath(path)} ${code}`)).toEqual(expected);
  });

  it("too many groups are refused, not made one by one", () => {
    const jobs = Array.from({ length: 50 }, (_, at) => ({
      name: `j${at}`,
      replicas: 100_000,
      template: { spec: { parallelism: 100_000, template: template(1) } },
    }));
    const { problems } = expandWorkloads([object("jobset.x-k8s.io/v1alpha2", "JobSet", { replicatedJobs: jobs })]);
    expect(problems).toMatchObject([
      { problem: { code: "too-large", path: ["spec", "replicatedJobs", 0, "replicas"] } },
    ]);
  });
});

describe("pods of a SparkApplication", () => {
  const requestsOf = (more: object = {}) =>
    expandWorkloads([object("sparkoperator.k8s.io/v1beta2", "SparkApplication", spark(more))]).objects.map(
      ({ object: pod }) => (pod as KubeObject & Pod).spec.containers?.[0]?.resources?.requests?.["memory"],
    );

  it("memory is the heap and a tenth more, at least 384 MiB; two fifths for Python", () => {
    expect(requestsOf()).toEqual(["896Mi", "9011Mi", "9011Mi"]);
    expect(requestsOf({ type: "Python" })).toEqual(["896Mi", "11468Mi", "11468Mi"]);
    expect(requestsOf({ memoryOverheadFactor: "0.5" })).toEqual(["896Mi", "12288Mi", "12288Mi"]);
    expect(requestsOf({ executor: { memory: "2g", memoryOverhead: "1g" } })).toEqual(["896Mi", "3072Mi"]);
    expect(
      requestsOf({
        driver: {},
        executor: {},
        sparkConf: { "spark.driver.memory": "2048", "spark.executor.instances": "0" },
      }),
    ).toEqual(["2432Mi"]);
  });

  it("node selectors, labels, GPUs and a written template count", () => {
    const [driver, executor] = expandWorkloads([
      object("sparkoperator.k8s.io/v1beta2", "SparkApplication", {
        ...spark({ nodeSelector: { arch: "arm" } }),
        executor: {
          gpu: { name: "nvidia.com/gpu", quantity: 2 },
          labels: { team: "a" },
          template: { spec: { priorityClassName: "low", containers: [{ name: "main" }, { name: "side" }] } },
        },
      }),
    ]).objects.map(({ object: pod }) => pod as KubeObject & Pod);
    expect(driver?.spec.nodeSelector).toEqual({ arch: "arm", disk: "ssd" });
    expect(executor).toMatchObject({
      metadata: { labels: { team: "a", "spark-role": "executor" } },
      spec: {
        priorityClassName: "low",
        containers: [{ name: "main", resources: { requests: { cpu: "1", "nvidia.com/gpu": "2" } } }, { name: "side" }],
      },
    });
  });
});
