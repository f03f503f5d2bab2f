import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labels, type Taint } from "../../src/api/labels.ts";
import { hostPortsOf } from "../../src/core/host-ports.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { mergeResources, subtractResources } from "../../src/core/resources.ts";
import type { ExistingNode, NodeLabelsAndTaints } from "../../src/core/scheduling/problem.ts";
import { podVolumesByDriver, type VolumeIndex } from "../../src/core/volumes.ts";
import { type Amounts, amounts } from "./instance-type.ts";
import { labelKey, taint } from "./keys.ts";
import type { PodBuilder } from "./pod.ts";

interface Draft {
  readonly name: string;
  readonly pool?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Amounts;
  readonly isInitialized: boolean;
  /** A claim on its way up has no Node yet. */
  readonly hasNode: boolean;
  /** Labels the Node itself lacks until it is registered; its claim has them. */
  readonly claimLabels: Readonly<Record<string, string>>;
  readonly pods: readonly PodBuilder[];
  readonly daemons: readonly PodBuilder[];
  readonly volumeLimits: ReadonlyMap<string, number>;
  readonly underConsolidateAfter: boolean;
}

/** A node of four cpus in zone a, with nothing on it and of no pool. */
export function node(name: string): NodeBuilder {
  return new NodeBuilder({
    name,
    labels: { [labels.hostname]: name, [labels.zone]: "a" },
    taints: [],
    allocatable: { cpu: "4", memory: "16Gi", pods: "110" },
    isInitialized: true,
    hasNode: true,
    claimLabels: {},
    pods: [],
    daemons: [],
    volumeLimits: new Map(),
    underConsolidateAfter: false,
  });
}

/** A node as a problem needs it, with what runs on it. */
export interface BuiltNode {
  readonly existing: ExistingNode;
  readonly placed: NodeLabelsAndTaints | undefined;
  readonly boundPods: readonly Pod[];
  /** Those that would move when the node goes: all but its daemons. */
  readonly reschedulable: readonly Pod[];
}

/** Immutable: every step gives another builder. */
export class NodeBuilder {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  pool(pool: string): NodeBuilder {
    return this.#with({ pool }).label("pool", pool);
  }

  zone(zone: string): NodeBuilder {
    return this.label("zone", zone);
  }

  label(key: string, value: string): NodeBuilder {
    return this.#with({ labels: { ...this.#draft.labels, [labelKey(key)]: value } });
  }

  without(key: string): NodeBuilder {
    const { [labelKey(key)]: _removed, ...rest } = this.#draft.labels;
    return this.#with({ labels: rest });
  }

  taint(written: string): NodeBuilder {
    return this.#with({ taints: [...this.#draft.taints, taint(written)] });
  }

  cpu(cpu: string): NodeBuilder {
    return this.allocatable("cpu", cpu);
  }

  allocatable(name: string, amount: string): NodeBuilder {
    return this.#with({ allocatable: { ...this.#draft.allocatable, [name]: amount } });
  }

  uninitialized(): NodeBuilder {
    return this.#with({ isInitialized: false });
  }

  /** There, but not registered: the label is on the claim alone. */
  unregistered(key: string, value: string): NodeBuilder {
    const claimLabels = { ...this.#draft.claimLabels, [labelKey(key)]: value };
    return this.without(key).#with({ isInitialized: false, claimLabels });
  }

  /** Launched, but not there yet. */
  inFlight(): NodeBuilder {
    return this.#with({ isInitialized: false, hasNode: false });
  }

  running(...pods: readonly PodBuilder[]): NodeBuilder {
    return this.#with({ pods: [...this.#draft.pods, ...pods] });
  }

  runningDaemons(...daemons: readonly PodBuilder[]): NodeBuilder {
    return this.#with({ daemons: [...this.#draft.daemons, ...daemons] });
  }

  volumeLimit(driver: string, limit: number): NodeBuilder {
    return this.#with({ volumeLimits: new Map(this.#draft.volumeLimits).set(driver, limit) });
  }

  underConsolidateAfter(): NodeBuilder {
    return this.#with({ underConsolidateAfter: true });
  }

  build(volumes: VolumeIndex): BuiltNode {
    const { name, pool, isInitialized, hasNode, taints, volumeLimits, claimLabels } = this.#draft;
    const daemons = this.#draft.daemons.map((one, at) => this.#bound(one, `daemon-${at}`));
    const pods = this.#draft.pods.map((one, at) => this.#bound(one, `pod-${at}`));
    const all = [...daemons, ...pods];
    const capacity = amounts({ ...this.#draft.allocatable, nodes: "1" });
    const existing: ExistingNode = {
      name,
      ...(hasNode && { nodeName: name }),
      providerId: `kwok://${name}`,
      hostname: this.#draft.labels[labels.hostname] ?? name,
      labels: { ...this.#draft.labels, ...claimLabels },
      taints,
      isInitialized,
      ...(pool !== undefined && { nodePool: pool }),
      capacity,
      available: subtractResources(
        amounts(this.#draft.allocatable),
        mergeResources(...all.map((pod) => podRequests(pod))),
      ),
      daemonRequests: mergeResources(...daemons.map((pod) => podRequests(pod))),
      hostPorts: all.flatMap(hostPortsOf),
      volumes: { attached: attachedBy(all, volumes), limits: volumeLimits },
      underConsolidateAfter: this.#draft.underConsolidateAfter,
    };
    return {
      existing,
      placed: hasNode ? { labels: this.#draft.labels, taints } : undefined,
      boundPods: all,
      reschedulable: pods,
    };
  }

  #bound(builder: PodBuilder, kind: string): Pod {
    const name = `${this.#draft.name}-${kind}`;
    return builder.onNode(this.#draft.name).build({ name, uid: `uid-${name}`, at: 0 });
  }

  #with(changes: Partial<Draft>): NodeBuilder {
    return new NodeBuilder({ ...this.#draft, ...changes });
  }
}

function attachedBy(pods: readonly Pod[], index: VolumeIndex): ReadonlyMap<string, ReadonlySet<string>> {
  const attached = new Map<string, ReadonlySet<string>>();
  for (const [driver, keys] of pods.flatMap((pod) => [...podVolumesByDriver(pod, index)])) {
    attached.set(driver, new Set([...(attached.get(driver) ?? []), ...keys]));
  }
  return attached;
}
