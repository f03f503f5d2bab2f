import type * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { groups, labels } from "../labels.ts";
import { capacityBufferSchema } from "./capacity-buffer.ts";
import { ec2NodeClassSchema } from "./ec2-node-class.ts";
import { kwokNodeClassSchema } from "./kwok-node-class.ts";
import { nodeClaimSchema } from "./node-claim.ts";
import { nodeOverlaySchema } from "./node-overlay.ts";
import { nodePoolSchema } from "./node-pool.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly jsonPath: string;
  readonly type: "string" | "integer" | "date";
  /** 1: shown only with `-o wide`. */
  readonly priority?: 1;
}

/** One kind we serve: its names, its schema, how kubectl shows it. (01 §1.1) */
export interface KarpenterKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
  readonly printerColumns: readonly PrinterColumn[];
  /** The provider the kind belongs to; absent for kinds every provider serves. */
  readonly provider?: Exclude<Provider, "all">;
  readonly schema: (provider: Provider) => z.ZodType;
}

const age = column("Age", ".metadata.creationTimestamp", "date");
const ready = column("Ready", conditionStatus("Ready"));

function conditionStatus(type: string): string {
  return `.status.conditions[?(@.type=="${type}")].status`;
}

function column(name: string, jsonPath: string, type: PrinterColumn["type"] = "string"): PrinterColumn {
  return { name, jsonPath, type };
}

function wideColumn(...parts: Parameters<typeof column>): PrinterColumn {
  return { ...column(...parts), priority: 1 };
}

/** JSONPath of a label: dots inside a key are escaped. */
function labelPath(label: string): string {
  return `.metadata.labels.${label.replaceAll(".", "\\.")}`;
}

function names<Kind extends string>(group: string, version: string, kind: Kind, plural: string) {
  return { group, version, kind, plural, singular: kind.toLowerCase() };
}

export const karpenterKinds = [
  {
    ...names(groups.karpenter, "v1", "NodePool", "nodepools"),
    scope: "Cluster",
    shortNames: [],
    categories: ["karpenter"],
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
    printerColumns: [
      column("NodeClass", ".spec.template.spec.nodeClassRef.name"),
      column("Nodes", ".status.nodes"),
      ready,
      age,
      wideColumn("Weight", ".spec.weight", "integer"),
      wideColumn("CPU", ".status.resources.cpu"),
      wideColumn("Memory", ".status.resources.memory"),
    ],
    schema: nodePoolSchema,
  },
  {
    ...names(groups.karpenter, "v1", "NodeClaim", "nodeclaims"),
    scope: "Cluster",
    shortNames: [],
    categories: ["karpenter"],
    printerColumns: [
      column("Type", labelPath(labels.instanceType)),
      column("Capacity", labelPath(labels.capacityType)),
      column("Zone", labelPath(labels.zone)),
      column("Node", ".status.nodeName"),
      ready,
      age,
      wideColumn("ImageID", ".status.imageID"),
      wideColumn("ID", ".status.providerID"),
      wideColumn("NodePool", labelPath(labels.nodePool)),
      wideColumn("NodeClass", ".spec.nodeClassRef.name"),
      wideColumn("Drifted", conditionStatus("Drifted")),
    ],
    schema: nodeClaimSchema,
  },
  {
    ...names(groups.karpenter, "v1alpha1", "NodeOverlay", "nodeoverlays"),
    scope: "Cluster",
    shortNames: ["overlays"],
    categories: ["karpenter"],
    printerColumns: [ready, age, wideColumn("Weight", ".spec.weight", "integer")],
    schema: nodeOverlaySchema,
  },
  {
    ...names(groups.autoscaling, "v1beta1", "CapacityBuffer", "capacitybuffers"),
    scope: "Namespaced",
    shortNames: ["cb"],
    categories: ["autoscaling"],
    printerColumns: [
      column("Strategy", ".spec.provisioningStrategy"),
      column("PodTemplate", ".status.podTemplateRef.name"),
      column("Replicas", ".status.replicas", "integer"),
      column("ConditionsType", ".status.conditions[*].type"),
      column("ConditionsStatus", ".status.conditions[*].status"),
      column("ConditionsReason", ".status.conditions[*].reason"),
      age,
    ],
    schema: capacityBufferSchema,
  },
  {
    ...names(groups.aws, "v1", "EC2NodeClass", "ec2nodeclasses"),
    scope: "Cluster",
    shortNames: ["ec2nc", "ec2ncs"],
    categories: ["karpenter"],
    printerColumns: [ready, age, wideColumn("Role", ".spec.role")],
    provider: "aws",
    schema: ec2NodeClassSchema,
  },
  {
    ...names(groups.kwok, "v1alpha1", "KWOKNodeClass", "kwoknodeclasses"),
    scope: "Cluster",
    shortNames: ["kwoknc", "kwokncs"],
    categories: ["karpenter"],
    printerColumns: [],
    provider: "kwok",
    schema: kwokNodeClassSchema,
  },
] as const satisfies readonly KarpenterKind[];

export type KarpenterKindName = (typeof karpenterKinds)[number]["kind"];

/** Our kind for an apiVersion and kind, in the version we store. */
export function karpenterKindOf(apiVersion: unknown, kind: unknown): KarpenterKind | undefined {
  return karpenterKinds.find((one) => one.kind === kind && `${one.group}/${one.version}` === apiVersion);
}

/** The kinds an installation with this provider serves. */
export function karpenterKindsOf(provider: Provider): readonly KarpenterKind[] {
  return (karpenterKinds as readonly KarpenterKind[]).filter(
    (one) => provider === "all" || one.provider === undefined || one.provider === provider,
  );
}
