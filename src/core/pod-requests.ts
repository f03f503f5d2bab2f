import type { Container, Pod, PodSpec, PodStatus, ResourceList, ResourceRequirements } from "../api/kubernetes/pod.ts";
import { resources } from "../api/labels.ts";
import { Quantity } from "../util/quantity.ts";
import type { Resources } from "./resources.ts";

/** Where readers start over, so that one that lives as long as the process stays small. */
const maxKnownQuantities = 10_000;

/**
 * Parses quantities as pods write them, each distinct text once: twenty thousand pods share a handful. Throws a
 * `QuantityError` on text no API server would have accepted.
 */
export class QuantityReader {
  readonly #known = new Map<string | number, Quantity>();

  read(written: string | number): Quantity {
    const known = this.#known.get(written);
    if (known !== undefined) return known;
    // Adding to zero drops the text it was written as: sums are printed in canonical form. (02:A-1)
    const quantity = Quantity.zero.add(Quantity.parse(String(written)));
    if (this.#known.size >= maxKnownQuantities) this.#known.clear();
    this.#known.set(written, quantity);
    return quantity;
  }
}

/** What a pod uses of a node: containers, then pod-level resources, then overhead, then one pod slot (`pods: 1`). (02:A-2) */
export function podRequests(pod: Pod, reader: QuantityReader = new QuantityReader()): Resources {
  const { spec, status } = pod;
  const total = aggregate(spec, {
    reader,
    starting: specRequests,
    running: status === undefined ? specRequests : resizedRequests(status, reader),
  });
  total.replaceAtPodLevel(spec.resources?.requests);
  total.addAll(spec.overhead);
  return total.withPodCount();
}

/** A pod's limits; reported in metrics, never used in decisions. (02:A-4, 02:A-7) */
export function podLimits(pod: Pod, reader: QuantityReader = new QuantityReader()): Resources {
  const { spec } = pod;
  const total = aggregate(spec, { reader, starting: specLimits, running: specLimits });
  total.replaceAtPodLevel(spec.resources?.limits);
  // Overhead alone must not become a limit.
  total.addAll(spec.overhead, (name) => total.get(name)?.isZero() === false);
  return total.withPodCount();
}

/** Limits stand in for missing requests, in containers and init containers. (02:A-7) */
export function withLimitsAsRequests(spec: PodSpec): PodSpec {
  return {
    ...spec,
    ...(spec.containers && { containers: spec.containers.map(limitsAsRequests) }),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(limitsAsRequests) }),
  };
}

function limitsAsRequests(container: Container): Container {
  const { resources: written } = container;
  return written === undefined ? container : { ...container, resources: withDefaultRequests(written) };
}

/** Limits become requests where there are none, as API servers do it for pods. */
export function withDefaultRequests(written: ResourceRequirements): ResourceRequirements {
  const { limits, requests } = written;
  return limits === undefined ? written : { ...written, requests: { ...limits, ...requests } };
}

/** The requests or limits of a container. */
type ContainerResources = (container: Container) => ResourceList | undefined;

const specRequests: ContainerResources = (container) => container.resources?.requests;
const specLimits: ContainerResources = (container) => container.resources?.limits;

interface ContainerResourceSources {
  readonly reader: QuantityReader;
  /** Of init containers, which finish. */
  readonly starting: ContainerResources;
  /** Of containers and sidecars, which keep running. */
  readonly running: ContainerResources;
}

/**
 * The most that is needed at once: all containers together with the sidecars, or an init container with the sidecars
 * that were started before it. (02:A-3)
 */
function aggregate(spec: PodSpec, { reader, starting, running }: ContainerResourceSources): ResourceTotal {
  const total = new ResourceTotal(reader);
  for (const container of spec.containers ?? []) total.addAll(running(container));
  if (spec.initContainers === undefined || spec.initContainers.length === 0) return total;

  const sidecars = new ResourceTotal(reader);
  const peak = new ResourceTotal(reader);
  for (const container of spec.initContainers) {
    if (isSidecar(container)) {
      total.addAll(running(container));
      sidecars.addAll(running(container));
      peak.raiseTo(sidecars);
    } else {
      const atStart = new ResourceTotal(reader);
      atStart.addAll(starting(container));
      atStart.addTotal(sidecars);
      peak.raiseTo(atStart);
    }
  }
  total.raiseTo(peak);
  return total;
}

/** With `Always` an init container keeps running. */
function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/** While a container is being resized, the largest of its requests counts. (02:A-6) */
function resizedRequests(status: PodStatus, reader: QuantityReader): ContainerResources {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  if (!statuses.some(({ resources: held }) => held !== undefined)) return specRequests;

  const isInfeasible = status.conditions?.find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
  return (container) => {
    const actual = statuses.find(({ name }) => name === container.name);
    if (actual?.resources === undefined) return specRequests(container);
    const held = [actual.resources.requests, actual.allocatedResources];
    return largestOf(isInfeasible ? held : [specRequests(container), ...held], reader);
  };
}

/** The larger amount of each resource, still as written. */
function largestOf(lists: readonly (ResourceList | undefined)[], reader: QuantityReader): ResourceList {
  const most: Record<string, string | number> = {};
  for (const list of lists) {
    for (const [name, written] of Object.entries(list ?? {})) {
      const before = Object.hasOwn(most, name) ? most[name] : undefined;
      if (before === undefined || reader.read(written).cmp(reader.read(before)) > 0) most[name] = written;
    }
  }
  return most;
}

const hugePagesPrefix = "hugepages-";
/** In the format upstream counts pods with. */
const onePod = Quantity.of(1, "DecimalExponent");

/** Mutable resource totals. */
class ResourceTotal {
  readonly #amounts: Record<string, Quantity> = {};
  readonly #reader: QuantityReader;

  constructor(reader: QuantityReader) {
    this.#reader = reader;
  }

  get(name: string): Quantity | undefined {
    return Object.hasOwn(this.#amounts, name) ? this.#amounts[name] : undefined;
  }

  addAll(list: ResourceList | undefined, counts: (name: string) => boolean = () => true): void {
    if (list === undefined) return;
    for (const name of Object.keys(list)) {
      const written = list[name];
      if (written !== undefined && counts(name)) this.#add(name, this.#reader.read(written));
    }
  }

  addTotal(other: ResourceTotal): void {
    for (const [name, quantity] of Object.entries(other.#amounts)) this.#add(name, quantity);
  }

  raiseTo(other: ResourceTotal): void {
    for (const [name, quantity] of Object.entries(other.#amounts)) {
      const before = this.get(name);
      if (before === undefined || quantity.cmp(before) > 0) this.#amounts[name] = quantity;
    }
  }

  /** Only resources that Kubernetes allows at pod level; for others the containers' sum stays. (02:A-4) */
  replaceAtPodLevel(list: ResourceList | undefined): void {
    if (list === undefined) return;
    for (const [name, written] of Object.entries(list)) {
      if (name === resources.cpu || name === resources.memory || name.startsWith(hugePagesPrefix)) {
        this.#amounts[name] = this.#reader.read(written);
      }
    }
  }

  /** Every pod uses one pod slot of its node. */
  withPodCount(): Resources {
    this.#amounts[resources.pods] = onePod;
    return this.#amounts;
  }

  #add(name: string, quantity: Quantity): void {
    const before = this.get(name);
    this.#amounts[name] = before === undefined ? quantity : before.add(quantity);
  }
}
