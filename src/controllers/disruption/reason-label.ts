import type { DisruptionReason } from "../../api/vocabulary.ts";

/** As metrics spell a reason. */
export function reasonLabel(reason: DisruptionReason): "empty" | "underutilized" | "drifted" {
  return ({ Empty: "empty", Underutilized: "underutilized", Drifted: "drifted" } as const)[reason];
}
