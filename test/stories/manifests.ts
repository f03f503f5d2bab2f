/** Objects stories begin with, as a user would write them. */

export const kwokClass = {
  apiVersion: "karpenter.kwok.sh/v1alpha1",
  kind: "KWOKNodeClass",
  metadata: { name: "default" },
  spec: { nodeRegistrationDelay: "2s" },
};

export interface PoolOptions {
  readonly name?: string;
  readonly requirements?: readonly object[];
  /** More of `spec`. */
  readonly spec?: object;
  /** More of `spec.template.spec`. */
  readonly template?: object;
  readonly labels?: Readonly<Record<string, string>>;
}

const linuxOnAmd64 = [
  { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
  { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
];

/** Nothing leaves of free will: what goes, goes because of what the story tells. */
const undisrupted = { consolidateAfter: "Never", budgets: [{ nodes: "0" }] };

/** Linux on amd64, anything else is the engine's choice. */
export function pool({ name = "default", requirements = [], spec = {}, template = {}, labels = {} }: PoolOptions = {}) {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      template: {
        metadata: { labels },
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          requirements: [...linuxOnAmd64, ...requirements],
          expireAfter: "Never",
          ...template,
        },
      },
      disruption: undisrupted,
      ...spec,
    },
  };
}

export const isIn = (key: string, ...values: readonly string[]) => ({ key, operator: "In", values });

/** A claim as a person would write it, without a pool. */
export function standaloneClaim(name: string, spec: object = {}) {
  const { nodeClassRef, requirements } = pool().spec.template.spec;
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name },
    spec: { nodeClassRef, requirements, ...spec },
  };
}
