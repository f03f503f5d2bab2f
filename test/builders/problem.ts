import type { Namespace, SelectorOwner } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labelPolicy } from "../../src/api/label-policy.ts";
import {
  defaultSchedulingPolicy,
  type SchedulingPolicy,
  type SchedulingProblem,
} from "../../src/core/scheduling/problem.ts";
import { type InstanceTypeBuilder, instanceType } from "./instance-type.ts";
import type { NodeBuilder } from "./node.ts";
import { type NodePoolBuilder, nodePool } from "./node-pool.ts";
import type { PodBuilder } from "./pod.ts";
import { type VolumeDraft, volumeIndex } from "./volumes.ts";

interface Draft {
  readonly pools: readonly NodePoolBuilder[];
  readonly types: readonly InstanceTypeBuilder[];
  readonly pods: readonly PodBuilder[];
  readonly nodes: readonly NodeBuilder[];
  readonly leaving: readonly NodeBuilder[];
  readonly bound: readonly PodBuilder[];
  readonly daemons: readonly PodBuilder[];
  readonly volumes: readonly VolumeDraft[];
  readonly namespaces: readonly Namespace[];
  readonly selectorOwners: readonly SelectorOwner[];
  readonly policy: SchedulingPolicy;
  readonly seed: number;
}

/** One pool called `default` and one type of four cpus, until told otherwise. */
export function problem(): ProblemBuilder {
  return new ProblemBuilder({
    pools: [nodePool()],
    types: [instanceType("m.large")],
    pods: [],
    nodes: [],
    leaving: [],
    bound: [],
    daemons: [],
    volumes: [],
    namespaces: [{ metadata: { name: "default" } }],
    selectorOwners: [],
    policy: defaultSchedulingPolicy,
    seed: 1,
  });
}

/** Immutable: every step gives another builder. */
export class ProblemBuilder {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  pools(...pools: readonly NodePoolBuilder[]): ProblemBuilder {
    return this.#with({ pools });
  }

  /** Types of every pool that has none of its own. */
  types(...types: readonly InstanceTypeBuilder[]): ProblemBuilder {
    return this.#with({ types });
  }

  /** Pods to place, after those that are there; called twice it adds to them. */
  pods(count: number, pod: PodBuilder): ProblemBuilder {
    return this.#with({ pods: [...this.#draft.pods, ...Array.from({ length: count }, () => pod)] });
  }

  pod(...pods: readonly PodBuilder[]): ProblemBuilder {
    return this.#with({ pods: [...this.#draft.pods, ...pods] });
  }

  nodes(...nodes: readonly NodeBuilder[]): ProblemBuilder {
    return this.#with({ nodes });
  }

  /** Nodes on their way out: their pods are to be placed again, their daemons go with them. */
  leaving(...leaving: readonly NodeBuilder[]): ProblemBuilder {
    return this.#with({ leaving });
  }

  /** Pods that run elsewhere than on the problem's nodes. */
  bound(...bound: readonly PodBuilder[]): ProblemBuilder {
    return this.#with({ bound });
  }

  daemons(...daemons: readonly PodBuilder[]): ProblemBuilder {
    return this.#with({ daemons });
  }

  volumes(...volumes: readonly VolumeDraft[]): ProblemBuilder {
    return this.#with({ volumes });
  }

  namespace(name: string, nodeLabels: Readonly<Record<string, string>> = {}): ProblemBuilder {
    return this.#with({ namespaces: [...this.#draft.namespaces, { metadata: { name, labels: nodeLabels } }] });
  }

  selectorOwners(...selectorOwners: readonly SelectorOwner[]): ProblemBuilder {
    return this.#with({ selectorOwners });
  }

  policy(changes: Partial<SchedulingPolicy>): ProblemBuilder {
    return this.#with({ policy: { ...this.#draft.policy, ...changes } });
  }

  seed(seed: number): ProblemBuilder {
    return this.#with({ seed });
  }

  build(): SchedulingProblem {
    const volumes = volumeIndex(this.#draft.volumes);
    const types = this.#draft.types.map((type) => type.build());
    const nodes = this.#draft.nodes.map((one) => one.build(volumes));
    const leaving = this.#draft.leaving.map((one) => one.build(volumes));
    const placed = [...nodes, ...leaving].flatMap(({ existing, placed: at }) =>
      at === undefined ? [] : [[existing.name, at] as const],
    );
    return {
      pods: [
        ...this.#draft.pods.map((one, at) => numbered(one, "p", at)),
        ...leaving.flatMap(({ reschedulable }) => reschedulable),
      ],
      nodes: nodes.map(({ existing }) => existing),
      pools: this.#draft.pools.map((pool) => pool.build(types)),
      daemons: this.#draft.daemons.map((one, at) => numbered(one, "daemon", at)),
      boundPods: [
        ...[...nodes, ...leaving].flatMap(({ boundPods }) => boundPods),
        ...this.#draft.bound.map((one, at) => numbered(one, "bound", at)),
      ],
      nodesByName: new Map(placed),
      namespaces: this.#draft.namespaces,
      volumes,
      selectorOwners: this.#draft.selectorOwners,
      policy: this.#draft.policy,
      labelPolicy: labelPolicy("kwok"),
      seed: this.#draft.seed,
    };
  }

  #with(changes: Partial<Draft>): ProblemBuilder {
    return new ProblemBuilder({ ...this.#draft, ...changes });
  }
}

/** The place in the list is the age. */
function numbered(builder: PodBuilder, kind: string, at: number): Pod {
  return builder.build({ name: `${kind}-${at}`, uid: `uid-${kind}-${String(at).padStart(4, "0")}`, at });
}
