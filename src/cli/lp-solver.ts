import type { LinearConstraint, LinearProgram, SolveLp } from "../core/bound/linear-program.ts";

/** HiGHS, compiled to WebAssembly; imported only when used, because it is large. */
export async function lpSolver(): Promise<SolveLp> {
  const { default: module } = await import("highs");
  // Its types describe the CommonJS build, where the function is one level further down.
  const load = module as unknown as typeof module.default;
  const highs = await load();
  return async (program) => {
    const { Status, ObjectiveValue } = highs.solve(lpText(program), { output_flag: false });
    if (Status === "Infeasible") return undefined;
    if (Status !== "Optimal") throw new Error(`the linear program was not solved: ${Status}`);
    return ObjectiveValue;
  };
}

/** The program in CPLEX LP format. */
function lpText({ costs, rows }: LinearProgram): string {
  const objective = costs.flatMap((cost, variable) => (cost === 0 ? [] : [`${signed(cost)} x${variable}`]));
  const lines = rows.map((row, index) => ` r${index}: ${rowText(row)}`);
  return [
    "Minimize",
    ` cost: ${wrapped(objective.length === 0 ? ["0 x0"] : objective)}`,
    "Subject To",
    ...lines,
    "End",
    "",
  ].join("\n");
}

function rowText({ terms, relation, rightHandSide }: LinearConstraint): string {
  const texts = terms.map(({ variable, coefficient }) => `${signed(coefficient)} x${variable}`);
  return `${wrapped(texts.length === 0 ? ["0 x0"] : texts)} ${relation} ${rightHandSide}`;
}

function signed(value: number): string {
  return value < 0 ? `- ${-value}` : `+ ${value}`;
}

/** LP format limits the length of a line. */
function wrapped(texts: readonly string[]): string {
  return texts.map((text, at) => (at > 0 && at % 8 === 0 ? `\n  ${text}` : text)).join(" ");
}
