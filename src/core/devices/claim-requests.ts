import type {
  DeviceClass,
  DeviceConstraint,
  DeviceRequest,
  ExactDeviceRequest,
  ResourceClaim,
} from "../../api/devices/device-objects.ts";
import { namespacedName } from "../../api/object.ts";
import { Quantity } from "../../util/quantity.ts";
import type { DeviceRefusal } from "./device-refusal.ts";
import type { DeviceSelectors } from "./device-selectors.ts";

/** A claim whose devices have to be found. */
export interface ClaimRequests {
  /** namespace/name. */
  readonly key: string;
  readonly name: string;
  readonly requests: readonly RequestAlternatives[];
  readonly constraints: readonly DeviceConstraint[];
}

/** One request. The first alternative that can be had is taken. */
interface RequestAlternatives {
  readonly name: string;
  readonly alternatives: readonly DeviceAsk[];
}

/** Devices that are asked for. */
export interface DeviceAsk {
  readonly request: string;
  /** `request/alternative`, or the request if it has one only. */
  readonly alternative: string;
  readonly selectors: readonly string[];
  /** Undefined: all devices that match. */
  readonly count: number | undefined;
  readonly capacity: ReadonlyMap<string, Quantity>;
}

interface RequestContext {
  readonly claim: string;
  readonly classes: ReadonlyMap<string, DeviceClass>;
  readonly selectors: DeviceSelectors;
}

/** What a claim asks for, as far as that does not depend on the node. (02:D-6, D-7) */
export function claimRequestsOf(
  { metadata, spec }: ResourceClaim,
  { classes, selectors }: Pick<RequestContext, "classes" | "selectors">,
): ClaimRequests | DeviceRefusal {
  const { name = "" } = metadata;
  const { requests = [], constraints = [] } = spec.devices ?? {};
  for (const { matchAttribute, distinctAttribute } of constraints) {
    if (matchAttribute !== undefined) continue;
    const what = `${distinctAttribute === undefined ? "unknown" : "DistinctAttribute"} constraints are not supported`;
    return { reason: "unsupported", claim: name, what };
  }
  const parsed: RequestAlternatives[] = [];
  for (const request of requests) {
    const alternatives = alternativesOf(request, { claim: name, classes, selectors });
    if ("reason" in alternatives) return alternatives;
    parsed.push({ name: request.name, alternatives });
  }
  return { key: namespacedName(metadata), name, requests: parsed, constraints };
}

function alternativesOf(
  { name, exactly, firstAvailable = [] }: DeviceRequest,
  context: RequestContext,
): readonly DeviceAsk[] | DeviceRefusal {
  const written =
    exactly === undefined
      ? firstAvailable.map((one) => ({ asked: one, alternative: `${name}/${one.name}` }))
      : [{ asked: exactly, alternative: name }];
  if (written.length === 0)
    return {
      reason: "unsupported",
      claim: context.claim,
      what: `request ${JSON.stringify(name)} is of an unknown kind`,
    };
  const found: DeviceAsk[] = [];
  for (const { asked, alternative } of written) {
    const selectors = selectorsOf(asked, { ...context, request: alternative });
    if ("reason" in selectors) return selectors;
    const { allocationMode, count = 1, capacity } = asked;
    const amounts = Object.entries(capacity?.requests ?? {});
    found.push({
      request: name,
      alternative,
      selectors,
      count: allocationMode === "All" ? undefined : count,
      capacity: new Map(amounts.map(([one, value]) => [one, Quantity.tryParse(value) ?? Quantity.zero])),
    });
  }
  return found;
}

/** Those of the class come first. */
function selectorsOf(
  { deviceClassName, selectors = [] }: ExactDeviceRequest,
  { claim, request, classes, selectors: expressions }: RequestContext & { readonly request: string },
): readonly string[] | DeviceRefusal {
  const deviceClass = classes.get(deviceClassName);
  if (deviceClass === undefined)
    return { reason: "class-not-found", request: { claim, request }, deviceClass: deviceClassName };
  const found: string[] = [];
  for (const { cel } of [...(deviceClass.spec?.selectors ?? []), ...selectors]) {
    if (cel === undefined) return { reason: "unsupported", claim, what: "only CEL selectors are supported" };
    const { expression } = cel;
    const problem = expressions.problemOf(expression);
    if (problem !== undefined)
      return { reason: "selector", request: { claim, request }, expression, because: `failed to compile: ${problem}` };
    found.push(expression);
  }
  return found;
}
