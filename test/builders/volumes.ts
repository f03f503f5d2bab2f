import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import type { VolumeIndex } from "../../src/core/volumes.ts";
import { expression, type ShortRequirement } from "./keys.ts";

/** A claim with its volume, or with the class that will make one. */
export interface VolumeDraft {
  readonly claim: string;
  readonly namespace?: string;
  readonly driver?: string;
  /** Each list is one alternative; none at all means anywhere. */
  readonly zones?: readonly (readonly string[])[];
  /** Alternatives in full, in place of zones. */
  readonly terms?: readonly (readonly ShortRequirement[])[];
  /** A directory of one host instead of a disk. */
  readonly isLocal?: boolean;
  /** Made on demand by a class instead of being there. */
  readonly isUnbound?: boolean;
}

export function volumeIndex(drafts: readonly VolumeDraft[]): VolumeIndex {
  const claims = new Map<string, PersistentVolumeClaim>();
  const volumes = new Map<string, PersistentVolume>();
  const classes = new Map<string, StorageClass>();
  for (const draft of drafts) {
    const { claim, namespace = "default" } = draft;
    const name = `${draft.isUnbound ? "class" : "volume"}-of-${claim}`;
    if (draft.isUnbound) classes.set(name, storageClass(name, draft));
    else volumes.set(name, volume(name, draft));
    const spec = draft.isUnbound ? { storageClassName: name } : { volumeName: name };
    claims.set(`${namespace}/${claim}`, { metadata: { name: claim, namespace }, spec });
  }
  return { claims, volumes, classes };
}

function volume(name: string, { driver = "disk.example.com", zones = [], ...draft }: VolumeDraft): PersistentVolume {
  const terms = draft.terms ?? zones.map((values): readonly ShortRequirement[] => [["zone", "In", ...values]]);
  const nodeSelectorTerms = terms.map((term) => ({ matchExpressions: term.map(expression) }));
  const nodeAffinity = terms.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } };
  const source = draft.isLocal ? { local: {} } : { csi: { driver } };
  return { metadata: { name }, spec: { ...source, ...nodeAffinity } };
}

function storageClass(name: string, { driver = "disk.example.com", zones = [] }: VolumeDraft): StorageClass {
  const allowedTopologies = zones.map((values) => ({ matchLabelExpressions: [{ key: labels.zone, values }] }));
  return { metadata: { name }, provisioner: driver, volumeBindingMode: "WaitForFirstConsumer", allowedTopologies };
}
