import type { Pod } from "../../../api/kubernetes/pod.ts";
import { type PodValidation, podProblems } from "../../pod-validation.ts";
import type { SchedulingProblem } from "../../scheduling/problem.ts";
import { applyOperations, type PatchPath, removeOperation } from "../json-patch.ts";
import { likelyMeantKey } from "../likely-typo.ts";
import { writtenPodRequirements } from "../written-requirements.ts";
import { type CandidateChange, changeOf, changeWeights, combineChanges, editedPod } from "./candidate-change.ts";
import { keyCorrections, meantValue, valueCorrection } from "./label-changes.ts";
import { volumeClaimRepairs } from "./volume-changes.ts";

/** Changes after which a pod passes validation. (02 §1.5) */
export function validityChanges(pod: Pod, problem: SchedulingProblem): readonly CandidateChange[] {
  const validation: PodValidation = problem;
  const before = podProblems(pod, validation).length;
  const helpful = removableConstraints(pod).filter(({ path }) => {
    const without = applyOperations(pod, [removeOperation(path)]);
    return podProblems(without, validation).length < before;
  });
  const dropped = helpful.map(({ path, text }) =>
    changeOf(editedPod(pod), { text, weight: changeWeights.drop, operations: [removeOperation(path)] }),
  );
  const all = combineChanges(dropped);
  const corrections = selectorCorrections(pod, problem);
  const corrected = combineChanges(corrections);
  return [
    ...(corrections.length === 0 || corrected === undefined ? [] : [corrected]),
    ...(dropped.length > 0 && all !== undefined ? [all] : []),
    ...volumeClaimRepairs(pod, problem),
  ];
}

/** Corrections of misspelled labels, and of misspelled values where only some are known. */
function selectorCorrections(pod: Pod, { labelPolicy }: SchedulingProblem): readonly CandidateChange[] {
  return writtenPodRequirements(pod, labelPolicy).flatMap((writtenRequirement) => {
    const { key } = writtenRequirement.requirement;
    const known = labelPolicy.knownValues[key];
    if (known !== undefined) {
      const value = meantValue(writtenRequirement, known);
      return value === undefined ? [] : [valueCorrection(writtenRequirement, pod, value)];
    }
    const meant = labelPolicy.wellKnown.has(key) ? undefined : likelyMeantKey(key, labelPolicy.wellKnown);
    return meant === undefined ? [] : keyCorrections([writtenRequirement], pod, meant);
  });
}

/** Every constraint of the pod on node labels, alternatives included. */
function removableConstraints({ spec }: Pod): readonly { readonly path: PatchPath; readonly text: string }[] {
  const nodeAffinity = ["spec", "affinity", "nodeAffinity"];
  const required = [...nodeAffinity, "requiredDuringSchedulingIgnoredDuringExecution"];
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...Object.keys(spec.nodeSelector ?? {}).map((key) => ({
      path: ["spec", "nodeSelector", key],
      text: `drop ${key} from the pod's node selector`,
    })),
    ...terms.flatMap(({ matchExpressions = [], matchFields }, term) => {
      const path = [...required, "nodeSelectorTerms", term];
      const isAll = terms.length === 1 && matchExpressions.length + (matchFields === undefined ? 0 : 1) === 1;
      return [
        ...matchExpressions.map(({ key }, index) => ({
          path: isAll ? required : [...path, "matchExpressions", index],
          text: `drop ${key} from the pod's node affinity`,
        })),
        ...(matchFields === undefined
          ? []
          : [
              {
                path: isAll ? required : [...path, "matchFields"],
                text: "drop matchFields from the pod's node affinity",
              },
            ]),
      ];
    }),
    ...preferred.map((_, index) => ({
      path: [...nodeAffinity, "preferredDuringSchedulingIgnoredDuringExecution", index],
      text: "drop the pod's preference against Karpenter's nodes",
    })),
  ];
}
