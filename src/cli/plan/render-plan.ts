import { stringify } from "yaml";
import { nodeClaimOf, staticNodeClaimOf } from "../../core/round/node-claims.ts";
import { isStaticPool } from "../../core/round/static-pools.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { Random } from "../../util/random.ts";
import type { Plan } from "./make-plan.ts";
import type { PlanOutput } from "./plan-choices.ts";
import type { PlanReport } from "./plan-report.ts";
import { renderPlanTable } from "./render-plan-table.ts";

/** Renders the plan in the requested format. */
export function renderPlan(
  plan: Plan,
  report: PlanReport,
  { output, color }: { output: PlanOutput; color: boolean },
): string {
  switch (output) {
    case "table":
    case "wide":
      return renderPlanTable(report, { wide: output === "wide", color });
    case "json":
      return `${JSON.stringify(report, null, 2)}\n`;
    case "yaml":
      return stringify(report, { lineWidth: 0, aliasDuplicateObjects: false });
    case "nodeclaims":
      return nodeClaimsYaml(plan);
  }
}

function nodeClaimsYaml({ objects, decision, scenario: { problem, overlaid } }: Plan): string {
  const pools = new Map(new ObjectsByKind(objects).ofKind("NodePool").map((pool) => [pool.metadata.name, pool]));
  const random = new Random(problem.seed).fork("node-claim-labels");
  const { labelPolicy: policy } = problem;
  return decision.newNodes
    .flatMap((node) => {
      const pool = pools.get(node.pool);
      if (pool === undefined) return [];
      const isStatic = isStaticPool(pool);
      return [
        isStatic ? staticNodeClaimOf(pool, { policy, random }) : nodeClaimOf(node, { pool, policy, random, overlaid }),
      ];
    })
    .map((claim) => stringify(claim, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join("---\n");
}
