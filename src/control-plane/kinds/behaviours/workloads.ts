import type { KubeObject } from "../../../api/object.ts";
import type { Path } from "../../../api/problem.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import { type Cause, forbiddenField, invalidValue, required, unsupportedValue } from "../../api/failures.ts";
import { child, type Draft, defaultTo, type Json, listAt, numberAt, recordAt, sameJson, textAt } from "../draft.ts";
import type { Traits } from "./built-in.ts";
import { podSpecCauses } from "./pod-checks.ts";
import { templateDefaults } from "./pod-template.ts";
import { countTemplate } from "./stored.ts";

const workload = { countsGenerations: true, hasStatus: true } as const;

export const deploymentTraits: Traits = {
  ...workload,
  defaults: (draft) => {
    const spec = child(draft, "spec");
    templateDefaults(spec);
    defaultTo(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    const strategy = child(spec, "strategy");
    defaultTo(strategy, { type: "RollingUpdate" });
    if (strategy["type"] === "RollingUpdate") {
      defaultTo(child(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
    }
  },
  check: (draft, old) => {
    const strategy = recordAt(draft.spec, "strategy");
    const causes: Cause[] = [...selectorCauses(draft, old), ...templateCauses(draft, ["Always"])];
    const type = textAt(strategy, "type");
    if (type !== "RollingUpdate" && type !== "Recreate") {
      causes.push(unsupportedValue(["spec", "strategy", "type"], type, ["Recreate", "RollingUpdate"]));
    }
    if (type === "Recreate" && recordAt(strategy, "rollingUpdate") !== undefined) {
      const because = "may not be specified when strategy `type` is 'Recreate'";
      causes.push(forbiddenField(["spec", "strategy", "rollingUpdate"], because));
    }
    return causes;
  },
};

export const replicaSetTraits: Traits = {
  ...workload,
  emptyStatus: { replicas: 0 },
  defaults: (draft) => {
    const spec = child(draft, "spec");
    templateDefaults(spec);
    defaultTo(spec, { replicas: 1 });
  },
  check: (draft, old) => [...selectorCauses(draft, old), ...templateCauses(draft, ["Always"])],
};

export const statefulSetTraits: Traits = {
  ...workload,
  emptyStatus: { replicas: 0, availableReplicas: 0 },
  defaults: (draft) => {
    const spec = child(draft, "spec");
    templateDefaults(spec);
    defaultTo(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" });
    const strategy = child(spec, "updateStrategy");
    defaultTo(strategy, { type: "RollingUpdate" });
    if (strategy["type"] === "RollingUpdate") defaultTo(child(strategy, "rollingUpdate"), { partition: 0 });
    defaultTo(child(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
    for (const claim of listAt(spec, "volumeClaimTemplates")) {
      defaultTo(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" });
      defaultTo(child(claim, "spec"), { volumeMode: "Filesystem" });
      defaultTo(child(claim, "status"), { phase: "Pending" });
    }
  },
  check: (draft, old) => [
    ...selectorCauses(
      draft,
      old === undefined ? undefined : { ...old, spec: { selector: recordAt(old.spec, "selector") } },
    ),
    ...templateCauses(draft, ["Always"]),
    ...onlyMayChange(draft, old, {
      fields: [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
      ],
      because:
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    }),
  ],
};

export const daemonSetTraits: Traits = {
  ...workload,
  emptyStatus: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  defaults: (draft) => {
    const spec = child(draft, "spec");
    templateDefaults(spec);
    defaultTo(spec, { revisionHistoryLimit: 10 });
    const strategy = child(spec, "updateStrategy");
    defaultTo(strategy, { type: "RollingUpdate" });
    if (strategy["type"] === "RollingUpdate") {
      defaultTo(child(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
    }
  },
  prepareCreate: (draft) => countTemplate(draft, false),
  prepareUpdate: (draft, old) =>
    countTemplate(draft, !sameJson(recordAt(draft.spec, "template"), recordAt(old.spec, "template"))),
  check: (draft, old) => [...selectorCauses(draft, old), ...templateCauses(draft, ["Always"])],
};

export const replicationControllerTraits: Traits = {
  ...workload,
  emptyStatus: { replicas: 0 },
  defaults: (draft) => {
    const spec = child(draft, "spec");
    templateDefaults(spec);
    defaultTo(spec, { replicas: 1 });
    const labels = recordAt(spec, "template", "metadata", "labels") as Record<string, string> | undefined;
    if (labels === undefined) return;
    if (recordAt(spec, "selector") === undefined) spec["selector"] = { ...labels };
    draft.metadata.labels ??= { ...labels };
  },
};

const jobLabels = {
  controllerUid: "batch.kubernetes.io/controller-uid",
  jobName: "batch.kubernetes.io/job-name",
} as const;

export const jobTraits: Traits = {
  ...workload,
  defaults: (draft) => jobSpecDefaults(child(draft, "spec")),
  prepareCreate: (draft) => {
    const spec = child(draft, "spec");
    if (spec["manualSelector"] === true) return;
    spec["manualSelector"] = false;
    const { uid = "", name = "" } = draft.metadata;
    const labels = child(child(child(spec, "template"), "metadata"), "labels");
    for (const key of ["controller-uid", jobLabels.controllerUid]) labels[key] = uid;
    for (const key of ["job-name", jobLabels.jobName]) labels[key] = name;
    spec["selector"] = { matchLabels: { [jobLabels.controllerUid]: uid } };
    draft.metadata.labels ??= { ...(labels as Record<string, string>) };
  },
  check: (draft, old) => [
    ...templateCauses(draft, ["OnFailure", "Never"]),
    ...["selector", "completions", "template", "completionMode"].flatMap((field) =>
      immutable(draft, old, { path: ["spec", field] }),
    ),
    ...(
      ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"] as const
    ).flatMap((field) => notNegative(draft, ["spec", field])),
  ],
};

function jobSpecDefaults(spec: Json): void {
  templateDefaults(spec);
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  defaultTo(spec, {
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: recordAt(spec, "podFailurePolicy") === undefined ? "TerminatingOrFailed" : "Failed",
  });
}

export const cronJobTraits: Traits = {
  ...workload,
  defaults: (draft) => {
    const spec = child(draft, "spec");
    defaultTo(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const job = child(spec, "jobTemplate");
    child(job, "metadata");
    templateDefaults(recordAt(job, "spec"));
  },
  check: (draft) => {
    const schedule = textAt(draft.spec, "schedule");
    const causes: Cause[] = [];
    if (schedule === "") causes.push(required(["spec", "schedule"]));
    else if (!/^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(schedule)) {
      const isFive =
        schedule
          .replace(/^(TZ|CRON_TZ)=\S+\s+/, "")
          .trim()
          .split(/\s+/).length === 5;
      if (!isFive) causes.push(invalidValue(["spec", "schedule"], schedule, "expected exactly 5 fields"));
    }
    const policy = textAt(draft.spec, "concurrencyPolicy");
    const policies = ["Allow", "Forbid", "Replace"];
    if (!policies.includes(policy)) causes.push(unsupportedValue(["spec", "concurrencyPolicy"], policy, policies));
    const template = recordAt(draft.spec, "jobTemplate", "spec", "template", "spec") ?? {};
    return [...causes, ...podSpecCauses(template, ["spec", "jobTemplate", "spec", "template", "spec"])];
  },
};

/** Required, not empty, never changed, and true of the template. */
function selectorCauses(draft: Draft, old: KubeObject | undefined): readonly Cause[] {
  const selector = recordAt(draft.spec, "selector");
  const path = ["spec", "selector"];
  const labels = (recordAt(draft.spec, "template", "metadata", "labels") ?? {}) as Record<string, string>;
  const mismatch = invalidText(
    ["spec", "template", "metadata", "labels"],
    labels,
    "`selector` does not match template `labels`",
  );
  if (selector === undefined) return [required(path), mismatch];
  if (Object.keys(selector).length === 0) {
    return [invalidValue(path, selector, "empty selector is invalid for deployment")];
  }
  const causes = [...immutable(draft, old, { path })];
  if (!compileSelector(selector).matches(labels)) causes.push(mismatch);
  return causes;
}

function invalidText(path: Path, value: unknown, because: string): Cause {
  const cause = invalidValue(path, "", because);
  return { ...cause, message: `Invalid value: ${JSON.stringify(value)}: ${because}` };
}

function templateCauses(draft: Draft, restartPolicies: readonly string[]): readonly Cause[] {
  const path = ["spec", "template", "spec"];
  const template = recordAt(draft, ...path) ?? {};
  const causes = [...podSpecCauses(withClaims(template, draft), path)];
  const policy = textAt(template, "restartPolicy");
  // Jobs have to say it: the default is not for them.
  if (policy === "Always" && !restartPolicies.includes(policy)) {
    const choices = restartPolicies.map((one) => JSON.stringify(one)).join(", ");
    causes.push(required([...path, "restartPolicy"], `valid values: ${choices}`));
  } else if (!restartPolicies.includes(policy)) {
    causes.push(unsupportedValue([...path, "restartPolicy"], policy, restartPolicies));
  }
  return [...causes, ...notNegative(draft, ["spec", "replicas"])];
}

/** The claims of a StatefulSet are volumes of its pods, in place of those of the same name. (05:CP-L3) */
function withClaims(template: Json, draft: Draft): Json {
  const volumes = listAt(template, "volumes");
  const names = new Set(volumes.map((volume) => textAt(volume, "name")));
  const claims = listAt(draft.spec, "volumeClaimTemplates").map((claim) => ({
    name: textAt(claim, "metadata", "name"),
  }));
  const added = claims.filter(({ name }) => !names.has(name));
  return added.length === 0 ? template : { ...template, volumes: [...volumes, ...added] };
}

export function notNegative(draft: Draft, path: readonly string[]): readonly Cause[] {
  const value = numberAt(draft, ...path);
  return value === undefined || value >= 0 ? [] : [invalidValue(path, value, "must be greater than or equal to 0")];
}

/** The field of an update has to stay as it was. */
export function immutable(
  draft: Draft,
  old: KubeObject | undefined,
  { path }: { readonly path: readonly string[] },
): readonly Cause[] {
  if (old === undefined) return [];
  const [before, after] = [valueAt(old, path), valueAt(draft, path)];
  if (sameJson(before, after)) return [];
  return [invalidText(path, after ?? null, "field is immutable")];
}

export function onlyMayChange(
  draft: Draft,
  old: KubeObject | undefined,
  { fields, because }: { readonly fields: readonly string[]; readonly because: string },
): readonly Cause[] {
  if (old === undefined) return [];
  const rest = (spec: unknown): Json =>
    Object.fromEntries(Object.entries((spec ?? {}) as Json).filter(([field]) => !fields.includes(field)));
  return sameJson(rest(old.spec), rest(draft.spec)) ? [] : [forbiddenField(["spec"], because)];
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  const parent = recordAt(object, ...path.slice(0, -1));
  const last = path.at(-1) ?? "";
  return parent !== undefined && Object.hasOwn(parent, last) ? parent[last] : undefined;
}
