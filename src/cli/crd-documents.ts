import { customResourceDefinition } from "../api/crd.ts";
import { karpenterKindsOf } from "../api/kinds/karpenter-kinds.ts";
import type { Provider } from "../api/label-policy.ts";
import { stringify } from "./yaml.ts";

/** A CustomResourceDefinition as YAML, and the names it can be asked for by. */
export interface CrdDocument {
  readonly kind: string;
  /** In lower case. */
  readonly names: readonly string[];
  /** `<plural>.<group>`. */
  readonly fullName: string;
  readonly text: string;
}

/**
 * The CRDs of a provider. Schemas and YAML take a quarter of a second, so the bundle has the results for every provider
 * in the place of this module (scripts/bundle-cli.mjs).
 */
export function crdDocuments(provider: Provider): readonly CrdDocument[] {
  return karpenterKindsOf(provider).map((one) => {
    const { kind, plural, singular, shortNames, group } = one;
    return {
      kind,
      names: [kind.toLowerCase(), plural, singular, `${plural}.${group}`, ...shortNames],
      fullName: `${plural}.${group}`,
      text: stringify(customResourceDefinition(one, provider), { aliasDuplicateObjects: false, lineWidth: 120 }),
    };
  });
}
