import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { optionTable } from "../../src/operator/option-table.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

describe("01 §1.1 the CustomResourceDefinitions of the charts", () => {
  const kinds = [
    ...karpenterKindsOf("aws").map((kind) => customResourceDefinition(kind, "aws")),
    ...karpenterKindsOf("kwok").map((kind) => customResourceDefinition(kind, "kwok")),
  ];
  it.each(readdirSync(new URL("deploy/crds", root)))("%s is as its source (npm run manifests)", (file) => {
    const written = parse(read(`deploy/crds/${file}`)) as KubeObject;
    const made = kinds.find(({ metadata }) => metadata.name === written.metadata.name);
    expect(written).toEqual(JSON.parse(JSON.stringify(made)));
  });

  it("are those of every kind", () => {
    const written = readdirSync(new URL("deploy/crds", root)).map((file) => file.replace(/\.yaml$/, ""));
    expect(written.sort()).toEqual([...new Set(kinds.map(({ metadata }) => metadata.name))].sort());
  });
});

describe("03 §7.1 the charts", () => {
  it.each(["chart", "chart-crd"])("%s has the version of the package", (chart) => {
    expect(parse(read(`deploy/${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  const variablesFor = (provider: string) =>
    parseAllDocuments(read(`deploy/manifests/${provider}.yaml`))
      .map((document) => document.toJS() as { kind: string; spec: DeploymentSpec })
      .find(({ kind }) => kind === "Deployment")?.spec.template.spec.containers[0]?.env ?? [];

  it.each(["aws", "kwok"])("03 §7.1 a setting that is false is written for %s too", (provider) => {
    const { value } = variablesFor(provider).find(({ name }) => name === "DISABLE_CLUSTER_STATE_OBSERVABILITY") ?? {};
    expect(value).toBe("false");
  });

  it.each(["aws", "kwok"])("every variable that is set for %s is an option of the controller", (provider) => {
    const known = new Set<string>(Object.values(optionTable).map(({ env }) => env));
    const names = variablesFor(provider).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});

interface DeploymentSpec {
  readonly template: {
    readonly spec: { readonly containers: readonly { readonly env: readonly EnvironmentVariable[] }[] };
  };
}

interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
}
