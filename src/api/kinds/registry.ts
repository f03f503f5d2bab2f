import type * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { groups, labels } from "../labels.ts";
import { capacityBuffer } from "./capacity-buffer.ts";
import { ec2NodeClass } from "./ec2-node-class.ts";
import { kwokNodeClass } from "./kwok-node-class.ts";
import { nodeClaim } from "./node-claim.ts";
import { nodeOverlay } from "./node-overlay.ts";
import { nodePool } from "./node-pool.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly jsonPath: string;
  readonly type: "string" | "integer" | "date";
  /** 1: shown only with `-o wide`. */
  readonly priority?: 1;
}

/** One kind we serve: its names, its schema, how kubectl shows it. (01 §1.1) */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
  readonly columns: readonly PrinterColumn[];
  /** Whose kind it is; absent: everybody's. */
  readonly provider?: Exclude<Provider, "all">;
  readonly schema: (provider: Provider) => z.ZodType;
}

const age: PrinterColumn = { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" };
const ready: PrinterColumn = { name: "Ready", jsonPath: conditionStatus("Ready"), type: "string" };

function conditionStatus(type: string): string {
  return `.status.conditions[?(@.type=="${type}")].status`;
}

function column(name: string, jsonPath: string, type: PrinterColumn["type"] = "string"): PrinterColumn {
  return { name, jsonPath, type };
}

function wide(name: string, jsonPath: string, type: PrinterColumn["type"] = "string"): PrinterColumn {
  return { name, jsonPath, type, priority: 1 };
}

/** JSONPath of a label: dots inside a key are escaped. */
function labelPath(label: string): string {
  return `.metadata.labels.${label.replaceAll(".", "\\.")}`;
}

export const kinds = [
  {
    group: groups.karpenter,
    version: "v1",
    kind: "NodePool",
    plural: "nodepools",
    singular: "nodepool",
    scope: "Cluster",
    shortNames: [],
    categories: ["karpenter"],
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
    columns: [
      column("NodeClass", ".spec.template.spec.nodeClassRef.name"),
      column("Nodes", ".status.nodes"),
      ready,
      age,
      wide("Weight", ".spec.weight", "integer"),
      wide("CPU", ".status.resources.cpu"),
      wide("Memory", ".status.resources.memory"),
    ],
    schema: nodePool,
  },
  {
    group: groups.karpenter,
    version: "v1",
    kind: "NodeClaim",
    plural: "nodeclaims",
    singular: "nodeclaim",
    scope: "Cluster",
    shortNames: [],
    categories: ["karpenter"],
    columns: [
      column("Type", labelPath(labels.instanceType)),
      column("Capacity", labelPath(labels.capacityType)),
      column("Zone", labelPath(labels.zone)),
      column("Node", ".status.nodeName"),
      ready,
      age,
      wide("ImageID", ".status.imageID"),
      wide("ID", ".status.providerID"),
      wide("NodePool", labelPath(labels.nodePool)),
      wide("NodeClass", ".spec.nodeClassRef.name"),
      wide("Drifted", conditionStatus("Drifted")),
    ],
    schema: nodeClaim,
  },
  {
    group: groups.karpenter,
    version: "v1alpha1",
    kind: "NodeOverlay",
    plural: "nodeoverlays",
    singular: "nodeoverlay",
    scope: "Cluster",
    shortNames: ["overlays"],
    categories: ["karpenter"],
    columns: [ready, age, wide("Weight", ".spec.weight", "integer")],
    schema: nodeOverlay,
  },
  {
    group: groups.autoscaling,
    version: "v1beta1",
    kind: "CapacityBuffer",
    plural: "capacitybuffers",
    singular: "capacitybuffer",
    scope: "Namespaced",
    shortNames: ["cb"],
    categories: ["autoscaling"],
    columns: [
      column("Strategy", ".spec.provisioningStrategy"),
      column("PodTemplate", ".status.podTemplateRef.name"),
      column("Replicas", ".status.replicas", "integer"),
      column("ConditionsType", ".status.conditions[*].type"),
      column("ConditionsStatus", ".status.conditions[*].status"),
      column("ConditionsReason", ".status.conditions[*].reason"),
      age,
    ],
    schema: capacityBuffer,
  },
  {
    group: groups.aws,
    version: "v1",
    kind: "EC2NodeClass",
    plural: "ec2nodeclasses",
    singular: "ec2nodeclass",
    scope: "Cluster",
    shortNames: ["ec2nc", "ec2ncs"],
    categories: ["karpenter"],
    columns: [ready, age, wide("Role", ".spec.role")],
    provider: "aws",
    schema: ec2NodeClass,
  },
  {
    group: groups.kwok,
    version: "v1alpha1",
    kind: "KWOKNodeClass",
    plural: "kwoknodeclasses",
    singular: "kwoknodeclass",
    scope: "Cluster",
    shortNames: ["kwoknc", "kwokncs"],
    categories: ["karpenter"],
    columns: [],
    provider: "kwok",
    schema: kwokNodeClass,
  },
] as const satisfies readonly Kind[];

export type KindName = (typeof kinds)[number]["kind"];

/** The kind an object says it is, in the version we store. */
export function kindOf(apiVersion: unknown, kind: unknown): Kind | undefined {
  return kinds.find((one) => one.kind === kind && `${one.group}/${one.version}` === apiVersion);
}

/** The kinds an installation with this provider serves. */
export function kindsOf(provider: Provider): readonly Kind[] {
  return (kinds as readonly Kind[]).filter(
    (one) => provider === "all" || one.provider === undefined || one.provider === provider,
  );
}
