import { isRecord } from "../object.ts";

/** What we use of the library's syntax tree. */
interface CelPart {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { alternate?: unknown };
}

/**
 * The library's `has` follows the fields of a variable only. Kubernetes allows any expression before the last field, as in
 * `has(device.attributes["gpu.example.com"].model)`, which asks whether `"model" in device.attributes["gpu.example.com"]`.
 */
export function replaceHasOfIndexed(part: unknown, parse: (expression: string) => unknown): void {
  if (Array.isArray(part)) for (const one of part) replaceHasOfIndexed(one, parse);
  if (!isPart(part)) return;
  const field = fieldAskedFor(part);
  if (field !== undefined && !isFieldOfVariable(field)) {
    const [object, name] = field.args as [unknown, string];
    const membership = parse(`${JSON.stringify(name)} in {}`);
    if (isPart(membership) && Array.isArray(membership.args)) membership.args[1] = object;
    part.meta.alternate = membership;
    replaceHasOfIndexed(object, parse);
    return;
  }
  replaceHasOfIndexed(part.args, parse);
}

/** The operand of `has`. */
function fieldAskedFor({ op, args }: CelPart): CelPart | undefined {
  if (op !== "call" || !Array.isArray(args) || args[0] !== "has" || !Array.isArray(args[1])) return undefined;
  const [field] = args[1];
  return isPart(field) && field.op === "." ? field : undefined;
}

function isFieldOfVariable({ op, args }: CelPart): boolean {
  if (op === "id") return true;
  if ((op !== "." && op !== ".?") || !Array.isArray(args)) return false;
  const [object] = args;
  return isPart(object) && isFieldOfVariable(object);
}

function isPart(part: unknown): part is CelPart {
  return typeof part === "object" && part !== null && "op" in part && "meta" in part && isRecord(part.meta);
}
