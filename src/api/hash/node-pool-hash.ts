import { parseNillableDurationMs } from "../../util/duration.ts";
import { hash64 } from "../../util/hash.ts";
import {
  type Canonical,
  canonicalMap,
  canonicalNonZero,
  canonicalScalar,
  canonicalSet,
  canonicalStruct,
} from "./canonical.ts";

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

export function nodePoolHash({ metadata, spec }: HashedTemplate): string {
  const { group, kind, name } = spec.nodeClassRef;
  const canonical = canonicalStruct({
    labels: canonicalMap(metadata?.labels),
    annotations: canonicalMap(metadata?.annotations),
    taints: canonicalSet(spec.taints?.map(canonicalTaint)),
    startupTaints: canonicalSet(spec.startupTaints?.map(canonicalTaint)),
    nodeClassRef: canonicalNonZeros({ group, kind, name }),
    terminationGracePeriod: canonicalDuration(spec.terminationGracePeriod),
    expireAfter: canonicalDuration(spec.expireAfter),
  });
  return hash64(canonical ?? "");
}

function canonicalTaint({ key, value, effect, timeAdded }: HashedTaint): Canonical {
  return canonicalNonZeros({ key, value, effect, timeAdded });
}

function canonicalNonZeros(fields: Readonly<Record<string, string | undefined>>): Canonical {
  return canonicalStruct(
    Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, canonicalNonZero(text)])),
  );
}

// Durations are compared by length: 60m and 1h are the same. Never is not a duration. (01 §0.3)
function canonicalDuration(text: string | undefined): Canonical {
  if (text === undefined) return undefined;
  const ms = parseNillableDurationMs(text);
  return ms === "Never" ? undefined : canonicalScalar(ms ?? text);
}
