import { differences, type Level, type ScheduledNode } from "./compare.ts";

/** What disruption would do, as the scenarios write it; more fields do no harm. */
export interface Disruption {
  readonly acts: string;
  readonly methods: readonly DisruptionMethodAnswer[];
}

interface DisruptionMethodAnswer {
  readonly method: string;
  readonly candidates: readonly string[];
  readonly budgets?: Readonly<Record<string, number>>;
  readonly commands: readonly CommandAnswer[];
  readonly events?: readonly { readonly object: string; readonly reason: string; readonly message?: string }[];
}

interface CommandAnswer {
  readonly decision: string;
  readonly nodes: readonly string[];
  readonly replacements: readonly (ScheduledNode & { readonly capacityType?: string })[];
  readonly existingNodes: Readonly<Record<string, readonly string[]>>;
  readonly savings: number;
}

export type ExpectedDisruption = Disruption & { readonly free?: readonly string[] };

/**
 * What sets an answer apart from the expected one at a level; empty when it passes. By default only the acting method is
 * compared, and its replacements may be fewer and cheaper.
 */
export function disruptionDifferences(
  expected: ExpectedDisruption,
  actual: Disruption,
  level: Exclude<Level, "exact">,
): readonly string[] {
  const found: string[] = [];
  const same = (what: string, wanted: unknown, got: unknown, path = what): void => {
    if (isFree(expected, path) || JSON.stringify(wanted) === JSON.stringify(got)) return;
    found.push(`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
  };
  same("acts", expected.acts, actual.acts);
  for (const wanted of expected.methods) {
    const { method } = wanted;
    if (level === "default" && method !== expected.acts) continue;
    const got = actual.methods.find((one) => one.method === method);
    if (level === "strict") {
      same(`${method}.candidates`, wanted.candidates, [...(got?.candidates ?? [])].sort());
      same(`${method}.budgets`, wanted.budgets ?? {}, got?.budgets ?? {});
    }
    const path = `methods.${method}.commands`;
    same(`${method}: number of commands`, wanted.commands.length, got?.commands.length, path);
    for (const [index, command] of wanted.commands.entries()) {
      const other = got?.commands[index];
      if (other === undefined) continue;
      const where = `${method} command ${index + 1}`;
      same(`${where}: decision`, command.decision, other.decision, `${path}.decision`);
      same(`${where}: nodes`, command.nodes, [...other.nodes].sort(), `${path}.nodes`);
      found.push(...replacementDifferences(where, { command, other, level, free: freeBelow(expected, path) }));
    }
  }
  return found;
}

/** Replacements and destinations are compared as the new nodes of a plan are. */
function replacementDifferences(
  where: string,
  options: {
    readonly command: CommandAnswer;
    readonly other: CommandAnswer;
    readonly level: "default" | "strict";
    readonly free: readonly string[];
  },
): readonly string[] {
  const { command, other, level, free } = options;
  const schedule = ({ replacements, existingNodes }: CommandAnswer) => ({
    newNodes: replacements,
    existingNodes: level === "default" ? {} : existingNodes,
    unschedulable: {},
    totals: { pricePerHour: replacements.reduce((sum, { price = 0 }) => sum + price, 0) },
  });
  const found = differences({ ...schedule(command), free }, schedule(other), level);
  const capacityTypes = ({ replacements }: CommandAnswer): string => replacements.map((one) => one.capacityType).join();
  const isOther = level === "strict" && capacityTypes(command) !== capacityTypes(other);
  return [...found, ...(isOther ? [`capacity types: ${capacityTypes(other)}`] : [])].map((one) => `${where}: ${one}`);
}

/** Paths below a command, as a plan names them. */
function freeBelow({ free = [] }: ExpectedDisruption, path: string): readonly string[] {
  return free
    .filter((one) => one.startsWith(`${path}.`))
    .map((one) => one.slice(path.length + 1).replace(/^replacements/, "newNodes"));
}

function isFree({ free = [] }: ExpectedDisruption, path: string): boolean {
  return free.some((one) => one === path || one.startsWith(`${path}.`));
}
