import { readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/** Whose work it is, by where the code is; what is in none of them is done for either. */
const owners = {
  controllers: /\/src\/(controllers|state|core|operator|cloud)\//,
  "control plane": /\/src\/control-plane\//,
  cloud: /\/src\/providers\//,
} as const;

/** Shares of one, by owner; "edge" is the client side of the API, "garbage" its collection. */
export type CpuShares = ReadonlyMap<string, number>;

/** Begins to sample where time goes in this process; what it gives ends that and says. */
export async function sampling(): Promise<() => Promise<CpuShares>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  return async () => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return sharesOf(profile);
  };
}

function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): CpuShares {
  const ownerOf = ownersIn(nodes);
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const owner = ownerOf.get(id) ?? "edge";
    times.set(owner, (times.get(owner) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  times.delete("idle");
  const total = [...times.values()].reduce((sum, one) => sum + one, 0);
  return new Map([...times].map(([owner, time]) => [owner, time / total]));
}

/** A function that belongs to nobody works for its caller. */
function ownersIn(nodes: readonly Profiler.ProfileNode[]): ReadonlyMap<number, string> {
  const bundle = fileURLToPath(import.meta.url);
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")));
  const found = new Map<number, string>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const visit = (node: Profiler.ProfileNode, caller: string | undefined): void => {
    const owner = ownerOf(node, map) ?? caller;
    if (owner !== undefined) found.set(node.id, owner);
    for (const id of node.children ?? []) visit(byId.get(id) as Profiler.ProfileNode, owner);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, undefined);
  return found;
}

function ownerOf({ callFrame }: Profiler.ProfileNode, map: SourceMap): string | undefined {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  if (functionName === "(idle)") return "idle";
  if (functionName === "(garbage collector)") return "garbage";
  if (!url.endsWith(".mjs")) return undefined;
  const entry = map.findEntry(lineNumber, columnNumber);
  const source = "originalSource" in entry ? entry.originalSource : "";
  return Object.entries(owners).find(([, path]) => path.test(source))?.[0];
}
