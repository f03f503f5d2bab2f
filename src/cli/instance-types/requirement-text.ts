import { InvalidArgumentError } from "commander";
import type { RequirementItem } from "../../api/kubernetes/pod.ts";

const forms = "key=a, key!=a, key in (a,b), key notin (a,b), key, !key, key>4 or key<8";

/** One requirement as a label selector has it, and with bounds: `instance-cpu>4`. (01 §4.3) */
export function parseRequirementText(text: string): RequirementItem {
  const trimmed = text.trim();
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(trimmed);
  if (set !== null) {
    const [, key = "", word, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return { key, operator: word === "in" ? "In" : "NotIn", values };
  }
  const [, key = "", sign = "", value = ""] = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/.exec(trimmed) ?? [];
  const operator = operators.get(sign);
  if (operator !== undefined) {
    if (operator === "Gt" || operator === "Lt") assertNumber(value, text);
    return { key, operator, values: [value] };
  }
  const [, not, name = ""] = /^(!?)\s*([^\s=!<>()]+)$/.exec(trimmed) ?? [];
  if (name !== "") return { key: name, operator: not === "!" ? "DoesNotExist" : "Exists" };
  throw new InvalidArgumentError(`Expected ${forms}.`);
}

const operators: ReadonlyMap<string, "In" | "NotIn" | "Gt" | "Lt"> = new Map([
  ["=", "In"],
  ["==", "In"],
  ["!=", "NotIn"],
  [">", "Gt"],
  ["<", "Lt"],
]);

function assertNumber(value: string, text: string): void {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError(`Expected a whole number in ${JSON.stringify(text)}.`);
}
