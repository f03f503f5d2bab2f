import { Quantity } from "../../util/quantity.ts";

export type BufferResourceList = Readonly<Record<string, string | number>>;

/** What determines the number of virtual pods of a buffer. */
export interface BufferReplicaInputs {
  readonly replicas?: number | undefined;
  readonly percentage?: number | undefined;
  readonly limits?: BufferResourceList | undefined;
  /** The workload of `scalableRef`; without replicas it has one. Absent with `podTemplateRef`. */
  readonly scalable?: { readonly replicas?: number | undefined } | undefined;
  /** Summed requests of one pod of the template. */
  readonly requests: BufferResourceList;
}

/** The larger of the two sizes, capped by the limits; the limits alone if there is no size. (01 §1.5, §9.10) */
export function bufferReplicas(size: BufferReplicaInputs): number {
  const sizes = [percentageReplicas(size), size.replicas].filter((one) => one !== undefined);
  const cap = limitReplicas(size);
  if (sizes.length === 0) return cap ?? 0;
  return Math.max(0, Math.min(Math.max(...sizes), cap ?? Number.POSITIVE_INFINITY));
}

function percentageReplicas({ percentage, scalable }: BufferReplicaInputs): number | undefined {
  if (percentage === undefined || scalable === undefined) return undefined;
  const { replicas = 1 } = scalable;
  return replicas === 0 ? undefined : Math.ceil((replicas * percentage) / 100);
}

// Only resources that are limited and requested count; a pod that requests none of them is not limited.
function limitReplicas({ limits = {}, requests }: BufferReplicaInputs): number | undefined {
  const caps = Object.entries(limits).flatMap(([resource, limit]) => {
    const request = Object.hasOwn(requests, resource) ? requests[resource] : undefined;
    const cap = request === undefined ? undefined : podsWithinLimit(request, limit);
    return cap === undefined ? [] : [cap];
  });
  return caps.length === 0 ? undefined : Math.min(...caps);
}

function podsWithinLimit(request: string | number, limit: string | number): number | undefined {
  const [one, all] = [Quantity.tryParse(request), Quantity.tryParse(limit)];
  if (one === undefined || all === undefined || one.sign() <= 0) return undefined;
  return all.sign() <= 0 ? 0 : Number(all.nano / one.nano);
}
