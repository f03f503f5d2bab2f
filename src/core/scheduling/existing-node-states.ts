import { labels } from "../../api/labels.ts";
import { mapInSteps, type Steps } from "../../util/steps.ts";
import { subtractResources } from "../resources.ts";
import { type DaemonPod, daemonRequestsOnNode } from "./daemon-overhead.ts";
import type { LabelReader } from "./label-reader.ts";
import type { ExistingNodeState } from "./pass-state.ts";
import type { ExistingNode } from "./problem.ts";
import type { RequirementStates } from "./requirement-state.ts";
import type { ResourceSpace } from "./resource-space.ts";

interface ExistingNodeInput {
  /** DaemonSet pods to reserve resources for. */
  readonly daemons: readonly DaemonPod[];
  readonly space: ResourceSpace;
  readonly nodeRequirementStates: RequirementStates;
  readonly labelReader: LabelReader;
}

export function buildExistingNodeStates(
  nodes: readonly ExistingNode[],
  input: ExistingNodeInput,
): Steps<readonly ExistingNodeState[]> {
  return mapInSteps(nodes, (node, index) => existingNodeState(node, index, input));
}

/** An existing node with its available resources less those of DaemonSet pods it still lacks. (02 §5.4) */
function existingNodeState(
  node: ExistingNode,
  index: number,
  { daemons, space, nodeRequirementStates, labelReader }: ExistingNodeInput,
): ExistingNodeState {
  const requirements = labelReader.read({ ...node.labels, [labels.hostname]: node.hostname });
  const expectedDaemonRequests = daemonRequestsOnNode(daemons, { requirements, taints: node.taints });
  const missingDaemonRequests = Object.fromEntries(
    Object.entries(subtractResources(expectedDaemonRequests, node.daemonRequests)).filter(
      ([, quantity]) => quantity.sign() > 0,
    ),
  );
  const remainingResources = space.capacityRow(node.available);
  const missingRow = space.requestRow(missingDaemonRequests);
  // A daemon may ask for what the node does not offer: it will not run there, and must not keep other pods away. (02:A-8)
  for (const name of Object.keys(node.available)) {
    const dimension = space.indexOf(name);
    (remainingResources[dimension] as number) -= missingRow[dimension] as number;
  }
  return {
    index,
    node,
    requirementState: nodeRequirementStates.of(requirements.without(labels.hostname)),
    remainingResources,
    hostPorts: node.hostPorts,
    volumes: node.volumes,
    pods: [],
    isRemoved: false,
  };
}

/** Initialized nodes first, then by name. (02:T-8, 02 §12.1-6) */
export function compareExistingNodes(a: ExistingNode, b: ExistingNode): number {
  if (a.isInitialized !== b.isInitialized) return a.isInitialized ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.providerId === b.providerId ? 0 : a.providerId < b.providerId ? -1 : 1;
}
