import { parseNillableMs } from "../../util/duration.ts";
import { type Canonical, map, plain, scalar, set, struct } from "./canonical.ts";
import { hash64 } from "./hash64.ts";

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
  const canonical = struct({
    labels: map(metadata?.labels),
    annotations: map(metadata?.annotations),
    taints: set(spec.taints?.map(taint)),
    startupTaints: set(spec.startupTaints?.map(taint)),
    nodeClassRef: struct({ group: plain(group), kind: plain(kind), name: plain(name) }),
    terminationGracePeriod: duration(spec.terminationGracePeriod),
    expireAfter: duration(spec.expireAfter),
  });
  return hash64(canonical ?? "");
}

function taint({ key, value, effect, timeAdded }: HashedTaint): Canonical {
  return struct({ key: plain(key), value: plain(value), effect: plain(effect), timeAdded: plain(timeAdded) });
}

// The length counts, not how it is written: 60m and 1h are the same. Never is no duration. (01 §0.3)
function duration(text: string | undefined): Canonical {
  if (text === undefined) return undefined;
  const ms = parseNillableMs(text);
  return ms === "Never" ? undefined : scalar(ms ?? text);
}
