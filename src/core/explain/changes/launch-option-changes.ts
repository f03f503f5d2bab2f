import type { Pod } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { resources } from "../../../api/labels.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { humanAmount } from "../describe-reason.ts";
import { addOperation, removeOperation } from "../json-patch.ts";
import {
  faultCount,
  instanceTypeValues,
  type LabelMismatch,
  type LaunchOption,
  type LimitExcess,
} from "../launch-options.ts";
import type { AnalysisOptions } from "../placement-analysis.ts";
import { missingShare } from "../refusal-distance.ts";
import { writtenPodRequirements } from "../written-requirements.ts";
import {
  type CandidateChange,
  changeOf,
  changeWeights,
  combineChanges,
  editedNodePool,
  poolName,
} from "./candidate-change.ts";
import { meantValue, podLabelChanges, poolLabelChanges, valueCorrection } from "./label-changes.ts";
import { lowerRequestChange } from "./request-changes.ts";

interface LaunchOptionChangeInput {
  readonly pod: Pod;
  readonly pool: Pool;
  readonly policy: LabelPolicy;
  readonly launchOptions: readonly LaunchOption[];
  /** How many pods of the same template are not placed: limits may have to be raised for all of them. */
  readonly unplacedSiblings: number;
  /** Changes that make the volumes usable elsewhere. */
  readonly volumeChanges: readonly CandidateChange[];
  readonly largerStorage: AnalysisOptions["largerStorage"];
}

/** The most launch options to try; each costs a simulation. */
const maxLaunchOptions = 10;
/** The most options that differ only in a value or in size. */
const maxAlike = 2;

/** Changes that make one of the nearest launch options possible. */
export function launchOptionChanges(input: LaunchOptionChangeInput): readonly CandidateChange[] {
  const meantValues = meantValuesOf(input);
  const nearest = [...byFaults(input.launchOptions, meantValues)].slice(0, maxLaunchOptions);
  return nearest.flatMap((launchOption, rank) =>
    changesFor(launchOption, { ...input, meantValues }).map((one) => ({ ...one, weight: one.weight + rank / 100 })),
  );
}

/** What the pod probably meant where it requires a value that no instance type has, by label. */
type MeantValues = ReadonlyMap<string, string>;

function meantValuesOf({ pod, pool, policy }: LaunchOptionChangeInput): MeantValues {
  return new Map(
    writtenPodRequirements(pod, policy).flatMap((writtenRequirement) => {
      const { key } = writtenRequirement.requirement;
      const meant = meantValue(writtenRequirement, instanceTypeValues(pool, key));
      return meant === undefined ? [] : [[key, meant]];
    }),
  );
}

/** By number and weight of faults; of those with the same faults only the best few. */
function byFaults(launchOptions: readonly LaunchOption[], meantValues: MeantValues): Iterable<LaunchOption> {
  const weighed = launchOptions
    .map((launchOption) => ({
      launchOption,
      faults: faultCount(launchOption),
      weight: faultWeight(launchOption, meantValues),
    }))
    .filter(({ faults }) => faults > 0)
    .sort((a, b) => a.faults - b.faults || a.weight - b.weight || a.launchOption.price - b.launchOption.price);
  const alike = new Map<string, Set<string>>();
  return weighed.flatMap(({ launchOption }) => {
    const known = alike.get(faultsText(launchOption)) ?? new Set();
    alike.set(faultsText(launchOption), known);
    const values = valuesText(launchOption);
    if (known.size >= maxAlike || known.has(values)) return [];
    known.add(values);
    return [launchOption];
  });
}

/** The faults as text. */
function faultsText({ poolMismatches, podMismatches, missesVolumes, shortages, limitExcesses }: LaunchOption): string {
  return JSON.stringify([
    [...poolMismatches, ...podMismatches].map(({ writtenRequirement }) => writtenRequirement.path),
    missesVolumes,
    shortages.map(({ resource }) => resource),
    limitExcesses.map(({ resource }) => resource),
  ]);
}

/** The values that would be right as text. */
function valuesText({ poolMismatches, podMismatches, limitExcesses }: LaunchOption): string {
  return JSON.stringify([
    [...poolMismatches, ...podMismatches].map(({ value }) => value),
    limitExcesses.map(({ needed }) => needed.canonical()),
  ]);
}

function faultWeight(
  { poolMismatches, podMismatches, missesVolumes, shortages, limitExcesses }: LaunchOption,
  meantValues: MeantValues,
): number {
  const lacking = shortages.reduce(
    (sum, { asked, left }) => sum + changeWeights.lowerRequest + 6 * missingShare(asked, left),
    0,
  );
  const ofPod = podMismatches.reduce((sum, { writtenRequirement: { requirement }, value }) => {
    const isMeant = value !== undefined && meantValues.get(requirement.key) === value;
    return sum + (isMeant ? 0 : changeWeights.changeValue);
  }, 0);
  const labels = poolMismatches.length * changeWeights.widenPool + ofPod;
  const raises = limitExcesses.reduce(
    (sum, { needed, limit }) => sum + changeWeights.raiseLimit + growthWeight(needed, limit),
    0,
  );
  return labels + lacking + raises + (missesVolumes ? changeWeights.dropPoolRule : 0);
}

