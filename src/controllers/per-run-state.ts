import type { ControllerContext } from "../kube/controller.ts";

/** What a loop remembers for as long as it runs: a restart forgets it. Made when first asked for. */
export function perRunState<T>(make: (context: ControllerContext) => T): (context: ControllerContext) => T {
  const byContext = new WeakMap<ControllerContext, { readonly kept: T }>();
  return (context) => {
    const known = byContext.get(context) ?? { kept: make(context) };
    byContext.set(context, known);
    return known.kept;
  };
}
