import { isSameJson } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { FieldPath } from "../../../api/problem.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import {
  forbiddenField,
  invalidValue,
  requiredValue,
  type StatusCause,
  unsupportedValue,
} from "../../api/api-errors.ts";
import { fieldAt, listAt, numberAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, type ObjectDraft, setDefaults } from "../object-draft.ts";
import type { KindTraits } from "./built-in-behaviour.ts";
import { templateDefaults } from "./pod-defaults.ts";
import { podSpecCauses } from "./pod-spec-causes.ts";
import { countTemplateGeneration } from "./stored-only-traits.ts";

const workloadTraits = { countsGenerations: true, hasStatus: true } as const;

/** Sets defaults of the pod template and of the spec around it. */
function workloadDefaults(draft: ObjectDraft, defaults: Readonly<JsonObject>): JsonObject {
  const spec = ensureRecord(draft, "spec");
  templateDefaults(spec);
  setDefaults(spec, defaults);
  return spec;
}

function strategyDefaults(strategy: JsonObject, rollingUpdate: Readonly<JsonObject>): void {
  setDefaults(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate") setDefaults(ensureRecord(strategy, "rollingUpdate"), rollingUpdate);
}

function podControllerCauses(draft: ObjectDraft, old: KubeObject | undefined): readonly StatusCause[] {
  return [...selectorCauses(draft, old), ...templateCauses(draft, ["Always"])];
}

export const deploymentTraits: KindTraits = {
  ...workloadTraits,
  defaults: (draft) => {
    const spec = workloadDefaults(draft, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    strategyDefaults(ensureRecord(spec, "strategy"), { maxUnavailable: "25%", maxSurge: "25%" });
  },
  check: (draft, old) => {
    const strategy = recordAt(draft.spec, "strategy");
    const causes: StatusCause[] = [...podControllerCauses(draft, old)];
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

export const replicaSetTraits: KindTraits = {
  ...workloadTraits,
  emptyStatus: { replicas: 0 },
  defaults: (draft) => void workloadDefaults(draft, { replicas: 1 }),
  check: podControllerCauses,
};

export const statefulSetTraits: KindTraits = {
  ...workloadTraits,
  emptyStatus: { replicas: 0, availableReplicas: 0 },
  defaults: (draft) => {
    const ownDefaults = { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" };
    const spec = workloadDefaults(draft, ownDefaults);
    strategyDefaults(ensureRecord(spec, "updateStrategy"), { partition: 0 });
    setDefaults(ensureRecord(spec, "persistentVolumeClaimRetentionPolicy"), {
      whenDeleted: "Retain",
      whenScaled: "Retain",
    });
    for (const claim of listAt(spec, "volumeClaimTemplates")) {
      setDefaults(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" });
      setDefaults(ensureRecord(claim, "spec"), { volumeMode: "Filesystem" });
      setDefaults(ensureRecord(claim, "status"), { phase: "Pending" });
    }
  },
  check: (draft, old) => [
    ...podControllerCauses(draft, old),
    ...unchangeableCauses(draft, old, {
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

export const daemonSetTraits: KindTraits = {
  ...workloadTraits,
  emptyStatus: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  defaults: (draft) => {
    const spec = workloadDefaults(draft, { revisionHistoryLimit: 10 });
    strategyDefaults(ensureRecord(spec, "updateStrategy"), { maxUnavailable: 1, maxSurge: 0 });
  },
  prepareCreate: (draft) => countTemplateGeneration(draft, false),
  prepareUpdate: (draft, old) =>
    countTemplateGeneration(draft, !isSameJson(recordAt(draft.spec, "template"), recordAt(old.spec, "template"))),
  check: podControllerCauses,
};

export const replicationControllerTraits: KindTraits = {
  ...workloadTraits,
  emptyStatus: { replicas: 0 },
  defaults: (draft) => {
    const spec = workloadDefaults(draft, { replicas: 1 });
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

export const jobTraits: KindTraits = {
  ...workloadTraits,
  defaults: (draft) => jobSpecDefaults(ensureRecord(draft, "spec")),
  prepareCreate: (draft) => {
    const spec = ensureRecord(draft, "spec");
    if (spec["manualSelector"] === true) return;
    spec["manualSelector"] = false;
    const { uid = "", name = "" } = draft.metadata;
    const labels = ensureRecord(ensureRecord(ensureRecord(spec, "template"), "metadata"), "labels");
    for (const key of ["controller-uid", jobLabels.controllerUid]) labels[key] = uid;
    for (const key of ["job-name", jobLabels.jobName]) labels[key] = name;
    spec["selector"] = { matchLabels: { [jobLabels.controllerUid]: uid } };
    draft.metadata.labels ??= { ...(labels as Record<string, string>) };
  },
  check: (draft, old) => [
    ...templateCauses(draft, ["OnFailure", "Never"]),
    ...["selector", "completions", "template", "completionMode"].flatMap((field) =>
      immutableCauses(draft, old, ["spec", field]),
    ),
    ...["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"].flatMap(
      (field) => notNegativeCauses(draft, ["spec", field]),
    ),
    ...indexCauses(draft),
  ],
};

/** Indexes are kept one by one, so that there may not be any number of them. */
const maxIndexes = 100_000;

function indexCauses({ spec }: ObjectDraft): readonly StatusCause[] {
  if (spec?.["completionMode"] !== "Indexed") return [];
  return ["parallelism", "completions"].flatMap((field) => {
    const count = spec[field];
    const isTooLarge = typeof count === "number" && count > maxIndexes;
    return isTooLarge ? [invalidValue(["spec", field], count, `must be less than or equal to ${maxIndexes}`)] : [];
  });
}

function jobSpecDefaults(spec: JsonObject): void {
  templateDefaults(spec);
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  setDefaults(spec, {
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: recordAt(spec, "podFailurePolicy") === undefined ? "TerminatingOrFailed" : "Failed",
  });
}

export const cronJobTraits: KindTraits = {
  ...workloadTraits,
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    setDefaults(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const job = ensureRecord(spec, "jobTemplate");
    ensureRecord(job, "metadata");
    templateDefaults(recordAt(job, "spec"));
  },
  check: (draft) => {
    const schedule = textAt(draft.spec, "schedule");
    const causes: StatusCause[] = [];
    if (schedule === "") causes.push(requiredValue(["spec", "schedule"]));
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

/** The selector is required, not empty, immutable, and matches the template's labels. */
function selectorCauses(draft: ObjectDraft, old: KubeObject | undefined): readonly StatusCause[] {
  const selector = recordAt(draft.spec, "selector");
  const path = ["spec", "selector"];
  const labels = (recordAt(draft.spec, "template", "metadata", "labels") ?? {}) as Record<string, string>;
  const mismatch = invalidText(
    ["spec", "template", "metadata", "labels"],
    labels,
    "`selector` does not match template `labels`",
  );
  if (selector === undefined) return [requiredValue(path), mismatch];
  if (Object.keys(selector).length === 0) {
    return [invalidValue(path, selector, "empty selector is invalid for deployment")];
  }
  const causes = [...immutableCauses(draft, old, path)];
  if (!compileSelector(selector).matches(labels)) causes.push(mismatch);
  return causes;
}

function invalidText(path: FieldPath, value: unknown, because: string): StatusCause {
  const cause = invalidValue(path, "", because);
  return { ...cause, message: `Invalid value: ${JSON.stringify(value)}: ${because}` };
}

function templateCauses(draft: ObjectDraft, restartPolicies: readonly string[]): readonly StatusCause[] {
  const path = ["spec", "template", "spec"];
  const template = recordAt(draft, ...path) ?? {};
  const causes = [...podSpecCauses(withClaims(template, draft), path)];
  const policy = textAt(template, "restartPolicy");
  // For Jobs "Always" is invalid, so the default counts as missing.
  if (policy === "Always" && !restartPolicies.includes(policy)) {
    const choices = restartPolicies.map((one) => JSON.stringify(one)).join(", ");
    causes.push(requiredValue([...path, "restartPolicy"], `valid values: ${choices}`));
  } else if (!restartPolicies.includes(policy)) {
    causes.push(unsupportedValue([...path, "restartPolicy"], policy, restartPolicies));
  }
  return [...causes, ...notNegativeCauses(draft, ["spec", "replicas"])];
}

/** Claim templates of a StatefulSet replace volumes of its pods with the same name. (05:CP-L3) */
function withClaims(template: JsonObject, draft: ObjectDraft): JsonObject {
  const volumes = listAt(template, "volumes");
  const names = new Set(volumes.map((volume) => textAt(volume, "name")));
  const claims = listAt(draft.spec, "volumeClaimTemplates").map((claim) => ({
    name: textAt(claim, "metadata", "name"),
  }));
  const added = claims.filter(({ name }) => !names.has(name));
  return added.length === 0 ? template : { ...template, volumes: [...volumes, ...added] };
}

function notNegativeCauses(draft: ObjectDraft, path: readonly string[]): readonly StatusCause[] {
  const value = numberAt(draft, ...path);
  return value === undefined || value >= 0 ? [] : [invalidValue(path, value, "must be greater than or equal to 0")];
}

/** An immutable field. */
export function immutableCauses(
  draft: ObjectDraft,
  old: KubeObject | undefined,
  path: readonly string[],
): readonly StatusCause[] {
  if (old === undefined) return [];
  const after = fieldAt(draft, ...path);
  return isSameJson(fieldAt(old, ...path), after) ? [] : [invalidText(path, after ?? null, "field is immutable")];
}

export function unchangeableCauses(
  draft: ObjectDraft,
  old: KubeObject | undefined,
  { fields, because }: { readonly fields: readonly string[]; readonly because: string },
): readonly StatusCause[] {
  if (old === undefined) return [];
  const rest = (spec: unknown): JsonObject =>
    Object.fromEntries(Object.entries((spec ?? {}) as JsonObject).filter(([field]) => !fields.includes(field)));
  return isSameJson(rest(old.spec), rest(draft.spec)) ? [] : [forbiddenField(["spec"], because)];
}
