import { createHash, createHmac } from "node:crypto";
import * as z from "zod";
import type { ZonalShiftApi } from "./aws-api.ts";
import { AwsError, withoutAccount } from "./aws-error.ts";
import { awsErrorOf } from "./sdk-call.ts";

/** The part of `fetch` that is used. */
export type SignedFetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal | null },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface ZonalShiftOptions {
  readonly region: string;
  /** Instead of the region's own. */
  readonly endpoint?: string | undefined;
  readonly credentials: () => Promise<Credentials>;
  readonly fetch: SignedFetch;
  /** Milliseconds since the epoch: shifts end, and signatures are of a time. */
  readonly now: () => number;
}

const service = "arc-zonal-shift";
const operation = "arc-zonal-shift:GetManagedResource";

/** ARC zonal shift: the SDK has no client for it, so the one call is signed and sent here. (04 §2.9) */
export function signedZonalShift(options: ZonalShiftOptions): ZonalShiftApi {
  return {
    shiftedZoneIds: async (clusterArn, { signal } = {}) => {
      const base = new URL(options.endpoint ?? defaultEndpoint(options.region));
      const path = `/managedresources/${encodeURIComponent(clusterArn)}`;
      try {
        const headers = await signedHeaders(options, { host: base.host, path });
        const response = await options.fetch(`${base.origin}${path}`, { headers, signal: signal ?? null });
        const text = await response.text();
        if (!response.ok) throw refusal(response.status, text);
        return shiftedZonesIn(text, options.now());
      } catch (error) {
        throw awsErrorOf(operation, error);
      }
    },
  };
}

function defaultEndpoint(region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

async function signedHeaders(
  { region, credentials, now }: ZonalShiftOptions,
  { host, path }: { readonly host: string; readonly path: string },
): Promise<Readonly<Record<string, string>>> {
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const signer = new SignatureV4({ service, region, credentials, sha256: NodeSha256 });
  const request = { method: "GET", protocol: "https:", hostname: host, path, headers: { host } };
  const { headers } = await signer.sign(request, { signingDate: new Date(now()) });
  return headers;
}

/** What the signer wants of a hash. */
class NodeSha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Uint8Array };

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    throw new Error("a signature needs each hash once");
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === "string") return secret;
  return secret instanceof ArrayBuffer
    ? new Uint8Array(secret)
    : new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}

const shift = z.object({
  appliedStatus: z.string().optional(),
  awayFrom: z.string(),
  /** Seconds since the epoch; autoshifts have none, as they end when AWS ends them. */
  expiryTime: z.number().optional(),
});
const managedResource = z.object({ zonalShifts: z.array(shift).optional(), autoshifts: z.array(shift).optional() });

/** Zones with a shift that is applied and has not expired. */
export function shiftedZonesIn(text: string, nowMs: number): string[] {
  const { zonalShifts = [], autoshifts = [] } = managedResource.parse(JSON.parse(text));
  const applied = [...zonalShifts, ...autoshifts].filter(
    ({ appliedStatus, expiryTime }) =>
      appliedStatus === "APPLIED" && (expiryTime === undefined || expiryTime * 1_000 > nowMs),
  );
  return [...new Set(applied.map(({ awayFrom }) => awayFrom))].sort();
}

function refusal(status: number, text: string): AwsError {
  const [, code = `Http${status}`] = /"(?:__type|code)"\s*:\s*"(?:[^"#]*#)?([^"]+)"/.exec(text) ?? [];
  const [, message = code] = /"message"\s*:\s*"([^"]+)"/i.exec(text) ?? [];
  return new AwsError(operation, code, withoutAccount(message), { status });
}
