import { isRecord } from "../object.ts";
import type { Problem } from "../problem.ts";

/** The paths of a scalable kind's replica counts, dotted with a leading dot. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

const maxReplicas = 2 ** 31 - 1;

/** The counts of the scale subresource are 32-bit and not negative, whatever the schema allows. */
export function scaleProblems(object: unknown, paths: ScalePaths | undefined): readonly Problem[] {
  if (paths === undefined) return [];
  return [paths.specReplicasPath, paths.statusReplicasPath].flatMap((dotted): readonly Problem[] => {
    const path = dotted.split(".").filter((step) => step !== "");
    const count = path.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), object);
    if (typeof count !== "number") return [];
    if (count < 0) return [{ code: "too-small", path, message: `${count} is too small`, expected: "at least 0" }];
    if (count <= maxReplicas) return [];
    return [{ code: "too-large", path, message: `${count} is too large`, expected: `at most ${maxReplicas}` }];
  });
}