/** How much a limit grows, as part of a weight: doubling is a half. */
function growthWeight(needed: Quantity, limit: Quantity): number {
  const [to, from] = [needed.toNumber(), limit.toNumber()];
  // Never as much as one, and always more for more.
  const growth = (to - from) / Math.max(from, 1);
  return growth / (growth + 1);
}

/** Every fault removed by its lightest change; for a single fault all its changes. */
function changesFor(
  launchOption: LaunchOption,
  input: LaunchOptionChangeInput & { readonly meantValues: MeantValues },
): readonly CandidateChange[] {
  const faults: (readonly CandidateChange[])[] = [
    ...launchOption.poolMismatches.map(({ writtenRequirement, value }: LabelMismatch) =>
      poolLabelChanges(writtenRequirement, input, value),
    ),
    ...launchOption.podMismatches.map(({ writtenRequirement, value }: LabelMismatch) =>
      value !== undefined && input.meantValues.get(writtenRequirement.requirement.key) === value
        ? [valueCorrection(writtenRequirement, input.pod, value)]
        : podLabelChanges(writtenRequirement, input.pod, value),
    ),
    ...launchOption.shortages.map((shortage) =>
      [lowerRequestChange(input.pod, shortage), storageChange(shortage, input)].filter((one) => one !== undefined),
    ),
    ...launchOption.limitExcesses.map((excess) => limitChanges(excess, input)),
    ...(launchOption.missesVolumes ? [input.volumeChanges] : []),
  ];
  const [only = []] = faults;
  if (faults.length === 1) return only;
  if (faults.some((alternatives) => alternatives.length === 0)) return [];
  const maxAlternatives = Math.max(...faults.map((alternatives) => alternatives.length));
  // The first change of each fault, then the second of each: all combinations would be too many.
  return Array.from({ length: Math.min(maxAlternatives, 3) }, (_, nth) =>
    combineChanges(faults.map((alternatives) => (alternatives[nth] ?? alternatives.at(-1)) as CandidateChange)),
  ).filter((one) => one !== undefined);
}

/** Enlarges the volumes of the pool's node class. */
function storageChange(
  { resource, asked, daemons }: LaunchOption["shortages"][number],
  { pool, largerStorage }: LaunchOptionChangeInput,
): CandidateChange | undefined {
  if (resource !== resources.ephemeralStorage) return undefined;
  const found = largerStorage?.(pool.nodePool, asked.add(daemons));
  if (found === undefined) return undefined;
  const { text, nodeClass, operations, instanceTypes } = found;
  const usesClass = ({ nodePool }: Pool): boolean => {
    const { kind, name } = nodePool.spec.template.spec.nodeClassRef;
    return kind === nodeClass.kind && name === nodeClass.name;
  };
  return changeOf(nodeClass, {
    text,
    weight: changeWeights.enlargeVolume,
    operations,
    apply: (problem) => [
      { ...problem, pools: problem.pools.map((one) => (usesClass(one) ? { ...one, instanceTypes } : one)) },
    ],
    driftedPools: [poolName(pool)],
  });
}

/** Raises the limit for one node or for all unplaced siblings, or drops it. (02:H-3) */
function limitChanges(
  { resource, limit, needed }: LimitExcess,
  { pool, unplacedSiblings }: LaunchOptionChangeInput,
): readonly CandidateChange[] {
  const step = needed.sub(limit);
  const path = ["spec", "limits", resource];
  const limitRaisedTo = (to: Quantity): CandidateChange => {
    return changeOf(editedNodePool(pool), {
      text: `raise the ${resource} limit of NodePool ${poolName(pool)} by ${humanAmount(to.sub(limit).canonical())} to ${humanAmount(to.canonical())}`,
      weight: changeWeights.raiseLimit + growthWeight(to, limit),
      operations: [addOperation(pool.nodePool, path, to.canonical())],
    });
  };
  const multiples = [...new Set([1, unplacedSiblings, 2, 4, 8])].filter((times) => times > 0).sort((a, b) => a - b);
  const raised = multiples.map((times) => limitRaisedTo(limit.add(multiplied(step, times))));
  const dropped = changeOf(editedNodePool(pool), {
    text: `drop the ${resource} limit of NodePool ${poolName(pool)}`,
    weight: changeWeights.dropLimit,
    operations: [removeOperation(path)],
  });
  return [...raised, dropped];
}

function multiplied(quantity: Quantity, times: number): Quantity {
  return Quantity.fromNano(quantity.nano * BigInt(times), quantity.format);
}
