/** How closely a plan must resemble the expected one. */
export const levels = ["default", "strict", "exact"] as const;
export type Level = (typeof levels)[number];

/** A decision as the scenarios write it; more fields do no harm. */
export interface ScheduledNode {
  readonly nodePool: string;
  readonly pods: readonly string[];
  readonly instanceTypes: readonly string[];
  readonly price: number;
  readonly requirements: Readonly<Record<string, string>>;
}

export interface Schedule {
  readonly newNodes: readonly ScheduledNode[];
  readonly existingNodes: Readonly<Record<string, readonly string[]>>;
  readonly unschedulable: Readonly<Record<string, string>>;
  readonly totals: { readonly pricePerHour: number };
}

/** Paths in `free` are left to chance and not compared; `$1` in a requirement is any value, the same wherever it stands. */
export type Expected = Schedule & { readonly free?: readonly string[] };

const priceSlack = 1e-6;

/** What sets a schedule apart from the expected one at a level; empty when it passes. */
export function differences(expected: Expected, actual: Schedule, level: Level): readonly string[] {
  return new Comparison(expected, actual, level).run();
}

class Comparison {
  readonly #found: string[] = [];
  readonly #expected: Expected;
  readonly #actual: Schedule;
  readonly #level: Level;
  /** Label → variable → the value it stands for. */
  readonly #bindings = new Map<string, Map<string, string>>();

  constructor(expected: Expected, actual: Schedule, level: Level) {
    this.#expected = expected;
    this.#actual = actual;
    this.#level = level;
  }

  run(): readonly string[] {
    const { unschedulable, existingNodes, newNodes } = this.#expected;
    this.#same("unschedulable pods", Object.keys(unschedulable).sort(), Object.keys(this.#actual.unschedulable).sort());
    this.#same("existingNodes", placed(existingNodes), placed(this.#actual.existingNodes));
    this.#same("pods on new nodes", podsOn(newNodes), podsOn(this.#actual.newNodes));
    this.#nodes();
    if (this.#level === "exact") {
      for (const [pod, reason] of Object.entries(unschedulable)) {
        this.#same(`unschedulable.${pod}`, reason, withoutNumbers(this.#actual.unschedulable[pod]));
      }
    }
    return this.#found;
  }

  /** By default another grouping will do that takes no more nodes and costs no more. */
  #nodes(): void {
    const wanted = this.#expected.newNodes;
    const got = this.#actual.newNodes;
    const most = this.#expected.totals.pricePerHour;
    const cost = got.reduce((sum, { price }) => sum + price, 0);
    if (cost > most + priceSlack) this.#found.push(`costs ${cost}, expected at most ${most}`);
    if (this.#level === "default") {
      if (got.length > wanted.length) this.#found.push(`opens ${got.length} nodes, expected at most ${wanted.length}`);
      return;
    }
    const before = this.#found.length;
    this.#same("grouping", wanted.map(groupKey).sort(), got.map(groupKey).sort(), "newNodes.pods");
    if (this.#found.length > before || got.length !== wanted.length) return;
    const others = [...got].sort(byGroup);
    for (const [index, node] of [...wanted].sort(byGroup).entries()) {
      const other = others[index];
      // Where the grouping is left to chance, nodes cannot be told apart, and are not compared.
      if (other !== undefined && groupKey(node) === groupKey(other)) this.#node(node, other);
    }
  }

  #node(wanted: ScheduledNode, got: ScheduledNode): void {
    const where = `node of ${wanted.pods.join(" ")}`;
    for (const [key, text] of Object.entries(wanted.requirements ?? {})) {
      if (text.startsWith("$")) this.#bind(key, { variable: text, value: got.requirements[key], where });
    }
    const isExact = this.#level === "exact";
    const order = (types: readonly string[] = []): readonly string[] => (isExact ? types : [...types].sort());
    this.#same(
      `${where}: instanceTypes`,
      order(wanted.instanceTypes),
      order(got.instanceTypes),
      "newNodes.instanceTypes",
    );
    this.#price(where, wanted.price, got.price);
    if (!isExact) return;
    for (const key of new Set([...Object.keys(wanted.requirements ?? {}), ...Object.keys(got.requirements)])) {
      const path = `newNodes.requirements.${key}`;
      this.#same(`${where}: requirement ${key}`, wanted.requirements?.[key], got.requirements[key], path);
    }
  }

  #price(where: string, wanted: number | undefined, got: number): void {
    if (this.#isFree("newNodes.price") || wanted === undefined || Math.abs(wanted - got) <= priceSlack) return;
    this.#found.push(`${where}: price is ${got}, expected ${wanted}`);
  }

  /** One variable, one value; two variables, two values. */
  #bind(key: string, { variable, value, where }: { variable: string; value: string | undefined; where: string }): void {
    const known = this.#bindings.get(key) ?? new Map<string, string>();
    this.#bindings.set(key, known);
    const bound = known.get(variable);
    const taken = [...known].find(([other, text]) => other !== variable && text === value);
    if (value === undefined) this.#found.push(`${where}: nothing is said of ${key}`);
    else if (bound !== undefined && bound !== value)
      this.#found.push(`${where}: ${key} ${value} differs from ${bound}`);
    else if (taken !== undefined) this.#found.push(`${where}: ${key} ${value} is taken by ${taken[0]}`);
    else known.set(variable, value);
  }

  #same(what: string, wanted: unknown, got: unknown, path = what): void {
    if (this.#isFree(path) || JSON.stringify(wanted) === JSON.stringify(got)) return;
    this.#found.push(`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
  }

  /** A path is free if it is named, or something below it is. */
  #isFree(path: string): boolean {
    return (this.#expected.free ?? []).some((free) => free === path || free.startsWith(`${path}.`));
  }
}

function placed(nodes: Schedule["existingNodes"]): readonly unknown[] {
  return Object.keys(nodes)
    .sort()
    .map((node) => [node, [...(nodes[node] ?? [])].sort()]);
}

function podsOn(nodes: readonly ScheduledNode[]): readonly string[] {
  return nodes.flatMap(({ pods }) => pods ?? []).sort();
}

function groupKey({ nodePool, pods }: ScheduledNode): string {
  return `${nodePool} [${[...(pods ?? [])].sort().join(" ")}]`;
}

function byGroup(a: ScheduledNode, b: ScheduledNode): number {
  return groupKey(a) < groupKey(b) ? -1 : 1;
}

/** Placeholders are numbered as nodes are opened, which means nothing. */
function withoutNumbers(text: string | undefined): string | undefined {
  return text?.replace(/hostname-placeholder-\d+/g, "hostname-placeholder-N");
}
