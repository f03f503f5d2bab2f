import type { ResourceClaim } from "../../api/devices/device-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { describeRequirementConflicts, requirementConflicts } from "../compatibility.ts";
import {
  type DeviceAllocation,
  DeviceAllocator,
  type DeviceHost,
  type DeviceHostType,
  type DeviceObjects,
  type OpenSearchBudget,
} from "../devices/device-allocator.ts";
import type { DeviceRefusal } from "../devices/device-refusal.ts";
import { podClaims } from "../devices/pod-claims.ts";
import { noTemplateDevices, type TemplateDevices, templateDevicesOf } from "../devices/template-devices.ts";
import type { InstanceType } from "../instance-type.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { PodClass } from "./pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "./problem.ts";

/** A pod with resource claims. */
interface ClaimingPod {
  readonly pod: Pod;
  readonly podClass: PodClass;
}

/** A planned or new node; its requirements have its hostname. */
interface CandidateHost {
  readonly hostIndex: number;
  readonly requirements: Requirements;
  readonly types: readonly InstanceType[];
}

interface ExistingHost {
  readonly index: number;
  readonly node: ExistingNode;
  readonly requirementState: { readonly requirements: Requirements };
}

/** The devices of a pass: what pods with resource claims can get on a node, and what they have got. (02 §5.14) */
export class PassDevices {
  readonly #problem: SchedulingProblem;
  readonly #objects: DeviceObjects;
  readonly #allocator: DeviceAllocator;
  readonly #claims = new Map<PodClass, readonly ResourceClaim[] | DeviceRefusal>();
  readonly #templates = new Map<InstanceType, TemplateDevices>();

  constructor(problem: SchedulingProblem, openBudget?: OpenSearchBudget) {
    this.#problem = problem;
    this.#objects = withoutUnusableSlices(problem.devices ?? noDeviceObjects, problem);
    this.#allocator = new DeviceAllocator(this.#objects, problem.labelPolicy, openBudget);
  }

  /** A claim that does not exist defers the pod, whatever the node. (02:Q-6, D-2) */
  claimsOf({ pod, podClass }: ClaimingPod): readonly ResourceClaim[] | DeviceRefusal {
    const claims = this.#claims.get(podClass) ?? podClaims(pod, this.#objects.claims);
    this.#claims.set(podClass, claims);
    return claims;
  }

  /** What a planned or new node could give the pod. (02:N-3b) */
  onCandidate(pod: ClaimingPod, { hostIndex, requirements, types }: CandidateHost): DeviceAllocation | DeviceRefusal {
    const hostTypes = types.map((type) => ({ name: type.name, templates: this.#templatesOf(type) }));
    return this.#allocate(pod, { id: hostIndex, nodeName: undefined, requirements, types: hostTypes });
  }

  /** What a node that exists could give the pod. (02:E-6) */
  onExistingNode(pod: ClaimingPod, { node, index, requirementState }: ExistingHost): DeviceAllocation | DeviceRefusal {
    const hostname = Requirement.in(labels.hostname, [node.hostname]);
    return this.#allocate(pod, {
      id: index,
      nodeName: node.nodeName,
      requirements: requirementState.requirements.add(hostname),
      types: [this.#typeOf(node)],
    });
  }

  /** The pod is placed with these devices; types the node cannot have any more give back theirs. (02:D-8) */
  commit(hostIndex: number, allocation: DeviceAllocation, types: ReadonlySet<string>): void {
    this.#allocator.commit(hostIndex, allocation, types);
  }

  driversOf(hostIndex: number): readonly string[] {
    return this.#allocator.driversOf(hostIndex);
  }

  #allocate(pod: ClaimingPod, host: DeviceHost): DeviceAllocation | DeviceRefusal {
    const claims = this.claimsOf(pod);
    return "reason" in claims ? claims : this.#allocator.allocate(host, claims);
  }

  /** Until a node is initialized, its type says which devices it will publish. (02:D-3) */
  #typeOf(node: ExistingNode): DeviceHostType {
    const name = node.labels[labels.instanceType] ?? "";
    const pool = this.#problem.pools.find(({ nodePool }) => nodePool.metadata.name === node.nodePool);
    const type = pool?.instanceTypes.find((one) => one.name === name);
    const templates = type === undefined ? noTemplateDevices : this.#templatesOf(type);
    if (!node.isInitialized) return { name, templates };
    return { name, templates: { ...noTemplateDevices, bindings: templates.bindings } };
  }

  #templatesOf(type: InstanceType): TemplateDevices {
    if (type.dynamicResources === undefined) return noTemplateDevices;
    const templates = this.#templates.get(type) ?? templateDevicesOf(type.dynamicResources);
    this.#templates.set(type, templates);
    return templates;
  }
}

const noDeviceObjects: DeviceObjects = { slices: [], claims: new Map(), classes: new Map(), movingPods: new Set() };

/** Devices of a Node that is not there, or not initialized, are not counted on. (02:D-3) */
function withoutUnusableSlices(objects: DeviceObjects, { nodes }: SchedulingProblem): DeviceObjects {
  const initialized = new Set(nodes.filter((node) => node.isInitialized).map(({ nodeName }) => nodeName));
  return {
    ...objects,
    slices: objects.slices.filter(({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ kind }) => kind === "Node");
      return owner === undefined || initialized.has(owner.name);
    }),
  };
}

/** Why the devices are not where the pod must be; undefined: they are. (02:N-3b) */
export function deviceRequirementsRefusal(
  node: Requirements,
  { requirements }: DeviceAllocation,
  { labelPolicy }: SchedulingProblem,
): DeviceRefusal | undefined {
  const conflicts = requirementConflicts(node, requirements, { allowUndefined: labelPolicy.wellKnown });
  if (conflicts.length === 0) return undefined;
  return { reason: "requirements", conflicts: describeRequirementConflicts(conflicts) };
}
