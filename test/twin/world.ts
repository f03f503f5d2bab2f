import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { Taint } from "../../src/api/labels.ts";
import type { HostPort } from "../../src/core/host-ports.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import type { Resources } from "../../src/core/resources.ts";
import type { ExistingNode, SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import type { Ledger } from "./reservations.ts";
import type { Topology } from "./topology.ts";

/** What the twin knows while it solves. Plain objects that change in place: this is the slow one, and the obvious one. */
export interface World {
  readonly problem: SchedulingProblem;
  readonly topology: Topology;
  /** In the order they are tried. (02:T-1) */
  readonly templates: readonly Template[];
  /** In the order they are tried. (02:T-8) */
  readonly nodes: readonly NodeEntry[];
  /** In the order they were opened. */
  readonly opened: Claim[];
  /** The same claims in the order they are tried. (02:Q-20) */
  inFlight: Claim[];
  /** What each limited pool may still hold. (02:H-1) */
  readonly remaining: Map<string, Resources>;
  readonly ledger: Ledger;
  readonly toleratePreferNoSchedule: boolean;
  placeholders: number;
}

/** A pool, ready to open claims. (02:T-2) */
export interface Template {
  readonly pool: string;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
  readonly types: readonly InstanceType[];
  readonly daemonGroups: readonly DaemonGroup[];
}

/** Types on which the same daemons will run. (02:G-2) */
export interface DaemonGroup {
  readonly types: readonly InstanceType[];
  readonly overhead: Resources;
  readonly ports: readonly HostPort[];
}

/** An existing node with what this round puts on it. (02 §5.4) */
export interface NodeEntry {
  readonly node: ExistingNode;
  requirements: Requirements;
  remaining: Resources;
  ports: readonly HostPort[];
  attached: ReadonlyMap<string, ReadonlySet<string>>;
  readonly pods: Pod[];
}

/** A planned node, as far as it is settled. (02 §5.5) */
export interface Claim {
  readonly template: Template;
  readonly hostname: string;
  requirements: Requirements;
  types: readonly InstanceType[];
  requests: Resources;
  /** One list a daemon group of the template. */
  ports: readonly (readonly HostPort[])[];
  held: readonly string[];
  readonly pods: Pod[];
}

/** Why something does not take a pod. A deferral ends the attempt without relaxing. (02:Q-5) */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
  readonly defers: boolean;
}

export function refused(message: string, { defers = false }: { defers?: boolean } = {}): Refused {
  return { kind: "refused", message, defers };
}
