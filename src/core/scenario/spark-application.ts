import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import type { Container, PodSpec } from "../../api/kubernetes/pod.ts";
import { isRecord } from "../../api/object.ts";
import type { FoundPart, NestedPart, PartPods } from "./nested-parts.ts";

type Fields = Readonly<Record<string, unknown>>;
type SparkRole = "driver" | "executor";

/** A driver and executors. Spark makes their pods from sizes; `at` leads to the spec of the application. */
export function sparkParts(at: readonly string[]): readonly NestedPart[] {
  const part = (role: SparkRole, podsOf: NestedPart["podsOf"]): NestedPart => ({
    at: [...at, role],
    template: ["template"],
    makeTemplate: (found) => sparkTemplate(role, found.fields, applicationOf(found, at)),
    counts: role === "executor" ? [["instances"]] : [],
    podsOf,
  });
  return [
    part("driver", (found) => sparkPods(found, "driver", 1)),
    part("executor", (found) => sparkPods(found, "exec", executors(found.fields, applicationOf(found, at)))),
  ];
}

function sparkPods({ name }: FoundPart, role: string, count: number): PartPods {
  const labels = { "spark-role": role === "exec" ? "executor" : role, "sparkoperator.k8s.io/app-name": name };
  return { name: `${name}-${role}`, count, labels };
}

function applicationOf({ spec }: FoundPart, at: readonly string[]): Fields {
  let found: unknown = spec;
  for (const step of at) found = isRecord(found) ? found[step] : undefined;
  return isRecord(found) ? found : {};
}

/** With dynamic allocation those it starts with. */
function executors(executor: Fields, { dynamicAllocation, sparkConf }: Fields): number {
  const written = numberOf(executor["instances"] ?? confOf(sparkConf, "spark.executor.instances"));
  const dynamic = isRecord(dynamicAllocation) && dynamicAllocation["enabled"] === true ? dynamicAllocation : undefined;
  if (dynamic === undefined) return written ?? 1;
  const started = [numberOf(dynamic["initialExecutors"]), numberOf(dynamic["minExecutors"]), written];
  return Math.max(0, ...started.map((count) => count ?? 0));
}

/** Undefined if an amount of memory cannot be read. */
function sparkTemplate(role: SparkRole, fields: Fields, application: Fields): PodTemplateSpec | undefined {
  const memoryMiB = memoryWithOverhead(role, fields, application);
  if (memoryMiB === undefined) return undefined;
  const { cores, coreRequest, coreLimit, gpu } = fields;
  const conf = (name: string): unknown => confOf(application["sparkConf"], `spark.${name}`);
  const cpu = coreRequest ?? conf(`kubernetes.${role}.request.cores`) ?? cores ?? conf(`${role}.cores`) ?? 1;
  const limit = coreLimit ?? conf(`kubernetes.${role}.limit.cores`);
  const gpus = isRecord(gpu) ? { [String(gpu["name"])]: String(gpu["quantity"]) } : {};
  const memory = `${memoryMiB}Mi`;
  const resources = {
    requests: { cpu: String(cpu), memory, ...gpus },
    limits: { memory, ...gpus, ...(limit !== undefined && { cpu: String(limit) }) },
  };
  return withSparkContainer(role, { fields, application, resources });
}

/** The written pod template, if there is one, with what Spark sets. */
function withSparkContainer(
  role: SparkRole,
  {
    fields,
    application,
    resources,
  }: { readonly fields: Fields; readonly application: Fields; readonly resources: NonNullable<Container["resources"]> },
): PodTemplateSpec {
  const written = isRecord(fields["template"]) ? (fields["template"] as unknown as Partial<PodTemplateSpec>) : {};
  const [first, ...others] = written.spec?.containers ?? [];
  const { affinity, tolerations, hostNetwork, schedulerName, labels, annotations } = fields;
  const nodeSelector = { ...recordOf(application["nodeSelector"]), ...recordOf(fields["nodeSelector"]) };
  const spec = {
    ...written.spec,
    ...(affinity !== undefined && { affinity }),
    ...(tolerations !== undefined && { tolerations }),
    ...(hostNetwork === true && { hostNetwork }),
    ...(schedulerName !== undefined && { schedulerName }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    restartPolicy: "Never",
    containers: [{ name: `spark-kubernetes-${role}`, ...first, resources }, ...others],
  } as PodSpec;
  return {
    metadata: {
      ...written.metadata,
      labels: { ...written.metadata?.labels, ...recordOf(labels) },
      annotations: { ...written.metadata?.annotations, ...recordOf(annotations) },
    },
    spec,
  };
}

/** Beside its heap a process needs a tenth more, or two fifths for Python and R, and at least this much. */
const leastOverheadMiB = 384;
const defaultMemory = "1g";

function memoryWithOverhead(role: SparkRole, fields: Fields, { type, memoryOverheadFactor, sparkConf }: Fields) {
  const conf = (name: string): unknown => confOf(sparkConf, `spark.${role}.${name}`);
  const heap = memoryMiBOf(fields["memory"] ?? conf("memory") ?? defaultMemory);
  if (heap === undefined) return undefined;
  const written = fields["memoryOverhead"] ?? conf("memoryOverhead");
  if (written !== undefined) {
    const overhead = memoryMiBOf(written);
    return overhead === undefined ? undefined : heap + overhead;
  }
  const usual = type === "Python" || type === "R" ? 0.4 : 0.1;
  const factor = Number(memoryOverheadFactor ?? conf("memoryOverheadFactor") ?? usual);
  return heap + Math.max(Math.floor((Number.isFinite(factor) ? factor : usual) * heap), leastOverheadMiB);
}

const unitsMiB: Readonly<Record<string, number>> = { "": 1, b: 2 ** -20, k: 2 ** -10, m: 1, g: 2 ** 10, t: 2 ** 20 };

/** As Java writes amounts: 512m, 4g; without a unit MiB. */
function memoryMiBOf(written: unknown): number | undefined {
  const [, amount = "", unit = ""] = /^(\d+)\s*([bkmgt]?)b?$/i.exec(String(written).trim()) ?? [];
  const factor = unitsMiB[unit.toLowerCase()];
  return amount === "" || factor === undefined ? undefined : Math.ceil(Number(amount) * factor);
}

function confOf(conf: unknown, key: string): unknown {
  return isRecord(conf) && Object.hasOwn(conf, key) ? conf[key] : undefined;
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 ? number : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, string>> {
  return isRecord(value) ? (value as Readonly<Record<string, string>>) : {};
}
