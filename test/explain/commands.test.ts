import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { commandsFor } from "../../src/core/explain/commands/suggestion-commands.ts";
import type { FindObject } from "../../src/core/explain/commands/template-owner.ts";
import type { Edit } from "../../src/core/explain/edit.ts";

type Spec = Readonly<Record<string, unknown>>;

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app" }] } };

function object(kind: string, name: string, spec: Spec, owner?: readonly [kind: string, name: string]): KubeObject {
  const groups: Readonly<Record<string, string>> = {
    Pod: "v1",
    Job: "batch/v1",
    CronJob: "batch/v1",
    Rollout: "argoproj.io/v1alpha1",
    Postgres: "db.example.com/v1",
  };
  const [ownerKind, ownerName = ""] = owner ?? [];
  const ownerReferences =
    ownerKind === undefined
      ? {}
      : {
          ownerReferences: [
            {
              apiVersion: groups[ownerKind] ?? "apps/v1",
              kind: ownerKind,
              name: ownerName,
              uid: ownerName,
              controller: true,
            },
          ],
        };
  return {
    apiVersion: groups[kind] ?? "apps/v1",
    kind,
    metadata: { name, namespace: "shop", ...ownerReferences },
    spec,
  };
}

/** What admission adds to pods. */
const podSpec = {
  containers: [{ name: "proxy" }, { name: "app", resources: { requests: { cpu: "4" } } }],
  tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }],
};

function ask(operations: readonly Omit<Edit, "object">[], ...objects: readonly KubeObject[]) {
  const find: FindObject = ({ kind, name }) => objects.find((one) => one.kind === kind && one.metadata.name === name);
  return commandsFor(
    operations.map((one) => ({ object: { kind: "Pod", namespace: "shop", name: "p" }, ...one })),
    find,
  );
}

const tolerate = { op: "add", path: "/spec/tolerations/-", value: { key: "a", operator: "Exists" } } as const;
const lower = { op: "replace", path: "/spec/containers/1/resources/requests/cpu", value: "2" } as const;
const pod = (...owner: readonly [kind: string, name: string] | readonly []) =>
  object("Pod", "p", podSpec, owner.length === 0 ? undefined : owner);
const ownedSet = object("ReplicaSet", "web-1", { template }, ["Deployment", "web"]);

