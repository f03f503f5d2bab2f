import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { simulationAnnotations } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type KubeletHealth, kubeletHealths } from "../../../cloud/instance-source.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import { interruptionKinds } from "../../aws/interruption/interruption-kinds.ts";
import { offeringPatternsOf } from "../offering-pattern-text.ts";
import type { OfferingPattern } from "../offering-supply.ts";
import type { SimulatedCloud } from "../simulated-cloud.ts";

const { interrupt, machine, outOfStock } = simulationAnnotations;
/** How a machine can be made to behave; `gone` ends it without a word. */
const machineStates = [...kubeletHealths, "gone"] as const;

type ApiNode = KubeObject & Node;

/** Does to the simulated cloud what annotations on Nodes ask for: interruptions, broken machines. (02:K-12) */
export function nodeAnnotationController(cloud: SimulatedCloud): Controller {
  return reconcileController({
    name: "simulation.node",
    triggers: [
      triggerOn<ApiNode>(builtInTypes.Node, ({ object }) =>
        object !== undefined && hasAnnotation(object, [interrupt, machine]) ? [object.metadata.name ?? ""] : [],
      ),
    ],
    reconcile: async (name, context) => {
      const node = context.view<ApiNode>(builtInTypes.Node).get(name);
      if (node === undefined) return undefined;
      if (cloud.find(name) === undefined)
        return void refuse(node, context, `${name} is no node of the simulated cloud`);
      setMachine(node, context, cloud);
      await interruptNode(node, context, cloud);
      return undefined;
    },
  });
}

function setMachine(node: ApiNode, context: ControllerContext, cloud: SimulatedCloud): void {
  const { name = "", annotations = {} } = node.metadata;
  const wanted = annotations[machine];
  if (wanted === undefined) return;
  const state = machineStates.find((one) => one === wanted);
  if (state === undefined) refuse(node, context, unknownValue(machine, wanted, machineStates));
  else if (state === "gone") cloud.vanish(name);
  else if (cloud.find(name)?.instance.kubelet !== state) cloud.setKubelet(name, state satisfies KubeletHealth);
}

/** The annotation is removed once the message is sent, so that it can be set again. */
async function interruptNode(node: ApiNode, context: ControllerContext, cloud: SimulatedCloud): Promise<void> {
  const { name = "", annotations = {} } = node.metadata;
  const wanted = annotations[interrupt];
  if (wanted === undefined || cloud.find(name) === undefined) return;
  const kind = interruptionKinds.find((one) => one === (wanted === "true" ? "spot_interrupted" : wanted));
  if (kind === undefined) {
    refuse(node, context, unknownValue(interrupt, wanted, ["true", ...interruptionKinds]));
    return;
  }
  const body = { metadata: { annotations: { [interrupt]: null } } };
  await ignoreKubeErrors(context.client.patch(builtInTypes.Node, { name }, { kind: "merge", body }), "not-found");
  if (kind === "spot_interrupted") cloud.interrupt(name);
  else cloud.notify(name, kind);
}

/** Empties stocks that annotations on node classes name, and fills them again when the annotation goes. (02:K-12) */
export function nodeClassAnnotationController(cloud: SimulatedCloud): Controller {
  const types = [karpenterTypes.KWOKNodeClass, karpenterTypes.EC2NodeClass];
  return reconcileController({
    name: "simulation.nodeclass",
    triggers: types.map((type) =>
      triggerOn(type, ({ object, old }) => {
        const isChanged = object?.metadata.annotations?.[outOfStock] !== old?.metadata.annotations?.[outOfStock];
        return isChanged ? [`${type.kind}/${(object ?? old).metadata.name}`] : [];
      }),
    ),
    start: () => new Map<string, readonly OfferingPattern[]>(),
    reconcile: async (key, context, emptied) => {
      const [kind = "", name = ""] = key.split("/");
      const type = types.find((one) => one.kind === kind);
      const nodeClass = type && context.view(type).get(name);
      const wanted = patternsIn(nodeClass, context);
      for (const pattern of emptied.get(key) ?? []) cloud.supply.clearAvailableCount(pattern);
      emptied.delete(key);
      if (wanted.length > 0) emptied.set(key, wanted);
      // What two classes name stays empty until both let it go.
      for (const patterns of emptied.values()) for (const pattern of patterns) cloud.setAvailableCount(pattern, 0);
      return undefined;
    },
  });
}

function patternsIn(nodeClass: KubeObject | undefined, context: ControllerContext): readonly OfferingPattern[] {
  const text = nodeClass?.metadata.annotations?.[outOfStock];
  if (nodeClass === undefined || text === undefined) return [];
  const { patterns, wrong } = offeringPatternsOf(text);
  if (wrong.length > 0) {
    const example = "m5.large, */us-west-2a, or */*/spot";
    refuse(
      nodeClass,
      context,
      `${outOfStock}: ${wrong.join(", ")} is not TYPE/ZONE/CAPACITY-TYPE; for example ${example}`,
    );
  }
  return patterns;
}

function hasAnnotation({ metadata }: KubeObject, keys: readonly string[]): boolean {
  return keys.some((key) => metadata.annotations?.[key] !== undefined);
}

function unknownValue(key: string, value: string, allowed: readonly string[]): string {
  return `${key}: ${JSON.stringify(value)} is unknown; use one of ${allowed.join(", ")}`;
}

/** The user sees it with `kubectl describe` and `kubectl events`. */
function refuse(object: KubeObject, { recordEvent }: Pick<ControllerContext, "recordEvent">, message: string): void {
  recordEvent(object, { type: "Warning", reason: "InvalidSimulation", message });
}
