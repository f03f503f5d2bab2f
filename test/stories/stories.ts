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

/** Nodes that are given back. */
export const disruptionStories: readonly Story[] = [
  ...consolidation,
  ...multiReplacement,
  ...disruptionBudgets,
  ...drifting,
  ...replacing,
];

/** Everything else that is told, on the embedded and on the real control plane. */
export const stories: readonly Story[] = [
  ...scaling,
  ...choices,
  ...launching,
  ...joining,
  ...leaving,
  ...draining,
  ...volumes,
  ...pools,
  ...staticPools,
  ...overlays,
  ...buffers,
  ...refusals,
  ...leadership,
  ...restarts,
  ...aws,
];
