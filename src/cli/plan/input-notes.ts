import type { InputNote } from "../../core/scenario/input-note.ts";

type NoteOf<Code extends InputNote["code"]> = Extract<InputNote, { readonly code: Code }>;

/** What was read otherwise than written, one sentence a kind of note. */
export function inputNoteTexts(notes: readonly InputNote[]): readonly string[] {
  const of = <Code extends InputNote["code"]>(code: Code) =>
    notes.filter((note): note is NoteOf<Code> => note.code === code);
  return [
    ...rangeTexts(of("replica-range")),
    ...of("autoscaler-without-target").map(
      ({ autoscaler, target }) => `${autoscaler} is not used: its target ${targetText(target)} is not in the input`,
    ),
    ...of("workload-ref-missing").map(
      ({ workload, target }) =>
        `the pods of ${workload} are not planned: its ${target} is not in the input; add its file`,
    ),
    ...of("workload-runs-twice").map(
      ({ workload, target, count }) =>
        `${target} keeps its own pods (${count}) beside those of ${workload}; set its replicas to 0, or spec.workloadRef.scaleDown of the Rollout`,
    ),
    ...unplannedTexts(of("pods-not-planned")),
    ...of("class-assumed").map(
      ({ storageClass, claims }) =>
        `${storageClass === undefined ? "no default StorageClass is" : `StorageClass ${storageClass} is not`} in the input: ${claimsText(claims)} planned as if volumes were made where the pods run; add the class with -f`,
    ),
    ...of("volume-assumed").map(
      ({ volume, claims }) =>
        `PersistentVolume ${volume} is not in the input: ${claimsText(claims)} planned as if it could be reached from everywhere; add it with -f, its zone matters`,
    ),
    ...of("zone-unknown").map(
      ({ claims }) =>
        `${claimsText(claims)} planned as if reached from every zone the class allows: with volumeBindingMode Immediate the volume is made before the pod is scheduled, in a zone that is not known here`,
    ),
    ...of("runtime-class-missing").map(
      ({ runtimeClass }) =>
        `RuntimeClass ${runtimeClass} is not in the input: its pods are planned without its overhead; add it with -f`,
    ),
  ];
}

const workloadsShown = 5;

/** How many pods autoscaled workloads are planned with, and what they may become. */
function rangeTexts(notes: readonly NoteOf<"replica-range">[]): readonly string[] {
  if (notes.length === 0) return [];
  const listed = listText(
    notes.map(({ workload, planned, range }) => `${workload} with ${planned} (${range.least} to ${range.most})`),
  );
  return [`autoscaled: ${listed}; plan the ends of the ranges with --replicas min or --replicas max`];
}

function claimsText(claims: readonly string[]): string {
  return claims.length === 1
    ? `PersistentVolumeClaim ${claims[0]} is`
    : `PersistentVolumeClaims ${listText(claims)} are`;
}

const unplannedReasons: Readonly<Record<NoteOf<"pods-not-planned">["because"], string>> = {
  "no-replicas": "it has no spec.replicas, so their number is not known; add a Deployment like it",
  "hidden-template": "its pod templates are not in spec.template; add Pods or Deployments like them",
};

function unplannedTexts(notes: readonly NoteOf<"pods-not-planned">[]): readonly string[] {
  return (Object.keys(unplannedReasons) as (keyof typeof unplannedReasons)[]).flatMap((because) => {
    const names = notes.filter((note) => note.because === because).map(({ workload }) => workload);
    return names.length === 0 ? [] : [`the pods of ${listText(names)} are not planned: ${unplannedReasons[because]}`];
  });
}

function listText(texts: readonly string[]): string {
  const more = texts.length > workloadsShown ? ` and ${texts.length - workloadsShown} more` : "";
  return `${texts.slice(0, workloadsShown).join(", ")}${more}`;
}

/** kind/namespace/name as people write it. */
function targetText(key: string): string {
  return key.replace("/", " ");
}
