// Runs a program that asks the oracle, by its name in this folder.
import { runBundled } from "../../scripts/run-bundled.mjs";

const [program = "expect", ...args] = process.argv.slice(2);
const external = ["highs", "vitest", "@kubernetes/client-node"];
await runBundled(new URL(`${program}.ts`, import.meta.url), "oracle", { args, external });
