import { runBundled } from "../scripts/run-bundled.mjs";

const args = process.argv.slice(2);
const isEdge = args.includes("--edge");
const isDisruption = args[0] === "disruption";
const entry = isEdge ? "edge" : isDisruption ? "disruption" : args.includes("--parts") ? "parts" : "main";
const nodeArgs = isEdge ? ["--max-old-space-size=512"] : [];
await runBundled(new URL(`${entry}.ts`, import.meta.url), "bench", { nodeArgs });
