import type { Conditioned } from "../../api/conditions/condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { closestMatch } from "../../api/manifest/closest-match.ts";
import type { KubeObject } from "../../api/object.ts";
import type { PoolSelection, UnusablePoolReason } from "../round/usable-pools.ts";
import type { OtherPool } from "./changes/other-pool-changes.ts";
import type { PoolFinding, UnusablePoolFinding } from "./explanation.ts";
import { missingClassStep, nodeClassStep } from "./node-class-steps.ts";

type UnusablePool = PoolSelection["unusable"][number];

const texts: Readonly<Record<Exclude<UnusablePoolReason, "not-ready">, string>> = {
  "foreign-class": "has a node class of another provider",
  static: "is static (spec.replicas): it keeps its own number of nodes and launches none for pods",
  deleting: "is being deleted",
};

/** Pools that launch nothing for pods, and why; of a class that is not ready, its own condition. (02:P-33) */
export function unusablePoolFindings(
  unusable: readonly UnusablePool[],
  nodeClasses: readonly KubeObject[],
): readonly PoolFinding[] {
  return unusable.map(({ pool, because }) => ({
    pool: pool.metadata.name ?? "",
    reasons: [
      {
        code: "pool-unusable",
        because,
        ...(because === "not-ready" ? notReady(pool, nodeClasses) : { text: texts[because] }),
      },
    ],
  }));
}

/** Unusable pools that a change would have serve pods, without their instance types. */
export function otherPoolDrafts(
  unusable: readonly UnusablePool[],
  nodeClasses: readonly KubeObject[],
): readonly OtherPool[] {
  return unusable.flatMap(({ pool, because }): readonly OtherPool[] => {
    if (because === "static") return [{ kind: "static", pool: { nodePool: pool, instanceTypes: [] } }];
    return because === "not-ready" ? classCorrections(pool, nodeClasses) : [];
  });
}

/** The pool with a class that exists in place of one that does not: the one that was meant, or the only one. */
function classCorrections(pool: NodePool, nodeClasses: readonly KubeObject[]): readonly OtherPool[] {
  const { template } = pool.spec;
  const { kind, name: missing } = template.spec.nodeClassRef;
  const names = nodeClasses.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name ?? "");
  if (names.includes(missing)) return [];
  const meant = closestMatch(missing, names);
  const name = meant ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) return [];
  const nodeClassRef = { ...template.spec.nodeClassRef, name };
  const spec = { ...pool.spec, template: { ...template, spec: { ...template.spec, nodeClassRef } } };
  const corrected = { nodePool: { ...pool, spec }, instanceTypes: [] };
  return [{ kind: "class-missing", pool: corrected, missing, isTypo: meant !== undefined }];
}

function notReady(pool: NodePool, nodeClasses: readonly KubeObject[]): Pick<UnusablePoolFinding, "text" | "nextStep"> {
  const { kind, name } = pool.spec.template.spec.nodeClassRef;
  const nodeClass = nodeClasses.find((one) => one.kind === kind && one.metadata.name === name);
  const own = failedCondition(nodeClass as Conditioned | undefined);
  if (own !== undefined)
    return {
      text: `is not Ready: ${kind} ${name} has ${own.text}`,
      nextStep: nodeClassStep({ kind, name, condition: own.type }),
    };
  const ofPool = failedCondition(pool as Conditioned);
  if (nodeClass === undefined && nodeClasses.length > 0)
    return { text: `is not Ready: there is no ${kind} ${name}`, nextStep: missingClassStep({ kind, name }) };
  const waits = `the controller has not checked it and its ${kind} ${name} yet`;
  return {
    text: `is not Ready: ${ofPool?.text ?? waits}`,
    nextStep: `look at its conditions: kubectl describe nodepool ${pool.metadata.name ?? ""}`,
  };
}

/** The condition that decides: not Ready itself, nor validation that only waits, which sum up others. */
function failedCondition(
  object: Conditioned | undefined,
): { readonly type: string; readonly text: string } | undefined {
  const failed = (object?.status?.conditions ?? []).filter(({ status }) => status !== "True");
  const isOwn = ({ type, reason }: (typeof failed)[number]): boolean =>
    type !== "Ready" && reason !== "DependenciesNotReady";
  const { type, status, reason = "", message = "" } = failed.find(isOwn) ?? failed[0] ?? {};
  if (type === undefined) return undefined;
  const why = [reason, message].filter((text) => text !== "" && text !== type).join(": ");
  return { type, text: `${type} ${status}${why === "" ? "" : ` (${why})`}` };
}
