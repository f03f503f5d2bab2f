import { annotations } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import { kwokPhases, suiteInterference } from "./kwok-phases.ts";

/** What happens to a KWOK phase after its scale-out, and how long upstream's suite waits for it. */
export interface SettleStep {
  /** Replicas of deployments; those that are not there are created. */
  readonly replicas: Readonly<Record<string, number>>;
  /** Whether the template of the pool changes, so that every node is replaced. */
  readonly isDrift?: boolean;
}

export interface SettlePhase {
  readonly objects: readonly KubeObject[];
  /** One after the other; each settles before the next. */
  readonly steps: readonly SettleStep[];
  /** Minutes. */
  readonly limit: number;
}

const phase = (name: string): readonly KubeObject[] => kwokPhases[name] ?? [];
const replicasOf = ({ spec }: KubeObject): number => (spec as { readonly replicas: number }).replicas;

/** The consolidation and drift phases of the KWOK performance suite. */
export const settlePhases: Readonly<Record<string, SettlePhase>> = {
  basic: { objects: phase("basic"), steps: [{ replicas: { small: 350, large: 350 } }], limit: 20 },
  "hostname-spread": {
    objects: phase("hostname-spread"),
    steps: [{ replicas: { small: 350, large: 350 } }],
    limit: 30,
  },
  "hostname-spread-xl": {
    objects: phase("hostname-spread-xl"),
    steps: [{ replicas: { small: 700, large: 700 } }],
    limit: 25,
  },
  "do-not-disrupt": { objects: phase("do-not-disrupt"), steps: [{ replicas: { small: 250, large: 250 } }], limit: 25 },
  interference: {
    objects: phase("interference"),
    steps: [{ replicas: { small: 250, large: 500 } }, { replicas: { large: 400, small: 200 } }],
    limit: 15,
  },
  wide: {
    objects: phase("wide"),
    steps: [
      {
        replicas: Object.fromEntries(
          phase("wide").map((one) => [one.metadata.name ?? "", Math.round(replicasOf(one) * 0.7)]),
        ),
      },
    ],
    limit: 40,
  },
  // As upstream's suite has it: in the end there are more of the small pods, not of the large ones.
  "suite-interference": {
    objects: suiteInterference,
    steps: [{ replicas: { small: 250, large: 500 } }, { replicas: { small: 400, large: 200 } }],
    limit: 15,
  },
  drift: { objects: phase("drift"), steps: [{ replicas: {}, isDrift: true }], limit: 30 },
};

/** The deployment of that name in some phase. */
export function deploymentNamed(name: string): KubeObject {
  const found = phase("basic").find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no deployment is called ${name}`);
  return found;
}

/** A change of the template that has no other effect. */
export const driftPatch = {
  spec: { template: { metadata: { annotations: { [annotations.doNotDisrupt]: "false" } } } },
};
