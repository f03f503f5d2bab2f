import { runBundled } from "../../scripts/run-bundled.mjs";

await runBundled(new URL("main.ts", import.meta.url), "soak", { nodeArgs: ["--expose-gc"] });
