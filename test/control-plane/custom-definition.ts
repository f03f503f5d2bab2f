import type { KubeObject } from "../../src/api/object.ts";

export interface DefinitionOptions {
  readonly group?: string;
  readonly plural?: string;
  readonly kind?: string;
  readonly schema?: object;
  /** Further fields of the spec. */
  readonly spec?: object;
}

/** A CustomResourceDefinition of a cluster-scoped kind with one version. */
export function customDefinition({
  group = "example.com",
  plural = "widgets",
  kind = "Widget",
  schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  spec = {},
}: DefinitionOptions = {}): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { plural, kind },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
  };
}
