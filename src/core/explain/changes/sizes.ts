import type { Container, Pod } from "../../../api/kubernetes/pod.ts";
import { resources } from "../../../api/labels.ts";
import { Quantity } from "../../../util/quantity.ts";
import { podRequests } from "../../pod-requests.ts";
import { amount } from "../../resources.ts";
import { adding, applyOperations, type Operation, type Path } from "../patch.ts";
import { humanAmount } from "../words.ts";
import { type Change, change, podObject, weights } from "./change.ts";

/** Lowers what a pod asks for of one resource to what there is; undefined where its containers cannot do that. */
export function lowering(
  pod: Pod,
  { resource, left }: { readonly resource: string; readonly left: Quantity },
): Change | undefined {
  const asked = amount(podRequests(pod), resource);
  if (resource === resources.pods || left.sign() < 0 || asked.cmp(left) <= 0) return undefined;
  const operations = loweringOperations(pod, resource, left);
  if (operations.length === 0) return undefined;
  const after = amount(
    podRequests(
      applyOperations(
        pod,
        operations.map(({ operation }) => operation),
      ),
    ),
    resource,
  );
  if (after.cmp(left) > 0) return undefined;
  const share = asked.toNumber() > 0 ? (asked.toNumber() - after.toNumber()) / asked.toNumber() : 1;
  return change(podObject(pod), {
    text: operations.map(({ text }) => text).join(" and "),
    weight: weights.lowerRequest + 6 * share,
    operations: operations.map(({ operation }) => operation),
  });
}

interface Lowering {
  readonly text: string;
  readonly operation: Operation;
}

function loweringOperations(pod: Pod, resource: string, left: Quantity): readonly Lowering[] {
  const { spec } = pod;
  const overhead = read(spec.overhead?.[resource]);
  const target = left.sub(overhead);
  if (target.sign() < 0) return [];
  if (spec.resources?.requests?.[resource] !== undefined) {
    return [lowered(pod, { path: ["spec", "resources"], resource, to: target, who: "the pod" })];
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
    ...shared([...running, ...sidecars], { pod, resource, target }),
    ...starting
      .filter(({ container }) => container.restartPolicy !== "Always" && requestOf(container, resource).cmp(target) > 0)
      .flatMap(({ container, path }) => loweredContainer(pod, { container, path, resource, to: target })),
  ];
}

interface Placed {
  readonly container: Container;
  readonly path: Path;
}

/** The largest gives way first. */
function shared(
  containers: readonly Placed[],
  { pod, resource, target }: { pod: Pod; resource: string; target: Quantity },
): readonly Lowering[] {
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
    return loweredContainer(pod, { container, path, resource, to });
  });
}

function loweredContainer(
  pod: Pod,
  { container, path, resource, to }: Placed & { resource: string; to: Quantity },
): readonly Lowering[] {
  const who = `container ${container.name ?? ""}`;
  const request = lowered(pod, { path: [...path, "resources"], resource, to, who });
  // Of anything but cpu and memory the limit is the request.
  const isExtended = resource.includes("/") && container.resources?.limits?.[resource] !== undefined;
  if (!isExtended) return [request];
  const limit = adding(pod, [...path, "resources", "limits", resource], to.canonical());
  return [request, { text: `its limit with it`, operation: limit }];
}

function lowered(
  pod: Pod,
  { path, resource, to, who }: { path: Path; resource: string; to: Quantity; who: string },
): Lowering {
  const written = to.canonical();
  return {
    text: `lower the ${resource} request of ${who} to ${humanAmount(written)}`,
    operation: adding(pod, [...path, "requests", resource], written),
  };
}

/** A limit stands in for a missing request. (02:A-7) */
function requestOf({ resources: asked }: Container, resource: string): Quantity {
  return read(asked?.requests?.[resource] ?? asked?.limits?.[resource]);
}

function read(written: string | number | undefined): Quantity {
  return written === undefined ? Quantity.zero : Quantity.zero.add(Quantity.tryParse(written) ?? Quantity.zero);
}
