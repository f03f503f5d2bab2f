/** What one rule may cost, and all rules of an object together, as in Kubernetes. (05:CP-S3) */
export const celCostLimits = { perRule: 1_000_000, perObject: 10_000_000 } as const;

/** Counts what evaluation costs. A unit is about one step; texts count a tenth of a unit a character. */
export class CelMeter {
  #left = 0;

  /** Begins a rule that may cost so much. */
  start(limit: number): void {
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  get isExhausted(): boolean {
    return this.#left < 0;
  }

  /** Throws once the limit is reached; operators that swallow errors then fail again at their next step. */
  charge(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw costExceeded;
  }
}

/** One object for all: a comprehension may catch it thousands of times, and a stack trace each time is expensive. */
const costExceeded = Object.freeze(new Error("operation cancelled: actual cost limit exceeded"));

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;

/** What we use of the library's syntax tree. */
interface CelNode {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
  evaluate: Evaluate;
}

/**
 * Makes every step of a parsed expression charge the meter. The library evaluates a node by its `evaluate`, which it
 * replaces by a faster one at the first call; both go through ours.
 */
export function meterNodes(root: unknown, meter: CelMeter): void {
  const seen = new Set<unknown>();
  const metered = new Map<unknown, MeteredNode>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null || seen.has(part)) return;
    seen.add(part);
    if (Array.isArray(part)) part.forEach(visit);
    else if (isNode(part)) {
      [part.args, part.meta.alternate, part.meta.macro].forEach(visit); // operands first
      const operands = operandsOf(part).flatMap((operand) => metered.get(operand) ?? []);
      metered.set(part, new MeteredNode(part, { operands, meter }));
    } else Object.values(part).forEach(visit);
  };
  visit(root);
}

function isNode(part: object): part is CelNode {
  return "op" in part && "meta" in part && typeof part.meta === "object" && part.meta !== null;
}

const binaryOperators: ReadonlySet<string> = new Set(["==", "!=", "in", "<", "<=", ">", ">=", "+"]);

/** The operands of a node whose cost depends on them; macros such as `all` cost what their steps cost. */
function operandsOf({ op, args, meta }: CelNode): readonly unknown[] {
  if (!Array.isArray(args) || meta.alternate !== undefined || meta.macro !== undefined) return [];
  if (binaryOperators.has(op)) return args;
  return op === "call" || op === "rcall" ? args.slice(1).flat() : [];
}

class MeteredNode {
  readonly #node: CelNode;
  readonly #operands: readonly MeteredNode[];
  readonly #meter: CelMeter;
  /** The value, while the node it is an operand of is evaluated. */
  #value: unknown;
  #isOperand = false;
  #inner: Evaluate;

  constructor(node: CelNode, { operands, meter }: { operands: readonly MeteredNode[]; meter: CelMeter }) {
    this.#node = node;
    this.#operands = operands;
    this.#meter = meter;
    this.#inner = node.evaluate;
    for (const operand of operands) operand.#isOperand = true;
    const evaluate: Evaluate = (evaluator, self, context) => this.#evaluate(evaluator, self, context);
    const set = (faster: Evaluate): void => {
      this.#inner = faster;
    };
    Object.defineProperty(node, "evaluate", { get: () => evaluate, set });
  }

  #evaluate(evaluator: unknown, self: unknown, context: unknown): unknown {
    this.#meter.charge(1);
    const value = this.#inner.call(this.#node, evaluator, self, context);
    if (this.#operands.length > 0) this.#meter.charge(this.#cost(value));
    if (this.#isOperand) this.#value = value;
    return value;
  }

  /** Charged when it has been done: a single operation is short, because objects are limited. */
  #cost(result: unknown): number {
    const limit = this.#meter.left + 1;
    const values = this.#operands.map((operand) => operand.#takeValue());
    switch (this.#node.op) {
      case "==":
      case "!=":
        return Math.min(...values.map((value) => deepCost(value, limit)));
      case "in":
        return deepCost(values[1], limit);
      default:
        return values.reduce<number>((sum, value) => sum + shallowCost(value), shallowCost(result));
    }
  }

  #takeValue(): unknown {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }
}

function shallowCost(value: unknown): number {
  if (typeof value === "string") return value.length / 10;
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
}

/** What it costs to compare all of it; the count stops at the limit. */
function deepCost(root: unknown, limit: number): number {
  let cost = 0;
  const rest = [root];
  while (rest.length > 0 && cost <= limit) {
    const value = rest.pop();
    cost += 1 + (typeof value === "string" ? value.length / 10 : 0);
    if (Array.isArray(value)) for (const item of value) rest.push(item);
    else if (value instanceof Map) for (const item of value.values()) rest.push(item);
  }
  return cost;
}