describe("commands of a suggestion", () => {
  it("change the Deployment, not its ReplicaSet, as its own template is written", () => {
    const deployment = object("Deployment", "web", { template });
    expect(ask([tolerate, lower], pod("ReplicaSet", "web-1"), ownedSet, deployment)).toEqual({
      commands: [
        `kubectl patch deployment web -n shop --type=json -p '[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"key":"a","operator":"Exists"}]},{"op":"add","path":"/spec/template/spec/containers/0/resources","value":{"requests":{"cpu":"2"}}}]'`,
      ],
      remarks: [],
    });
  });

  it.each([
    [
      "a paused Deployment",
      [ownedSet, object("Deployment", "web", { template, paused: true })],
      ["ReplicaSet", "web-1"],
      ["kubectl patch deployment web", "kubectl rollout resume deployment web -n shop"],
    ],
    [
      "a ReplicaSet of nobody",
      [object("ReplicaSet", "rs", { template })],
      ["ReplicaSet", "rs"],
      ["kubectl patch replicaset rs", "kubectl delete pod p -n shop"],
    ],
    [
      "a StatefulSet, which waits for its pods",
      [object("StatefulSet", "db", { template })],
      ["StatefulSet", "db"],
      ["kubectl patch statefulset db", "kubectl delete pod p -n shop"],
    ],
    [
      "a StatefulSet that does not",
      [object("StatefulSet", "db", { template, podManagementPolicy: "Parallel" })],
      ["StatefulSet", "db"],
      ["kubectl patch statefulset db"],
    ],
    [
      "a CronJob",
      [
        object("Job", "run-1", { template }, ["CronJob", "run"]),
        object("CronJob", "run", { jobTemplate: { spec: { template } } }),
      ],
      ["Job", "run-1"],
      [
        "kubectl patch cronjob run",
        "kubectl delete job run-1 -n shop",
        "kubectl create job run-1 -n shop --from=cronjob/run",
      ],
    ],
    [
      "a Rollout",
      [object("ReplicaSet", "web-1", { template }, ["Rollout", "web"]), object("Rollout", "web", { template })],
      ["ReplicaSet", "web-1"],
      ["kubectl patch rollout.argoproj.io web"],
    ],
    [
      "a Rollout of a Deployment",
      [
        object("ReplicaSet", "web-1", { template }, ["Rollout", "web"]),
        object("Rollout", "web", { workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name: "base" } }),
        object("Deployment", "base", { template }),
      ],
      ["ReplicaSet", "web-1"],
      ["kubectl patch deployment base"],
    ],
  ] as const)("change %s", (_, objects, owner, expected) => {
    const made = ask([tolerate], pod(...owner), ...objects);
    const commands = typeof made === "string" ? [made] : made.commands;
    expect(commands.map((one, index) => one.slice(0, expected[index]?.length))).toEqual(expected);
  });

  it("replace what cannot be changed: a Job, and most of a pod of its own", () => {
    const labels = { app: "web", "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u" };
    const job = object("Job", "run", {
      selector: { matchLabels: { "controller-uid": "u" } },
      template: { ...template, metadata: { labels } },
    });
    const made = ask([tolerate], pod("Job", "run"), job);
    expect(made).toMatchObject({ remarks: ["Job run starts over, since its template cannot be changed"] });
    expect(JSON.stringify(made)).toMatch(
      /controller-uid.*selector\W+null.*--dry-run=client -o json \| kubectl replace --force -f -/,
    );
    expect(ask([lower], pod())).toMatchObject({
      commands: [expect.stringMatching(/^kubectl patch pod p .*replace --force -f -$/)],
    });
    expect(ask([tolerate], pod())).toMatchObject({ commands: [expect.stringMatching(/^kubectl patch pod p [^|]*$/)] });
  });

  it("say who may undo the change", () => {
    const owned = object("StatefulSet", "db", { template }, ["Postgres", "main"]);
    expect(ask([tolerate], pod("StatefulSet", "db"), owned)).toMatchObject({
      remarks: ["StatefulSet db belongs to Postgres main, which may undo the change: make it there too"],
    });
  });

  it("are none where the template has nothing of it, or its selector would no longer match", () => {
    const deployment = object("Deployment", "web", { template, selector: { matchLabels: { app: "web" } } });
    const objects = [pod("ReplicaSet", "web-1"), ownedSet, deployment];
    expect(ask([{ ...lower, path: "/spec/containers/0/resources/requests/cpu" }], ...objects)).toBe("not-applicable");
    expect(ask([{ op: "remove", path: "/spec/tolerations/0" }], ...objects)).toBe("not-applicable");
    expect(ask([{ op: "remove", path: "/metadata/labels/app" }], ...objects)).toBe("not-applicable");
    expect(ask([tolerate], pod("Postgres", "main"))).toBe("unknown-owner");
  });

  it("are none for a label that a RuntimeClass puts into every pod that names it", () => {
    const nodeSelector = { runtime: "kata", team: "blue" };
    const spec = { containers: [{ name: "app" }], runtimeClassName: "kata", nodeSelector };
    const runtimeClass = { ...object("RuntimeClass", "kata", {}), scheduling: { nodeSelector: { runtime: "kata" } } };
    const objects = [object("Pod", "p", spec), runtimeClass];
    expect(ask([{ op: "remove", path: "/spec/nodeSelector/runtime" }], ...objects)).toBe("not-applicable");
    expect(ask([{ op: "replace", path: "/spec/nodeSelector/runtime", value: "runc" }], ...objects)).toBe(
      "not-applicable",
    );
    expect(ask([{ op: "remove", path: "/spec/nodeSelector/team" }], ...objects)).not.toBe("not-applicable");
  });

  describe("for pods of one workload that run and refuse the changed one beside them", () => {
    const edit = { op: "remove", path: "/spec/affinity" } as const;
    const affinity = { podAntiAffinity: {} };
    const ownTemplate = { ...template, spec: { ...template.spec, affinity } };
    const askTwo = (owner: KubeObject, ...more: readonly KubeObject[]) => {
      const [kind, name] = [more[0]?.kind ?? owner.kind, more[0]?.metadata.name ?? owner.metadata.name ?? ""];
      const pods = ["p", "q"].map((pod) => object("Pod", pod, { ...podSpec, affinity }, [kind, name]));
      const objects = [...pods, owner, ...more];
      const edits = pods.map(
        ({ metadata }): Edit => ({
          object: { kind: "Pod", namespace: "shop", name: metadata.name ?? "", workload: { kind, name } },
          ...edit,
        }),
      );
      const find: FindObject = (wanted) =>
        objects.find((one) => one.kind === wanted.kind && one.metadata.name === wanted.name);
      return commandsFor(edits, find, "shop/p");
    };

    it("let a Deployment take one more away than is missing", () => {
      const made = askTwo(
        object("Deployment", "web", { template: ownTemplate, replicas: 2 }),
        object("ReplicaSet", "web-1", { template: ownTemplate }, ["Deployment", "web"]),
      );
      expect(made).toMatchObject({
        commands: [
          `kubectl patch deployment web -n shop --type=merge -p '{"spec":{"template":{"spec":{"affinity":null}},"strategy":{"rollingUpdate":{"maxUnavailable":2}}}}'`,
        ],
        remarks: [expect.stringContaining("2 may be missing meanwhile")],
      });
    });

    it("make all pods of a ReplicaSet anew", () => {
      expect(askTwo(object("ReplicaSet", "rs", { template: ownTemplate }))).toMatchObject({
        commands: [
          expect.stringMatching(/^kubectl patch replicaset rs /),
          "kubectl delete pod p -n shop",
          "kubectl delete pod q -n shop",
        ],
      });
    });

    it("are none for a StatefulSet, which would wait for ever", () => {
      expect(askTwo(object("StatefulSet", "db", { template: ownTemplate }))).toBe("not-applicable");
    });
  });

  it("find an entry of a list that has more in the pod than in the template", () => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const written = { metadata: { labels: {} }, spec: { containers: [{ name: "app", ports }] } };
    const spec = { containers: [{ name: "app", ports: ports.map((port) => ({ ...port, protocol: "TCP" })) }] };
    const made = ask(
      [{ op: "remove", path: "/spec/containers/0/ports/0/hostPort" }],
      object("Pod", "p", spec, ["ReplicaSet", "rs"]),
      object("ReplicaSet", "rs", { template: written }),
    );
    expect(made).toMatchObject({
      commands: [expect.stringContaining("/spec/template/spec/containers/0/ports/0/hostPort"), expect.anything()],
    });
  });

  it("quote for a shell, and use a merge patch where no list is touched", () => {
    const find: FindObject = () => ({
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "a" },
      spec: { limits: { cpu: "1" } },
    });
    const pool = { kind: "NodePool", name: "a" } as const;
    const edits: readonly Edit[] = [
      { object: pool, op: "replace", path: "/spec/limits/cpu", value: "it's" },
      { object: pool, op: "remove", path: "/spec/weight" },
    ];
    expect(commandsFor(edits, find)).toMatchObject({
      commands: [`kubectl patch nodepool a --type=merge -p '{"spec":{"limits":{"cpu":"it'\\''s"},"weight":null}}'`],
    });
  });
});
