import type { Container, ContainerPort, Pod, PodSpec, PodStatus } from "../../api/kubernetes/pod.ts";
import { withDefaultRequests } from "../pod-requests.ts";
import { unschedulableStatus } from "../virtual-pods.ts";

/** Priority classes every cluster has. */
const systemPriorities = { "system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000 } as const;

/** Fills in the defaults of API server and admission; shared specs stay shared. */
export class PodCompletion {
  readonly #priorities: ReadonlyMap<string, number>;
  readonly #specs = new Map<PodSpec, PodSpec>();

  constructor(priorityClasses: ReadonlyMap<string, number>) {
    this.#priorities = new Map([...Object.entries(systemPriorities), ...priorityClasses]);
  }

  completePod(pod: Pod): Pod {
    return { ...pod, spec: this.completeSpec(pod.spec), status: completePodStatus(pod) };
  }

  completeSpec(spec: PodSpec): PodSpec {
    const known = this.#specs.get(spec);
    if (known !== undefined) return known;
    const completed = this.#complete(spec);
    this.#specs.set(spec, completed);
    return completed;
  }

  #complete(spec: PodSpec): PodSpec {
    const { hostNetwork = false, containers, initContainers, resources } = spec;
    const priority = spec.priority ?? this.#priorities.get(spec.priorityClassName ?? "");
    return {
      ...spec,
      ...(priority !== undefined && { priority }),
      ...(initContainers && {
        initContainers: initContainers.map((one) => completeContainer(one, { hostNetwork: false })),
      }),
      ...(containers && { containers: containers.map((one) => completeContainer(one, { hostNetwork })) }),
      ...(resources && { resources: withDefaultRequests(resources) }),
    };
  }
}

function completeContainer(one: Container, { hostNetwork }: { readonly hostNetwork: boolean }): Container {
  const { resources, ports } = one;
  if (resources === undefined && ports === undefined) return one;
  return {
    ...one,
    ...(resources && { resources: withDefaultRequests(resources) }),
    ...(ports && { ports: ports.map((port) => withHostPort(port, { hostNetwork })) }),
  };
}

/** With host network, container ports are host ports. */
function withHostPort(port: ContainerPort, { hostNetwork }: { readonly hostNetwork: boolean }): ContainerPort {
  const { protocol = "TCP", hostPort = 0, containerPort } = port;
  return { ...port, protocol, ...(hostNetwork && hostPort === 0 && containerPort && { hostPort: containerPort }) };
}

const runningStatus: PodStatus = { phase: "Running" };
const gatedStatus: PodStatus = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
};

/** A pod without a node counts as marked Unschedulable, unless it has scheduling gates or a status of its own. */
function completePodStatus({ spec, status }: Pod): PodStatus {
  const isBound = (spec.nodeName ?? "") !== "";
  const isGated = (spec.schedulingGates ?? []).length > 0;
  const usual = isBound ? runningStatus : isGated ? gatedStatus : unschedulableStatus;
  if (status === undefined) return usual;
  const phase = status.phase || usual.phase;
  const given = status.conditions ?? [];
  return { ...status, phase, ...(given.length === 0 && usual.conditions && { conditions: usual.conditions }) };
}
