import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "src");

/** Which rooms a room may call into. A room is a folder of src; providers and control plane hang off interfaces. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  util: [],
  api: ["util"],
  core: ["util", "api"],
  cloud: ["util", "api", "core", "kube"],
  kube: ["util", "api"],
  state: ["util", "api", "core", "cloud", "kube"],
  providers: ["util", "api", "core", "cloud", "kube"],
  "control-plane": ["util", "api", "core", "cloud", "kube"],
  controllers: ["util", "api", "core", "state", "cloud", "kube"],
  operator: ["util", "api", "core", "state", "cloud", "kube", "controllers", "providers", "control-plane"],
  web: ["util", "api"],
  cli: [
    "util",
    "api",
    "core",
    "state",
    "cloud",
    "kube",
    "controllers",
    "providers",
    "control-plane",
    "operator",
    "web",
  ],
};

/** Rooms whose code is values in, values out: no I/O, no ambient time or chance. */
const pureRooms = ["util", "api", "core"];
/** The one place of util that touches real time: clocks are how time is injected everywhere else. */
const timekeepers = ["util/clock.ts", "util/system-clock.ts"];
const ambient =
  /\b(Date\.now\(|new Date\(\)|setTimeout\(|setInterval\(|Math\.random\(|performance\.now\(|process\.env)/;

interface Source {
  readonly file: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
    return { file: file.split(sep).join("/"), room: file.split(sep)[0] ?? "", text, imports };
  });

function roomOf(source: Source, specifier: string): string {
  return relative(root, join(root, dirname(source.file), specifier)).split(sep)[0] ?? "";
}

describe("the house", () => {
  it("has a door plan for every room", () => {
    expect([...new Set(sources.map(({ room }) => room))].filter((room) => !(room in mayImport))).toEqual([]);
    expect(sources.length).toBeGreaterThan(10);
  });

  it("imports point inward", () => {
    const wrong = sources.flatMap((source) =>
      source.imports
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => roomOf(source, specifier))
        .filter((room) => room !== source.room && !(mayImport[source.room] ?? []).includes(room))
        .map((room) => `${source.file} -> ${room}`),
    );
    expect(wrong).toEqual([]);
  });

  it("providers do not know each other, except through the simulated cloud", () => {
    const provider = (file: string): string => file.split("/")[1] ?? "";
    const wrong = sources
      .filter(({ room }) => room === "providers")
      .flatMap((source) =>
        source.imports
          .filter((specifier) => specifier.startsWith("../") && roomOf(source, specifier) === "providers")
          .map((specifier) => relative(root, join(root, dirname(source.file), specifier)).split(sep)[1] ?? "")
          .filter((other) => other !== provider(source.file) && other !== "sim" && provider(source.file) !== "sim")
          .map((other) => `${source.file} -> providers/${other}`),
      );
    expect(wrong).toEqual([]);
  });

  it("the control plane borrows predicates from core, never the solver", () => {
    const wrong = sources
      .filter(({ room }) => room === "control-plane")
      .flatMap((source) =>
        source.imports
          .map((specifier) =>
            relative(root, join(root, dirname(source.file), specifier))
              .split(sep)
              .join("/"),
          )
          .filter((target) => target.startsWith("core/scheduling/") && target !== "core/scheduling/problem.ts")
          .map((target) => `${source.file} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it("pure rooms import nothing of the machine", () => {
    const wrong = sources
      .filter(({ room }) => pureRooms.includes(room))
      .flatMap(({ file, imports }) =>
        imports.filter((specifier) => specifier.startsWith("node:")).map((specifier) => `${file} -> ${specifier}`),
      );
    expect(wrong).toEqual([]);
  });

  it("time and chance arrive by argument", () => {
    const wrong = sources
      .filter(
        ({ room, file }) => room !== "cli" && room !== "operator" && room !== "web" && !timekeepers.includes(file),
      )
      .filter(({ text }) => ambient.test(withoutComments(text)))
      .map(({ file }) => file);
    expect(wrong).toEqual([]);
  });

  it("no default exports, no barrels except the package entry points", () => {
    const isEntry = (file: string): boolean => /^(util|api|core|state|providers\/[a-z]+)\/index\.ts$/.test(file);
    const wrong = sources
      .filter(({ file, text }) => /^export default /m.test(text) || (!isEntry(file) && /^export \* from /m.test(text)))
      .map(({ file }) => file);
    expect(wrong).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}
