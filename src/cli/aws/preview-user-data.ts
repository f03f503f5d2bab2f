import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { awsLabels, type CapacityType, labels } from "../../api/labels.ts";
import { didYouMean } from "../../api/manifest/closest-match.ts";
import { isKubeObject } from "../../api/object.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { ec2InstanceTypes } from "../../providers/aws/catalogue.ts";
import { launchGroups } from "../../providers/aws/launch/launch-groups.ts";
import { maxUserDataBytes } from "../../providers/aws/launch/launch-template-spec.ts";
import { nodeUserData } from "../../providers/aws/launch/node-user-data.ts";
import { nodeSettingsOf } from "../../providers/aws/node-class-settings.ts";
import type { ClusterFacts, UserDataErrorCode } from "../../providers/aws/user-data/user-data-request.ts";

export interface PreviewOptions {
  readonly cluster: ClusterFacts;
  readonly nodeclass: string | undefined;
  readonly nodepool: string | undefined;
  readonly instanceType: string;
  readonly capacityType: CapacityType;
}

export type UserDataPreview =
  | { readonly kind: "ok"; readonly text: string; readonly warnings: readonly string[] }
  | { readonly kind: "error"; readonly message: string; readonly warnings: readonly string[] };

/** What a node would boot with that is launched from a class for a pool. */
export function previewUserData(objects: readonly unknown[], options: PreviewOptions): UserDataPreview {
  const nodeClass = oneOf<Ec2NodeClass>(objectsOfKind(objects, "EC2NodeClass"), "EC2NodeClass", options.nodeclass);
  if ("message" in nodeClass) return failed(nodeClass.message);
  const { spec, metadata } = nodeClass.found;
  if (spec === undefined) return failed(`EC2NodeClass ${metadata.name} has no spec`);
  const pool = poolOf(objects, metadata.name ?? "", options.nodepool);
  if ("message" in pool) return failed(pool.message);
  const type = namedType(nodeClass.found, options.instanceType);
  if ("message" in type) return failed(type.message);

  const { cluster, capacityType } = options;
  const [group] = launchGroups([type.found], {
    kubelet: spec.kubelet,
    dnsIp: cluster.dnsIp,
    usesEfa: false,
    isReserved: false,
  });
  const claim = claimOf(metadata.name ?? "", pool.found);
  const result = nodeUserData({ spec, claim, capacityType, cluster, kubelet: group?.kubelet ?? {} });
  if (result.kind === "error") return failed(`${result.message}${advice[result.code]}`);
  const bytes = Buffer.byteLength(result.text);
  const tooLong = bytes > maxUserDataBytes ? [`user data has ${bytes} bytes and EC2 accepts ${maxUserDataBytes}`] : [];
  return { kind: "ok", text: result.text, warnings: [...result.warnings, ...tooLong] };
}

const advice: Readonly<Record<UserDataErrorCode, string>> = {
  "no-cluster-cidr": "; give it with --cidr",
  "invalid-mime": " (spec.userData begins like a MIME archive)",
  "invalid-toml": " (spec.userData must be TOML)",
  "invalid-kubelet": " (spec.kubelet)",
};

type Choice<T> = { readonly found: T } | { readonly message: string };

function objectsOfKind<T>(objects: readonly unknown[], kind: string): readonly T[] {
  return objects.filter((object) => isKubeObject(object) && object.kind === kind) as readonly T[];
}

interface Named {
  readonly metadata: { readonly name?: string | undefined };
}

function oneOf<T extends Named>(objects: readonly T[], kind: string, name: string | undefined): Choice<T> {
  const names = objects.map(({ metadata }) => metadata.name ?? "").join(", ");
  if (objects.length === 0) return { message: `the files have no ${kind}` };
  const found = name === undefined ? objects : objects.filter(({ metadata }) => metadata.name === name);
  const [first] = found;
  if (first === undefined) return { message: `the files have no ${kind} ${name}, but ${names}` };
  if (found.length > 1) return { message: `the files have several: ${names}; choose one with --${kind === "NodePool" ? "nodepool" : "nodeclass"}` };
  return { found: first };
}

/** A class is also used without a pool. */
function poolOf(objects: readonly unknown[], className: string, name: string | undefined): Choice<NodePool | undefined> {
  const using = objectsOfKind<NodePool>(objects, "NodePool").filter(
    ({ spec }) => spec.template.spec.nodeClassRef.name === className,
  );
  return using.length === 0 && name === undefined ? { found: undefined } : oneOf(using, "NodePool", name);
}

function namedType(nodeClass: Ec2NodeClass, name: string): Choice<InstanceType> {
  const result = ec2InstanceTypes({ ...nodeSettingsOf(nodeClass, { allowsExpressions: true }), includeRetired: true });
  if ("problem" in result) return { message: result.problem.message };
  const found = result.types.find((type) => type.name === name);
  if (found !== undefined) return { found };
  const names = result.types.map((type) => type.name);
  return { message: `no instance type ${name}${didYouMean(name, names)}` };
}

function claimOf(className: string, pool: NodePool | undefined): Pick<NodeClaim, "metadata" | "spec"> {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: className };
  if (pool === undefined) {
    return { metadata: { labels: {} }, spec: { requirements: [], nodeClassRef, expireAfter: "Never" } };
  }
  const { metadata, spec } = pool.spec.template;
  return {
    metadata: {
      labels: {
        ...metadata?.labels,
        [labels.nodePool]: pool.metadata.name ?? "",
        [awsLabels.nodeClass]: className,
      },
    },
    spec: {
      requirements: [],
      nodeClassRef,
      expireAfter: "Never",
      ...(spec.taints && { taints: spec.taints }),
      ...(spec.startupTaints && { startupTaints: spec.startupTaints }),
    },
  };
}

function failed(message: string): UserDataPreview {
  return { kind: "error", message, warnings: [] };
}
