import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { FakeWorld } from "../conversion/fake-io.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";

async function run(line: string, world: FakeWorld = {}) {
  const io = fakeIo(world);
  const code = await main(line.split(" "), io);
  return { code, out: io.out(), err: io.err() };
}

describe("sources that must be rendered or fetched first", () => {
  it("a URL is not fetched; the command that does is told", async () => {
    const { code, err } = await run("plan -f https://example.com/a/web.yaml");
    expect(code).toBe(1);
    expect(err).toMatch(
      /error: is a URL, and nothing is fetched from the network; fetch it first: curl -fsSL https:\/\/example\.com\/a\/web\.yaml -o web\.yaml, then give -f web\.yaml/,
    );
    expect((await run("convert -f https://example.com/x?y=1")).err).toContain(
      "-o manifest.yaml, then give -f manifest.yaml",
    );
  });

  it("a chart is rendered with helm", async () => {
    const { code, err } = await run("plan -f charts/web", {
      files: { "charts/web/Chart.yaml": "name: web", "charts/web/values.yaml": "a: 1" },
    });
    expect(code).toBe(1);
    expect(err).toMatch(
      /^charts\/web:1:1: error: is a Helm chart.*helm template my-release charts\/web > rendered\.yaml/,
    );
    expect(err.match(/error:/g)).toHaveLength(1);
    const nested = {
      "all/web/Chart.yaml": "name: web",
      "all/web/templates/a.yaml": "{{ .Values.a }}",
      "all/p.yaml": pod,
    };
    expect((await run("plan -R -f all", { files: nested })).err).toMatch(
      /^all\/web:1:1: error: is a Helm chart.*\n1 error; nothing was planned\n$/,
    );
  });

  it.each([
    ["an expression as a value", "metadata: {name: p}\nspec:\n  replicas: {{ .Values.replicas }}\n"],
    ["an expression in quotes", 'metadata: {name: "{{ .Release.Name }}-web"}\n'],
    ["a block", "metadata:\n  name: p\n  {{- if .Values.labels }}\n  labels: {a: b}\n  {{- end }}\n"],
    ["a block of any template", "metadata:\n  name: p\n{{- range $one := .items }}\n  {{ $one }}\n{{- end }}\n"],
    ["an include", 'metadata:\n  labels:\n    {{- include "web.labels" . | nindent 4 }}\n'],
  ])("a template is one error, not one for each brace: %s", async (_, text) => {
    const { code, err } = await run("plan -f web/templates/a.yaml", {
      files: { "web/templates/a.yaml": `apiVersion: v1\nkind: Pod\n${text}` },
    });
    expect(code).toBe(1);
    expect(err.match(/error:/g)).toHaveLength(1);
    expect(err).toMatch(/^web\/templates\/a\.yaml:\d+:1: error: is a Helm template.*helm template my-release web > /);
  });

  it("text that only looks like a template is read", async () => {
    const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: "{{ .Values.a }}"}\n';
    const args = `---\n${pod.replace("image: i", 'image: i, args: ["{{ inputs.parameter }}"]')}`;
    expect(await run("plan -f a.yaml", { files: { "a.yaml": config + args } })).toMatchObject({ code: 0 });
  });
});

describe("kustomize folders", () => {
  const files = { "prod/kustomization.yaml": "resources: [web.yaml]\n", "prod/web.yaml": pod };
  const kubectl = (args: readonly string[]) =>
    args.join(" ") === "kustomize prod"
      ? { exitCode: 0, stdout: pod.replace("name: p", "name: rendered"), stderr: "" }
      : { exitCode: 1, stdout: "", stderr: "some words\nerror: no kustomization file found\n" };

  it("-k renders them with kubectl", async () => {
    const { out, code } = await run("plan -k prod", { files, programs: { kubectl } });
    expect(out).toContain("default/rendered");
    expect(code).toBe(0);
    const explained = await run("explain pod rendered -k prod", { files, programs: { kubectl } });
    expect(explained.code).toBe(0);
  });

  it("-k says what kubectl said, or how to render them without it", async () => {
    expect(await run("plan -k nowhere", { programs: { kubectl } })).toMatchObject({
      code: 1,
      err: expect.stringContaining("nowhere:1:1: error: kubectl kustomize nowhere failed: no kustomization file found"),
    });
    expect((await run("plan -k prod")).err).toContain(
      "kubectl is not installed, and renders kustomize folders; where it is, run kubectl kustomize prod > rendered.yaml",
    );
  });

  it("-f reads their files as they are, with a warning", async () => {
    const { out, err, code } = await run("plan -f prod", { files });
    expect(code).toBe(0);
    expect(out).toContain("default/p");
    expect(err).toMatch(
      /^prod\/kustomization\.yaml:1:1: warning: is a kustomization and is not applied; .* give -k prod, or/,
    );
  });

  it("-f of a folder without other files, or of the kustomization itself, is an error", async () => {
    const bare = { "prod/kustomization.yaml": "resources: [../base]\n" };
    expect(await run("plan -f prod", { files: bare })).toMatchObject({ code: 1 });
    const { code, err } = await run("convert -f prod/kustomization.yaml", { files: bare });
    expect(code).toBe(1);
    expect(err).toMatch(
      /error: is a kustomization and is not applied; to apply it, render it first: kubectl kustomize prod > /,
    );
  });
});
