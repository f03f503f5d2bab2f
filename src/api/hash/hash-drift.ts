import { annotations } from "../labels.ts";

export type Annotations = Readonly<Record<string, string>>;

/**
 * Versions of the hashes. Our bits are upstream's, so are the versions: a cluster goes from one to the other and back
 * without any claim being stamped anew. They change when a hashed default changes, or a field joins, leaves or changes
 * its type. Claims of any other version, such as our former `ts-v1`, are stamped anew. (01 §6.3)
 */
export const nodePoolHashVersion = "v3";
export const ec2NodeClassHashVersion = "v6";

/** The annotations that hold a hash and its version, on the owner and its claims. */
export interface HashAnnotationKeys {
  readonly hash: string;
  readonly version: string;
}

export const hashAnnotationKeys = {
  nodePool: { hash: annotations.nodePoolHash, version: annotations.nodePoolHashVersion },
  ec2NodeClass: { hash: annotations.ec2NodeClassHash, version: annotations.ec2NodeClassHashVersion },
} as const satisfies Readonly<Record<string, HashAnnotationKeys>>;

/** The annotations of both. */
export interface HashAnnotationSides {
  readonly claim: Annotations | undefined;
  readonly owner: Annotations | undefined;
}

/** Static drift. Hashes are compared only when all four annotations exist and the versions agree. (01 §6.3) */
export function isDriftedByHash(stamp: HashAnnotationKeys, { claim, owner }: HashAnnotationSides): boolean {
  const versions = [claim?.[stamp.version], owner?.[stamp.version]];
  const hashes = [claim?.[stamp.hash], owner?.[stamp.hash]];
  if ([...versions, ...hashes].includes(undefined)) return false;
  return versions[0] === versions[1] && hashes[0] !== hashes[1];
}

/** Whether only one of claim and owner has the new hash version yet: such hashes cannot be compared. */
export function areHashVersionsDifferent(
  { version }: HashAnnotationKeys,
  { claim, owner }: HashAnnotationSides,
): boolean {
  const [own, owners] = [claim?.[version], owner?.[version]];
  return own !== undefined && owners !== undefined && own !== owners;
}

export interface ClaimHashState {
  readonly name: string;
  readonly annotations?: Annotations | undefined;
  /** Whether the claim has a Drifted condition at all. */
  readonly isDrifted: boolean;
}

export interface HashUpdates {
  /** Annotations to add, by claim. They are written first, so that after a crash the whole step is repeated. */
  readonly claims: readonly { readonly name: string; readonly annotations: Annotations }[];
  /** Annotations to add to the owner; absent when it already carries them. */
  readonly owner: Annotations | undefined;
}

/** What a hash controller writes: the owner's hash, and on a change of version the claims' before it. (01 §6.3) */
export function hashUpdatesFor(
  stamp: HashAnnotationKeys,
  now: {
    readonly hash: string;
    readonly version: string;
    readonly owner: Annotations | undefined;
    readonly claims: readonly ClaimHashState[];
  },
): HashUpdates {
  const isNewVersion = now.owner?.[stamp.version] !== now.version;
  const isCurrent = !isNewVersion && now.owner?.[stamp.hash] === now.hash;
  return {
    claims: isNewVersion
      ? now.claims.filter((claim) => claim.annotations?.[stamp.version] !== now.version).map(restamped)
      : [],
    owner: isCurrent ? undefined : { [stamp.hash]: now.hash, [stamp.version]: now.version },
  };

  // A drifted claim keeps its old hash: with a new one it would no longer look drifted.
  function restamped({ name, isDrifted }: ClaimHashState) {
    const version = { [stamp.version]: now.version };
    return { name, annotations: isDrifted ? version : { ...version, [stamp.hash]: now.hash } };
  }
}
