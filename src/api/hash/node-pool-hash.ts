import { neverDuration, parseDurationNs } from "../../util/duration.ts";
import {
  bytesHash,
  type FieldHash,
  integerHash,
  mapHash,
  optionalHash,
  plainTextHash,
  setHash,
  structHash,
  textHash,
} from "./struct-hash.ts";

interface HashedTaint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
  readonly timeAdded?: string | undefined;
}

/** The part of `spec.template` whose change drifts nodes. Requirements have a check of their own. (01 §6.1) */
export interface HashedTemplate {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec: {
    readonly taints?: readonly HashedTaint[] | undefined;
    readonly startupTaints?: readonly HashedTaint[] | undefined;
    readonly nodeClassRef: { readonly group: string; readonly kind: string; readonly name: string };
    readonly terminationGracePeriod?: string | undefined;
    readonly expireAfter?: string | undefined;
  };
}

/** Bit for bit upstream's hash of version `v3`; names and order are those of its Go types. (01 §6.1, §6.3) */
export function nodePoolHash({ metadata, spec }: HashedTemplate): string {
  return structHash("NodeClaimTemplate", { ObjectMeta: metadataHash(metadata), Spec: specHash(spec) }).toString();
}

function metadataHash(metadata: HashedTemplate["metadata"]): FieldHash {
  const labels = optionalHash(metadata?.labels, mapHash);
  const annotations = optionalHash(metadata?.annotations, mapHash);
  if (labels === undefined && annotations === undefined) return undefined;
  return structHash("ObjectMeta", { Labels: labels, Annotations: annotations });
}

function specHash(spec: HashedTemplate["spec"]): bigint {
  return structHash("NodeClaimTemplateSpec", {
    Taints: optionalHash(spec.taints, taintsHash),
    StartupTaints: optionalHash(spec.startupTaints, taintsHash),
    NodeClassRef: optionalHash(spec.nodeClassRef, ({ kind, name, group }) =>
      structHash("NodeClassReference", {
        Kind: plainTextHash(kind),
        Name: plainTextHash(name),
        Group: plainTextHash(group),
      }),
    ),
    TerminationGracePeriod: optionalHash(spec.terminationGracePeriod, gracePeriodHash),
    ExpireAfter: expireAfterHash(spec.expireAfter),
  });
}

function taintsHash(taints: readonly HashedTaint[]): bigint {
  return setHash(
    taints.map(({ key, value, effect, timeAdded }) =>
      structHash("Taint", {
        Key: plainTextHash(key),
        Value: plainTextHash(value),
        Effect: plainTextHash(effect),
        TimeAdded: optionalHash(timeAdded, (text) => structHash("Time", { Time: timeHash(text) })),
      }),
    ),
  );
}

// A period of zero is a zero field in a struct that is there.
function gracePeriodHash(text: string): bigint {
  return structHash("Duration", { Duration: parseDurationNs(text) === 0n ? undefined : lengthHash(text) });
}

// Never is no duration: the field is unset then. (01 §0.3)
function expireAfterHash(text: string | undefined): FieldHash {
  if (text === undefined || text === neverDuration) return undefined;
  return structHash("NillableDuration", { Duration: lengthHash(text) });
}

/** Durations count by their length: 60m and 1h are the same. Admission refuses what is no duration. */
function lengthHash(text: string): bigint {
  const ns = parseDurationNs(text);
  return ns === undefined ? textHash(text) : integerHash(ns, 8);
}

const secondsToUnixEpoch = 62_135_596_800n; // from the first of January of the year 1

/** Go's binary form of a time: a version, seconds since the year 1, nanoseconds, and minutes east of UTC. */
function timeHash(text: string): bigint {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return textHash(text);
  const view = new DataView(new ArrayBuffer(15));
  view.setUint8(0, 1);
  view.setBigInt64(1, BigInt(Math.floor(ms / 1_000)) + secondsToUnixEpoch);
  view.setInt32(9, Number((/\.(\d{1,9})/.exec(text)?.[1] ?? "").padEnd(9, "0")));
  return bytesHash(new Uint8Array(view.buffer));
}
