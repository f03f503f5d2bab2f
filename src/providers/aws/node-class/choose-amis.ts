import type { Image } from "@aws-sdk/client-ec2";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { type Ami, type AmiPurpose, amiRequirementsFor } from "./ami-requirements.ts";

/** What an image is for, besides its architecture. */
export type PurposesOf = (imageId: string) => readonly Omit<AmiPurpose, "arch">[];

const architectures: Readonly<Record<string, AmiPurpose["arch"]>> = { x86_64: "amd64", arm64: "arm64" };

interface Candidate {
  readonly ami: Ami;
  readonly createdAtMs: number;
  readonly isDeprecated: boolean;
}

/** Of images with equal requirements the best, newest first, then by id. Other architectures are left out. (04 §1.3, §1.7) */
export function chosenAmis(
  images: readonly Image[],
  { purposesOf, nowMs }: { readonly purposesOf: PurposesOf; readonly nowMs: number },
): readonly Ami[] {
  const best = new Map<string, Candidate>();
  for (const candidate of images.flatMap((image) => candidatesOf(image, { purposesOf, nowMs }))) {
    const key = canonicalJson(candidate.ami.requirements);
    const known = best.get(key);
    if (known === undefined || isBetter(candidate, known)) best.set(key, candidate);
  }
  return [...best.values()]
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.ami.id < b.ami.id ? -1 : a.ami.id > b.ami.id ? 1 : 0))
    .map(({ ami }) => ami);
}

function candidatesOf(
  { ImageId: id = "", Name: name, Architecture, CreationDate, DeprecationTime }: Image,
  { purposesOf, nowMs }: { readonly purposesOf: PurposesOf; readonly nowMs: number },
): readonly Candidate[] {
  const arch = architectures[Architecture ?? ""];
  if (arch === undefined) return [];
  const isDeprecated = DeprecationTime !== undefined && Date.parse(DeprecationTime) <= nowMs;
  return purposesOf(id).map((purpose) => ({
    ami: {
      id,
      ...(name && { name }),
      ...(isDeprecated && { deprecated: true }),
      requirements: amiRequirementsFor({ arch, ...purpose }),
    },
    createdAtMs: CreationDate ? Date.parse(CreationDate) : 0,
    isDeprecated,
  }));
}

/** Not deprecated, then newer, then of the later name. */
function isBetter(one: Candidate, other: Candidate): boolean {
  if (one.isDeprecated !== other.isDeprecated) return other.isDeprecated;
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs > other.createdAtMs;
  return (one.ami.name ?? "") > (other.ami.name ?? "");
}
