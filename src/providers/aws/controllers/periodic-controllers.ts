import type { Controller } from "../../../kube/controller.ts";
import { reconcileController } from "../../../kube/controller.ts";
import type { InstanceTypeDiscovery } from "../instance-types/instance-type-discovery.ts";
import type { LivePrices } from "../instance-types/live-prices.ts";
import type { LaunchTemplates } from "../launch/launch-templates.ts";

const hour = 60 * 60_000;
const refreshMs = 12 * hour;
/** While EC2 does not answer, it is asked again after this, then less often. */
const retry = { baseMs: 30_000, maxMs: 30 * 60_000 };

/** Reads instance types and their zones again. (04 §2.1) */
export function instanceTypeController(discovery: InstanceTypeDiscovery): Controller {
  return periodic("providers.instancetype", {
    everyMs: refreshMs,
    run: () => discovery.refresh(),
  });
}

/** Reads prices again. (04 §2.6) */
export function pricingController(prices: LivePrices): Controller {
  return periodic("providers.pricing", { everyMs: refreshMs, run: () => prices.refresh() });
}

const sweepMs = 10_000;

/** Deletes launch templates nobody uses, those of earlier processes included. (04 §3.4) */
export function launchTemplateController(templates: LaunchTemplates): Controller {
  let isHydrated = false;
  return periodic("providers.launchtemplate", {
    everyMs: sweepMs,
    onStart: () => {
      isHydrated = false;
    },
    run: async () => {
      if (!isHydrated) await templates.hydrate();
      isHydrated = true;
      await templates.deleteUnused();
    },
  });
}

const versionMs = 5 * 60_000;

/** Asks for the version of Kubernetes again. (04 §5.2) */
export function versionController(refresh: () => Promise<void>): Controller {
  return periodic("providers.version", { everyMs: versionMs, run: refresh });
}

interface PeriodicOptions {
  readonly everyMs: number;
  readonly onStart?: () => void;
  readonly run: () => Promise<void>;
}

function periodic(name: string, { everyMs, onStart, run }: PeriodicOptions): Controller {
  return reconcileController({
    name,
    triggers: [],
    initialKeys: ["all"],
    backOff: { ...retry, baseMs: Math.min(retry.baseMs, everyMs) },
    reads: [{ of: "cloud", withinMs: everyMs, because: "it goes by the clock" }],
    start: () => onStart?.(),
    reconcile: async () => {
      await run();
      return { afterMs: everyMs };
    },
  });
}
