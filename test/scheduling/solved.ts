import type { Decision } from "../../src/core/scheduling/decision.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { instanceType } from "../builders/instance-type.ts";
import { pod } from "../builders/pod.ts";
import type { ProblemBuilder } from "../builders/problem.ts";

/** The decision on a problem. */
export function solved(builder: ProblemBuilder): Decision {
  return solve(builder.build());
}

/** One cpu of the app the tests speak of. */
export const web = pod().label("app", "web").cpu("1");
export const small = instanceType("small").cpu(4);
export const large = instanceType("large").cpu(8);
