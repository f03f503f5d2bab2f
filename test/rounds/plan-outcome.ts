import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { plan } from "../scenarios/run.ts";
import { appOf, counted, type Outcome, reasonOf } from "./outcome.ts";

/** What `plan` says of these objects. */
export async function plannedOutcome(
  objects: readonly KubeObject[],
  { args = [] }: { readonly args?: readonly string[] } = {},
): Promise<Outcome> {
  const text = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const ran = await plan(["-f", "in.json", "-o", "json", ...args], { files: { "in.json": text } });
  if (ran.out === "") throw new Error(`exit ${ran.code}\n${ran.err}`);
  const { newNodes, refusals } = JSON.parse(ran.out) as PlanReport;
  return {
    nodes: newNodes.map(({ nodePool, instanceType = "", capacityType = "", zones }) => ({
      pool: nodePool,
      type: instanceType,
      capacityType,
      zones,
    })),
    refused: counted(
      refusals
        .filter(({ pod }) => !pod.includes("/capacity-buffer-"))
        .map(({ pod, message }) => `${appOfPlanned(pod, objects)}: ${reasonOf(message)}`),
    ),
  };
}

/** `default/web-3` is a pod of the app web. */
function appOfPlanned(key: string, objects: readonly KubeObject[]): string {
  const name = key.slice(key.indexOf("/") + 1);
  const own = objects.find((one) => one.kind === "Pod" && one.metadata.name === name) as (KubeObject & Pod) | undefined;
  return own === undefined ? name.replace(/-\d+$/, "") : appOf(own.metadata);
}
