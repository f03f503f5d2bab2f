import { type BuiltInFields, builtInDefinition } from "../../api/kubernetes/built-in-fields.ts";
import { closestMatch } from "../../api/manifest/closest-match.ts";
import { apiGroupOf, type KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { scenarioApiVersions } from "./scenario-kind.ts";

/** Groups of Kubernetes whose kinds we all know; kinds of others may be anybody's. */
const builtInGroups: ReadonlySet<string> = new Set(["", "apps", "batch", "autoscaling", "policy"]);

/** A kind of Kubernetes in a version that it does not have: its fields would be read unchecked. */
export function unknownVersionProblem({ apiVersion, kind }: KubeObject): Problem | undefined {
  const known = scenarioApiVersions.get(kind);
  if (known === undefined || apiGroupOf(known) !== apiGroupOf(apiVersion)) return undefined;
  const message = `there is no kind ${kind} in ${JSON.stringify(apiVersion)}; did you mean apiVersion ${known}?`;
  return { code: "unknown-kind", path: ["apiVersion"], message };
}

/** A kind that Kubernetes does not have in this group, though a plan reads one that is written much like it. */
export function misnamedKindProblem({ apiVersion, kind }: KubeObject, fields: BuiltInFields): Problem | undefined {
  const group = apiGroupOf(apiVersion);
  if (!builtInGroups.has(group)) return undefined;
  if (["v1", "v2"].some((version) => fields.has(builtInDefinition({ group, version, kind })))) return undefined;
  const near = closestMatch(kind, scenarioApiVersions.keys());
  if (near === undefined) return undefined;
  const meant = near === kind ? `apiVersion ${scenarioApiVersions.get(near)}` : near;
  const path = near === kind ? ["apiVersion"] : ["kind"];
  return { code: "unknown-kind", path, message: `there is no kind ${kind} in ${apiVersion}; did you mean ${meant}?` };
}
