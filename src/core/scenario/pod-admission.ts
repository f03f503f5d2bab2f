import type { Container, PodSpec, ResourceList, Toleration } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespaceOf } from "../../api/object.ts";
import { withDefaultRequests } from "../pod-requests.ts";
import { scenarioKind } from "./scenario-kind.ts";

/** Priority classes every cluster has. */
const systemPriorities = { "system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000 } as const;

interface PriorityClass {
  readonly value: number;
  readonly globalDefault?: boolean;
}

interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: ResourceList };
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
  };
}

interface LimitRangeItem {
  readonly type: string;
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly min?: ResourceList;
  readonly max?: ResourceList;
}

/** What an API server's admission adds to the specs of pods that are created: priority, RuntimeClass, LimitRange. */
export class PodAdmission {
  /** RuntimeClasses that pods name and that are not given; a cluster would refuse these pods. */
  readonly missingRuntimeClasses = new Set<string>();
  readonly #priorities = new Map<string, number>(Object.entries(systemPriorities));
  readonly #runtimeClasses = new Map<string, RuntimeClass>();
  readonly #limits = new Map<string, LimitRangeItem[]>();
  #defaultPriority: number | undefined;

  constructor(objects: readonly KubeObject[]) {
    for (const object of objects) this.#add(object);
  }

  /** Whether pods of this namespace are changed otherwise than those of others. */
  hasLimits(namespace: string): boolean {
    return this.#limits.has(namespace);
  }

  admit(spec: PodSpec, namespace: string): PodSpec {
    const priority = spec.priority ?? this.#priorityOf(spec);
    const prioritized = priority === undefined ? spec : { ...spec, priority };
    if ((spec.nodeName ?? "") !== "") return prioritized; // it was admitted when it was created
    return this.#withRuntimeClass(this.#withLimits(prioritized, namespace));
  }

  #add(object: KubeObject): void {
    const { name = "" } = object.metadata;
    switch (scenarioKind(object)) {
      case "PriorityClass": {
        const { value, globalDefault } = object as unknown as PriorityClass;
        this.#priorities.set(name, value);
        if (globalDefault === true) this.#defaultPriority = value;
        break;
      }
      case "RuntimeClass":
        this.#runtimeClasses.set(name, object as unknown as RuntimeClass);
        break;
      case "LimitRange": {
        const { limits = [] } = object.spec as { readonly limits?: readonly LimitRangeItem[] };
        const namespace = namespaceOf(object.metadata);
        const ofContainers = limits.filter(({ type }) => type === "Container").map(withDerivedDefaults);
        this.#limits.set(namespace, [...(this.#limits.get(namespace) ?? []), ...ofContainers]);
        break;
      }
      default:
    }
  }

  #priorityOf({ priorityClassName = "" }: PodSpec): number | undefined {
    return priorityClassName === "" ? this.#defaultPriority : this.#priorities.get(priorityClassName);
  }

  #withLimits(spec: PodSpec, namespace: string): PodSpec {
    const limits = this.#limits.get(namespace);
    if (limits === undefined) return spec;
    const limited = (containers: readonly Container[]) => containers.map((one) => withContainerLimits(one, limits));
    return {
      ...spec,
      ...(spec.containers && { containers: limited(spec.containers) }),
      ...(spec.initContainers && { initContainers: limited(spec.initContainers) }),
    };
  }

  #withRuntimeClass(spec: PodSpec): PodSpec {
    const { runtimeClassName: name = "" } = spec;
    if (name === "") return spec;
    const found = this.#runtimeClasses.get(name);
    if (found === undefined) {
      this.missingRuntimeClasses.add(name);
      return spec;
    }
    const { nodeSelector, tolerations = [] } = found.scheduling ?? {};
    const overhead = spec.overhead ?? found.overhead?.podFixed;
    const known = new Set((spec.tolerations ?? []).map(tolerationKey));
    const added = tolerations.filter((one) => !known.has(tolerationKey(one)));
    return {
      ...spec,
      ...(overhead !== undefined && { overhead }),
      ...(nodeSelector !== undefined && { nodeSelector: { ...spec.nodeSelector, ...nodeSelector } }),
      ...(added.length > 0 && { tolerations: [...(spec.tolerations ?? []), ...added] }),
    };
  }
}

function tolerationKey({ key = "", operator = "Equal", value = "", effect = "" }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

/** The defaults a LimitRange gets itself: limits from the maximum, requests from the limits, then from the minimum. */
function withDerivedDefaults(item: LimitRangeItem): LimitRangeItem {
  const limits = { ...item.max, ...item.default };
  return { ...item, default: limits, defaultRequest: { ...item.min, ...limits, ...item.defaultRequest } };
}

/** A container's own limit sets its request before the LimitRange does. */
function withContainerLimits(container: Container, items: readonly LimitRangeItem[]): Container {
  let resources = withDefaultRequests(container.resources ?? {});
  for (const { default: limits, defaultRequest: requests } of items) {
    resources = {
      ...resources,
      limits: { ...limits, ...resources.limits },
      requests: { ...requests, ...resources.requests },
    };
  }
  return { ...container, resources };
}
