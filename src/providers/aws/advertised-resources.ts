import { resources } from "../../api/labels.ts";
import { resourceListOf } from "../../cloud/launchable-offerings.ts";
import type { Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";

/** A network interface of an instance or of a launch template. */
interface LaunchedInterface {
  readonly InterfaceType?: string | undefined;
}

const efaTypes: readonly (string | undefined)[] = ["efa", "efa-only"];

/**
 * What an instance of a type advertises. It has the EFA interfaces it was launched with, however many its type could
 * have; what there is none of is left out. (04 §2.3, §3.8)
 */
export function advertisedResources(
  amounts: Resources,
  interfaces: readonly LaunchedInterface[] | undefined,
): Readonly<Record<string, string>> {
  const efaCount = (interfaces ?? []).filter(({ InterfaceType }) => efaTypes.includes(InterfaceType)).length;
  const launched = Object.entries({ ...amounts, [resources.efa]: Quantity.of(efaCount) });
  return resourceListOf(Object.fromEntries(launched.filter(([, amount]) => amount.sign() > 0)));
}
