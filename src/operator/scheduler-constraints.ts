import { parse } from "yaml";
import type { TopologySpreadConstraint } from "../api/kubernetes/pod.ts";
import { formatPath } from "../api/problem.ts";
import { readSchedulerConfig } from "../core/default-constraints.ts";
import { errorMessage } from "../util/error-text.ts";

export type SchedulerConstraints =
  | { readonly kind: "read"; readonly constraints: readonly TopologySpreadConstraint[] }
  | { readonly kind: "refused"; readonly problems: readonly string[] };

/** `--scheduler-config`: the configuration itself, or the path of its file. A single YAML scalar is taken as a path. (02:X-50) */
export async function schedulerConstraints(
  text: string,
  readFile: (path: string) => Promise<string | undefined>,
): Promise<SchedulerConstraints> {
  const given = parseConfig(text);
  if (given.kind === "refused" || typeof given.value !== "string") return constraintsOf(given);
  const content = await readFile(given.value);
  if (content === undefined) return { kind: "refused", problems: [`there is no file ${given.value}`] };
  return constraintsOf(parseConfig(content));
}

type ParsedConfig =
  | { readonly kind: "parsed"; readonly value: unknown }
  | Extract<SchedulerConstraints, { kind: "refused" }>;

function parseConfig(text: string): ParsedConfig {
  try {
    return { kind: "parsed", value: parse(text) };
  } catch (error) {
    return { kind: "refused", problems: [`invalid YAML: ${errorMessage(error).split("\n", 1)[0]}`] };
  }
}

function constraintsOf(given: ParsedConfig): SchedulerConstraints {
  if (given.kind === "refused") return given;
  const config = readSchedulerConfig(given.value);
  if (config.kind === "read") return config;
  return {
    kind: "refused",
    problems: config.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`.replace(/^: /, "")),
  };
}
