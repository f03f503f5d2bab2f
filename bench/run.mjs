import { runBundled } from "../scripts/run-bundled.mjs";

const args = process.argv.slice(2);
const isEdge = args.includes("--edge");
const named = ["disruption", "settle", "aws"].find((name) => name === args[0]);
const entry = isEdge ? "edge" : (named ?? (args.includes("--parts") ? "parts" : "main"));
const nodeArgs = isEdge ? ["--max-old-space-size=512"] : [];
await runBundled(new URL(`${entry}.ts`, import.meta.url), "bench", { nodeArgs });
