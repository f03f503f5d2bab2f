import type { Condition, Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { type NodeClassRef, nodeClassLabelKey } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import { defaultExpireAfter } from "../../api/vocabulary.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { allocatableOf, type InstanceType } from "../instance-type.ts";
import type { Resources } from "../resources.ts";
import { nodeClassRefOf } from "./node-classes.ts";

export interface CompletionContext {
  /** The node class of claims without a reference and without a pool. */
  readonly defaultNodeClass: NodeClassRef;
  /** Of further providers: Nodes without a claim may be of their types. */
  readonly otherNodeClasses?: readonly NodeClassRef[];
  /** Instance types offered to a node class. */
  readonly typesFor: (nodeClass: NodeClassRef) => readonly InstanceType[];
  readonly nowMs: number;
  /** Pods without a creation timestamp are new in a cluster that has others; in files alone earlier ones are older. */
  readonly hasNewPods?: boolean;
}

/** The age of nodes and claims without a creation timestamp. */
const defaultAgeMs = 24 * 3_600_000;

type Labels = Readonly<Record<string, string>>;

/**
 * Nodes and claims completed as their lifecycle controllers would have, by the given object. A claim belongs to the Node
 * of the same name, provider id or status.nodeName; a claim without a Node is launched and not registered.
 */
export function completeNodesAndClaims(
  objects: readonly KubeObject[],
  context: CompletionContext,
): ReadonlyMap<KubeObject, KubeObject> {
  const claims = objects.filter(({ kind }) => kind === "NodeClaim");
  const nodes = objects.filter(({ kind }) => kind === "Node") as readonly (KubeObject & Node)[];
  const types = new InstanceTypeIndex(context);
  const classOfPool = poolNodeClasses(objects);
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const byProviderId = new Map(nodes.flatMap((node) => (node.spec?.providerID ? [[node.spec.providerID, node]] : [])));

  const completed = new Map<KubeObject, KubeObject>();
  const claimOfNode = new Map<KubeObject, IncompleteClaim>();
  for (const [index, object] of claims.entries()) {
    const { metadata, status } = object as unknown as IncompleteClaim;
    const id = status?.providerID;
    const node = byName.get(status?.nodeName || metadata.name) ?? (id ? byProviderId.get(id) : undefined);
    const claim = completeClaim(object, { node, index, types, context, classOfPool });
    completed.set(object, claim);
    if (node !== undefined) claimOfNode.set(node, claim as unknown as IncompleteClaim);
  }
  for (const node of nodes) {
    completed.set(node, completeNode(node, { claim: claimOfNode.get(node), types, context }));
  }
  return completed;
}

/** A NodeClaim that may lack the fields we fill in. */
type IncompleteClaim = Conditioned & {
  readonly metadata: KubeObject["metadata"];
  readonly spec?: Partial<NodeClaim["spec"]>;
  readonly status?: Partial<NonNullable<NodeClaim["status"]>> & { readonly conditions?: readonly Condition[] };
};

interface ClaimCompletion {
  readonly node: (KubeObject & Node) | undefined;
  /** Its index among the claims. */
  readonly index: number;
  readonly types: InstanceTypeIndex;
  readonly context: CompletionContext;
  readonly classOfPool: ReadonlyMap<string, NodeClassRef>;
}

/** The node classes of NodePools, by the pool's name. */
function poolNodeClasses(objects: readonly KubeObject[]): ReadonlyMap<string, NodeClassRef> {
  return new Map(
    objects.flatMap((object) => {
      const ref = object.kind === "NodePool" ? nodeClassRefOf(object) : undefined;
      return ref === undefined ? [] : [[object.metadata.name ?? "", ref]];
    }),
  );
}

function completeClaim(object: KubeObject, completion: ClaimCompletion): KubeObject {
  const { node, index, types, context, classOfPool } = completion;
  const draft = object as unknown as IncompleteClaim;
  const pool = draft.metadata.labels?.[labels.nodePool] ?? "";
  const nodeClassRef = nodeClassRefOf(object) ?? classOfPool.get(pool) ?? context.defaultNodeClass;
  const creationTimestamp = draft.metadata.creationTimestamp ?? rfc3339(context.nowMs - defaultAgeMs + index * 1_000);
  const given = { [nodeClassLabelKey(nodeClassRef)]: nodeClassRef.name, ...draft.metadata.labels };
  const type = types.find(nodeClassRef, given);
  const conditions = claimConditions(draft, { isNode: node !== undefined, creationTimestamp });
  const nodeName = node?.metadata.name ?? draft.status?.nodeName;
  const isLaunched = isStatusConditionTrue({ ...draft, status: { conditions } }, "Launched");
  const providerID =
    draft.status?.providerID ||
    (isLaunched ? (node?.spec?.providerID ?? inventedProviderId(nodeName || object.metadata.name)) : "");
  return {
    ...object,
    metadata: { ...object.metadata, creationTimestamp, labels: { ...typeLabels(type), ...given } },
    spec: {
      ...{ requirements: [], expireAfter: defaultExpireAfter, ...draft.spec },
      nodeClassRef: draft.spec?.nodeClassRef ?? nodeClassRef,
    },
    status: {
      ...typeSizes(type),
      ...draft.status,
      ...(nodeName !== undefined && { nodeName }),
      ...(providerID !== "" && { providerID }),
      conditions,
    },
  };
}

function claimConditions(
  { status }: IncompleteClaim,
  { isNode, creationTimestamp }: { readonly isNode: boolean; readonly creationTimestamp: string },
): readonly Condition[] {
  const given = status?.conditions ?? [];
  const reached = isNode ? ["Launched", "Registered", "Initialized"] : ["Launched"];
  const missing = reached.filter((type) => given.every((condition) => condition.type !== type));
  const added = missing.map((type) => ({ type, status: "True", reason: type, message: "", lastTransitionTime: "" }));
  return [...given, ...(added as readonly Condition[])].map((condition) => ({
    ...condition,
    lastTransitionTime: condition.lastTransitionTime || creationTimestamp,
  }));
}

interface NodeCompletion {
  readonly claim: IncompleteClaim | undefined;
  readonly types: InstanceTypeIndex;
  readonly context: CompletionContext;
}

function completeNode(node: KubeObject & Node, { claim, types, context }: NodeCompletion): KubeObject {
  const name = node.metadata.name ?? "";
  const own = { ...lifecycleLabels(claim), ...node.metadata.labels };
  const type =
    claim?.spec?.nodeClassRef === undefined ? types.findAnywhere(own) : types.find(claim.spec.nodeClassRef, own);
  const created = node.metadata.creationTimestamp ?? claim?.metadata.creationTimestamp;
  const { conditions = [] } = node.status ?? {};
  return {
    ...node,
    metadata: {
      ...node.metadata,
      creationTimestamp: created ?? rfc3339(context.nowMs - defaultAgeMs),
      labels: { [labels.hostname]: name, ...typeLabels(type), ...own },
    },
    spec: { ...node.spec, providerID: node.spec?.providerID || claim?.status?.providerID || inventedProviderId(name) },
    status: {
      ...typeSizes(type),
      ...node.status,
      conditions: conditions.length > 0 ? conditions : [{ type: "Ready", status: "True" }],
    },
  };
}

/** The labels that registration and initialization write on a Node. */
function lifecycleLabels(claim: IncompleteClaim | undefined): Labels {
  if (claim === undefined || !isStatusConditionTrue(claim, "Registered")) return {};
  const isInitialized = isStatusConditionTrue(claim, "Initialized");
  return {
    ...claim.metadata.labels,
    [labels.registered]: "true",
    ...(isInitialized && { [labels.initialized]: "true" }),
  };
}

/** Instance types by name, for each node class. */
class InstanceTypeIndex {
  readonly #context: CompletionContext;
  readonly #byClass = new Map<string, ReadonlyMap<string, InstanceType>>();

  constructor(context: CompletionContext) {
    this.#context = context;
  }

  /** The instance type named by the label, if it is offered to the class. */
  find(nodeClass: NodeClassRef, { [labels.instanceType]: name }: Labels): InstanceType | undefined {
    if (name === undefined) return undefined;
    const key = `${nodeClass.group}/${nodeClass.kind}/${nodeClass.name}`;
    const known = this.#byClass.get(key) ?? new Map(this.#context.typesFor(nodeClass).map((type) => [type.name, type]));
    this.#byClass.set(key, known);
    return known.get(name);
  }

  /** The instance type of a Node that belongs to no claim. */
  findAnywhere(own: Labels): InstanceType | undefined {
    const { defaultNodeClass, otherNodeClasses = [] } = this.#context;
    for (const nodeClass of [defaultNodeClass, ...otherNodeClasses]) {
      const found = this.find(nodeClass, own);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Labels a type has one value for. */
function typeLabels(type: InstanceType | undefined): Labels {
  if (type === undefined) return {};
  return Object.fromEntries(
    [...type.requirements].flatMap(({ key, singleValue }) =>
      singleValue === undefined ? [] : [[key, singleValue] as const],
    ),
  );
}

function typeSizes(type: InstanceType | undefined): {
  readonly capacity?: ResourceList;
  readonly allocatable?: ResourceList;
} {
  return type === undefined
    ? {}
    : { capacity: toResourceList(type.capacity), allocatable: toResourceList(allocatableOf(type)) };
}

function toResourceList(amounts: Resources): ResourceList {
  return Object.fromEntries(Object.entries(amounts).map(([name, quantity]) => [name, quantity.toString()]));
}

/** A provider id for nodes without one; no cloud uses it. */
function inventedProviderId(name: string | undefined): string {
  return `plan://${name ?? ""}`;
}
