import { parse, stringify } from "yaml";
import { seedText } from "../conversion/fixtures.ts";

/** A YAML block of the guide, as it stands there. */
export { seedText as block };

interface Pool {
  readonly spec: {
    readonly template: { readonly spec: { readonly requirements: readonly Requirement[] } };
    readonly disruption?: object;
    readonly limits?: object;
  };
}

interface Requirement {
  readonly key: string;
}

/**
 * A pool of the guide with fragments the guide shows later: each says what to change and leaves the rest, a requirement
 * being known by its key.
 */
export function poolWith(pool: string, fragments: readonly string[]): string {
  return stringify(fragments.reduce((merged, name) => mergedWith(merged, name), parse(seedText(pool)) as Pool));
}

function mergedWith(pool: Pool, name: string): Pool {
  const fragment = placed(parse(seedText(name)) as Fragment);
  const { template, ...rest } = fragment.spec;
  const changed = template?.spec.requirements ?? [];
  const { requirements, ...node } = pool.spec.template.spec;
  const kept = requirements.filter(({ key }) => !changed.some((one) => one.key === key));
  return {
    ...pool,
    spec: {
      ...pool.spec,
      ...rest,
      disruption: { ...pool.spec.disruption, ...rest.disruption },
      template: { ...pool.spec.template, spec: { ...node, requirements: [...kept, ...changed] } },
    },
  };
}

type Fragment = Whole | readonly Requirement[] | Omit<Whole["spec"], "template">;

interface Whole {
  readonly spec: Partial<Pool["spec"]>;
}

/** A `spec:` as it is; a list goes under the requirements; anything else is part of a spec. */
function placed(fragment: Fragment): Whole {
  if ("spec" in fragment) return fragment;
  if (!Array.isArray(fragment)) return { spec: fragment as Partial<Pool["spec"]> };
  return { spec: { template: { spec: { requirements: fragment } } } };
}

/** The last block is a pod without a name and a container. */
export function spreadPod(): string {
  const pod = parse(seedText("M18")) as { readonly spec: object };
  const containers = [{ name: "app", image: "nginx" }];
  return stringify({ ...pod, metadata: { name: "spread" }, spec: { ...pod.spec, containers } });
}
