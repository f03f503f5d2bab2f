// Writes what V8 compiled of the command line beside it: the functions that common commands use. (bin/load-cli.js)
import { rmSync, writeFileSync } from "node:fs";
import loader from "../bin/load-cli.js";

const { codeCache, loadCli } = loader;

const commands = [["plan", "-f", "examples/kwok.yaml", "-f", "examples/workload.yaml"]];

rmSync(codeCache, { force: true });
const { main, script } = loadCli();
for (const args of commands) {
  if ((await main(args)) !== 0) throw new Error(`karpenter ${args.join(" ")} failed`);
}
writeFileSync(codeCache, script.createCachedData());
if (loadCli().script.cachedDataRejected !== false) throw new Error("V8 refuses the code it has just compiled");
