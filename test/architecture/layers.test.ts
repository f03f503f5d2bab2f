import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSources, repository, type SourceFile, withoutComments } from "./sources.ts";

const sources = readSources();

/** The table of ARCHITECTURE.md: which layers each layer may import. What is written there is what is checked. */
const mayImport: ReadonlyMap<string, readonly string[]> = new Map(
  readFileSync(join(repository, "ARCHITECTURE.md"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, layer, , imports] = /^\| `src\/([\w-]+)` \|([^|]*)\|([^|]*)\|/.exec(line) ?? [];
      if (layer === undefined || imports === undefined) return [];
      return [[layer, [...imports.matchAll(/`([\w-]+)`/g)].map(([, name]) => name ?? "")]];
    }),
);

/** Everything in them is values in, values out: no I/O, no ambient time or randomness. */
const pureLayers = ["util", "api", "core"];

/** Real time enters through these files; everybody else is given a Clock. */
const clockFiles = ["util/clock.ts"];

/** The layers that put the program together, and may read time, randomness and environment. */
const compositionLayers = ["operator", "cli", "web"];

/** What controllers, state and cloud may see of kube: the client interface and what it is made of, not how it connects. */
const kubeInterface = ["client", "controller", "kube-error", "reconciler", "resources", "view"].map(
  (name) => `kube/${name}.ts`,
);

/** What the embedded control plane may see of core: predicates on pods and labels, not the scheduler. */
const schedulerFolders = ["scheduling", "scenario", "polish", "explain", "bound"].map((name) => `core/${name}/`);

const ambient =
  /\b(Date\.now\(|new Date\(\)|setTimeout\(|setInterval\(|Math\.random\(|performance\.now\(|process\.env|systemClock\(|randomBytes|randomUUID)/;

function imported(layers: readonly string[], isWrong: (target: string, source: SourceFile) => boolean): string[] {
  return sources
    .filter(({ layer }) => layers.includes(layer))
    .flatMap((source) =>
      source.imports.filter((target) => isWrong(target, source)).map((to) => `${source.file} -> ${to}`),
    );
}

describe("ARCHITECTURE.md", () => {
  it("has a row for every layer", () => {
    const layers = new Set(sources.map(({ layer }) => layer));
    expect([...layers].filter((layer) => !mayImport.has(layer))).toEqual([]);
    expect([...mayImport.keys()].filter((layer) => !layers.has(layer))).toEqual([]);
  });

  it("says which layers a layer imports", () => {
    const all = [...mayImport.keys()];
    const layerOf = (target: string): string => target.split("/")[0] ?? "";
    const wrong = imported(
      all,
      (target, { layer }) => layerOf(target) !== layer && !(mayImport.get(layer) ?? []).includes(layerOf(target)),
    );
    expect(wrong).toEqual([]);
  });

  it("names files that exist", () => {
    const text = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8");
    const named = [...text.matchAll(/`src\/([\w./-]+\.ts)`/g)].map(([, file]) => file ?? "");
    const files = new Set(sources.map(({ file }) => file));
    expect(named.filter((file) => !files.has(file))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  it("names functions that are in the file it names", () => {
    const text = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8");
    const hops = [...text.matchAll(/`src\/([\w./-]+\.ts)` `(\w+)`/g)];
    const wrong = hops.filter(([, file, name]) => {
      const source = sources.find((one) => one.file === file);
      return !new RegExp(`\\b${name}\\b`).test(source?.text ?? "");
    });
    expect(wrong.map(([hop]) => hop)).toEqual([]);
    expect(hops.length).toBeGreaterThanOrEqual(10);
  });
});

describe("layers", () => {
  it("providers do not know each other, except through the simulated cloud", () => {
    const provider = (file: string): string => file.split("/")[1] ?? "";
    const wrong = imported(
      ["providers"],
      (target, { file }) =>
        target.startsWith("providers/") &&
        provider(target) !== provider(file) &&
        ![provider(target), provider(file)].includes("sim"),
    );
    expect(wrong).toEqual([]);
  });

  it("the control plane uses predicates of core, never the scheduler", () => {
    const isScheduler = (target: string): boolean => schedulerFolders.some((folder) => target.startsWith(folder));
    expect(imported(["control-plane"], isScheduler)).toEqual([]);
  });

  it("controllers, state and cloud see the client interface of kube only", () => {
    const isEdge = (target: string): boolean => target.startsWith("kube/") && !kubeInterface.includes(target);
    expect(imported(["controllers", "state", "cloud"], isEdge)).toEqual([]);
  });

  it("pure layers import nothing of the host", () => {
    const wrong = sources
      .filter(({ layer }) => pureLayers.includes(layer))
      .flatMap(({ file, specifiers }) =>
        specifiers.filter((one) => one.startsWith("node:")).map((one) => `${file} -> ${one}`),
      );
    expect(wrong).toEqual([]);
  });

  it("time, randomness and environment arrive by argument", () => {
    const wrong = sources
      .filter(({ layer, file }) => !compositionLayers.includes(layer) && !clockFiles.includes(file))
      .filter(({ text }) => ambient.test(withoutComments(text)))
      .map(({ file }) => file);
    expect(wrong).toEqual([]);
  });
});
