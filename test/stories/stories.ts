import { aws } from "./aws.ts";
import { buffers } from "./buffers.ts";
import { choices } from "./choices.ts";
import { consolidation } from "./consolidation.ts";
import { disruptionBudgets } from "./disruption-budgets.ts";
import { draining } from "./draining.ts";
import { drifting } from "./drifting.ts";
import { joining } from "./joining.ts";
import { launching } from "./launching.ts";
import { leadership } from "./leadership.ts";
import { leaving } from "./leaving.ts";
import { multiReplacement } from "./multi-replacement.ts";
import { overlays } from "./overlays.ts";
import { pools } from "./pools.ts";
import { refusals } from "./refusals.ts";
import { replacing } from "./replacing.ts";
import { restarts } from "./restarts.ts";
import { scaling } from "./scaling.ts";
import { staticPools } from "./static-pools.ts";
import type { Story } from "./story.ts";
import { volumes } from "./volumes.ts";

/** The stories, by what they are about. Each group is a test file of its own, so that workers share them out evenly. */
export const storyGroups = {
  scaling: [...scaling, ...choices],
  launching: [...launching, ...joining],
  leaving: [...leaving, ...draining, ...volumes],
  pools: [...pools, ...staticPools, ...overlays, ...buffers],
  controllers: [...refusals, ...leadership, ...restarts, ...aws],
  consolidation: [...consolidation, ...multiReplacement],
  disruptionBudgets,
  drifting,
  replacing,
} as const satisfies Readonly<Record<string, readonly Story[]>>;

/** All of them, on the embedded and on the real control plane. */
export const stories: readonly Story[] = Object.values(storyGroups).flat();
