import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import type { Pool } from "../../src/core/scheduling/problem.ts";
import type { InstanceTypeBuilder } from "./instance-type.ts";
import { labelKey, taint } from "./keys.ts";

type Requirement = NodePool["spec"]["template"]["spec"]["requirements"][number];

export function nodePool(name = "default"): NodePoolBuilder {
  return new NodePoolBuilder({
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      template: {
        spec: {
          requirements: [],
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          expireAfter: "720h",
        },
      },
      disruption: {
        consolidationPolicy: "WhenEmptyOrUnderutilized",
        consolidateAfter: "0s",
        budgets: [{ nodes: "10%" }],
      },
    },
  });
}

/** Immutable: every step gives another builder. */
export class NodePoolBuilder {
  readonly #pool: NodePool;
  readonly #types: readonly InstanceTypeBuilder[] | undefined;

  constructor(pool: NodePool, types?: readonly InstanceTypeBuilder[]) {
    this.#pool = pool;
    this.#types = types;
  }

  zones(...zones: readonly string[]): NodePoolBuilder {
    return this.requires("zone", "In", ...zones);
  }

  requires(key: string, operator: Requirement["operator"], ...values: readonly string[]): NodePoolBuilder {
    return this.#template({ requirements: [...this.#spec.requirements, requirement({ key, operator, values })] });
  }

  /** At least so many values of the label must stay possible. */
  minValues(
    key: string,
    minValues: number,
    operator: Requirement["operator"] = "Exists",
    ...values: readonly string[]
  ): NodePoolBuilder {
    const asked = requirement({ key, operator, values });
    return this.#template({ requirements: [...this.#spec.requirements, { ...asked, minValues }] });
  }

  label(key: string, value: string): NodePoolBuilder {
    const { template } = this.#pool.spec;
    const nodeLabels = { ...template.metadata?.labels, [labelKey(key)]: value };
    return this.#with({ template: { ...template, metadata: { ...template.metadata, labels: nodeLabels } } });
  }

  annotation(key: string, value: string): NodePoolBuilder {
    const { template } = this.#pool.spec;
    const annotations = { ...template.metadata?.annotations, [key]: value };
    return this.#with({ template: { ...template, metadata: { ...template.metadata, annotations } } });
  }

  gracePeriod(terminationGracePeriod: string): NodePoolBuilder {
    return this.#template({ terminationGracePeriod });
  }

  /** `key=value:Effect`. */
  taint(written: string): NodePoolBuilder {
    const added = taint(written) as NonNullable<NodePool["spec"]["template"]["spec"]["taints"]>[number];
    return this.#template({ taints: [...(this.#spec.taints ?? []), added] });
  }

  startupTaint(written: string): NodePoolBuilder {
    const added = taint(written) as NonNullable<NodePool["spec"]["template"]["spec"]["taints"]>[number];
    return this.#template({ startupTaints: [...(this.#spec.startupTaints ?? []), added] });
  }

  weight(weight: number): NodePoolBuilder {
    return this.#with({ weight });
  }

  limit(name: string, amount: string): NodePoolBuilder {
    return this.#with({ limits: { ...this.#pool.spec.limits, [name]: amount } });
  }

  /** Types of this pool alone; else those of the problem. */
  types(...types: readonly InstanceTypeBuilder[]): NodePoolBuilder {
    return new NodePoolBuilder(this.#pool, types);
  }

  build(types: readonly InstanceType[]): Pool {
    return { nodePool: this.#pool, instanceTypes: this.#types?.map((type) => type.build()) ?? types };
  }

  get #spec(): NodePool["spec"]["template"]["spec"] {
    return this.#pool.spec.template.spec;
  }

  #template(changes: Partial<NodePool["spec"]["template"]["spec"]>): NodePoolBuilder {
    return this.#with({ template: { ...this.#pool.spec.template, spec: { ...this.#spec, ...changes } } });
  }

  #with(changes: Partial<NodePool["spec"]>): NodePoolBuilder {
    return new NodePoolBuilder({ ...this.#pool, spec: { ...this.#pool.spec, ...changes } }, this.#types);
  }
}

interface ShortItem {
  readonly key: string;
  readonly operator: Requirement["operator"];
  readonly values: readonly string[];
}

function requirement({ key, operator, values }: ShortItem): Requirement {
  return { key: labelKey(key), operator, ...(values.length > 0 && { values: [...values] }) };
}
