import type { Container, ContainerPort, Pod, PodSpec, PodStatus } from "../../api/kubernetes/pod.ts";
import { namespaceOf } from "../../api/object.ts";
import { withDefaultRequests } from "../pod-requests.ts";
import { unschedulableStatus } from "../virtual-pods.ts";
import type { PodAdmission } from "./pod-admission.ts";

/** Fills in the defaults of API server and admission; shared specs stay shared. */
export class PodCompletion {
  readonly #admission: PodAdmission;
  /** By namespace where that makes a difference. */
  readonly #specs = new Map<string, Map<PodSpec, PodSpec>>();

  constructor(admission: PodAdmission) {
    this.#admission = admission;
  }

  completePod(pod: Pod): Pod {
    return { ...pod, spec: this.completeSpec(pod.spec, namespaceOf(pod.metadata)), status: completePodStatus(pod) };
  }

  completeSpec(spec: PodSpec, namespace: string): PodSpec {
    const known = this.#knownSpecs(namespace);
    const completed = known.get(spec) ?? completeFields(this.#admission.admit(spec, namespace));
    known.set(spec, completed);
    return completed;
  }

  #knownSpecs(namespace: string): Map<PodSpec, PodSpec> {
    const key = this.#admission.hasLimits(namespace) ? namespace : "";
    const known = this.#specs.get(key) ?? new Map<PodSpec, PodSpec>();
    this.#specs.set(key, known);
    return known;
  }
}

function completeFields(spec: PodSpec): PodSpec {
  const { hostNetwork = false, containers, initContainers, resources } = spec;
  return {
    ...spec,
    ...(initContainers && {
      initContainers: initContainers.map((one) => completeContainer(one, { hostNetwork: false })),
    }),
    ...(containers && { containers: containers.map((one) => completeContainer(one, { hostNetwork })) }),
    ...(resources && { resources: withDefaultRequests(resources) }),
  };
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
