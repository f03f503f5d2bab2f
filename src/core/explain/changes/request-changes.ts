import type { Container, Pod } from "../../../api/kubernetes/pod.ts";
import { resources } from "../../../api/labels.ts";
import { Quantity } from "../../../util/quantity.ts";
import { podRequests } from "../../pod-requests.ts";
import { amountOf } from "../../resources.ts";
import { humanAmount } from "../describe-reason.ts";
import { isDeviceResource } from "../hardware.ts";
import { addOperation, applyOperations, type PatchOperation, type PatchPath } from "../json-patch.ts";
import { missingShare } from "../refusal-distance.ts";
import { type CandidateChange, changeOf, changeWeights, editedPod } from "./candidate-change.ts";

/** Lowers the request of one resource to what is left; undefined where lowering container requests cannot do that. */
export function lowerRequestChange(
  pod: Pod,
  { resource, left }: { readonly resource: string; readonly left: Quantity },
): CandidateChange | undefined {
  const asked = amountOf(podRequests(pod), resource);
  if (resource === resources.pods || left.sign() < 0 || asked.cmp(left) <= 0) return undefined;
  const operations = requestLowerings(pod, resource, left);
  if (operations.length === 0) return undefined;
  const after = amountOf(
    podRequests(
      applyOperations(
        pod,
        operations.map(({ operation }) => operation),
      ),
    ),
    resource,
  );
  if (after.cmp(left) > 0) return undefined;
  return changeOf(editedPod(pod), {
    text: operations.map(({ text }) => text).join(" and "),
    weight: changeWeights.lowerRequest + 6 * missingShare(asked, after),
    ...(isDeviceResource(resource) && { precedence: "last-resort" }),
    operations: operations.map(({ operation }) => operation),
  });
}

interface RequestLowering {
  readonly text: string;
  readonly operation: PatchOperation;
}

function requestLowerings(pod: Pod, resource: string, left: Quantity): readonly RequestLowering[] {
  const { spec } = pod;
  const overhead = quantityOrZero(spec.overhead?.[resource]);
  const target = left.sub(overhead);
  if (target.sign() < 0) return [];
  if (spec.resources?.requests?.[resource] !== undefined) {
    return [lowerRequest(pod, { path: ["spec", "resources"], resource, to: target, who: "the pod" })];
  }
  const running = (spec.containers ?? []).map((container, index) => ({
    container,
    path: ["spec", "containers", index],
  }));
  const starting = (spec.initContainers ?? []).map((container, index) => ({
    container,
    path: ["spec", "initContainers", index],
  }));
  const sidecars = starting.filter(({ container }) => container.restartPolicy === "Always");
  return [
    ...lowerLargestFirst([...running, ...sidecars], { pod, resource, target }),
    ...starting
      .filter(({ container }) => container.restartPolicy !== "Always" && requestOf(container, resource).cmp(target) > 0)
      .flatMap(({ container, path }) => lowerContainer(pod, { container, path, resource, to: target })),
  ];
}

interface LocatedContainer {
  readonly container: Container;
  readonly path: PatchPath;
}

/** Lowers the largest request first. */
function lowerLargestFirst(
  containers: readonly LocatedContainer[],
  { pod, resource, target }: { pod: Pod; resource: string; target: Quantity },
): readonly RequestLowering[] {
  const total = containers.reduce((sum, { container }) => sum.add(requestOf(container, resource)), Quantity.zero);
  let excess = total.sub(target);
  const largestFirst = [...containers].sort((a, b) =>
    requestOf(b.container, resource).cmp(requestOf(a.container, resource)),
  );
  return largestFirst.flatMap(({ container, path }) => {
    const asked = requestOf(container, resource);
    if (excess.sign() <= 0 || asked.sign() <= 0) return [];
    const to = asked.cmp(excess) > 0 ? asked.sub(excess) : Quantity.zero;
    excess = excess.sub(asked.sub(to));
    return lowerContainer(pod, { container, path, resource, to });
  });
}

function lowerContainer(
  pod: Pod,
  { container, path, resource, to }: LocatedContainer & { resource: string; to: Quantity },
): readonly RequestLowering[] {
  const who = `container ${container.name ?? ""}`;
  const request = lowerRequest(pod, { path: [...path, "resources"], resource, to, who });
  // For extended resources the limit must equal the request.
  const isExtended = resource.includes("/") && container.resources?.limits?.[resource] !== undefined;
  if (!isExtended) return [request];
  const limit = addOperation(pod, [...path, "resources", "limits", resource], to.canonical());
  return [request, { text: "its limit to the same", operation: limit }];
}

function lowerRequest(
  pod: Pod,
  { path, resource, to, who }: { path: PatchPath; resource: string; to: Quantity; who: string },
): RequestLowering {
  const written = to.canonical();
  return {
    text: `lower the ${resource} request of ${who} to ${humanAmount(written)}`,
    operation: addOperation(pod, [...path, "requests", resource], written),
  };
}

/** The limit counts if there is no request. (02:A-7) */
function requestOf({ resources: asked }: Container, resource: string): Quantity {
  return quantityOrZero(asked?.requests?.[resource] ?? asked?.limits?.[resource]);
}

function quantityOrZero(written: string | number | undefined): Quantity {
  return written === undefined ? Quantity.zero : Quantity.zero.add(Quantity.tryParse(written) ?? Quantity.zero);
}
