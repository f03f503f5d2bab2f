import type { TestProject } from "vitest/node";
import { awsTarget } from "./aws-target.ts";
import { motoImages } from "./images.ts";
import { motoPython, startMoto } from "./moto.ts";
import type {} from "./shared.ts"; // what `provide` may hand out

/** Starts one moto for all test files of the run, unless a real account was asked for; without Python the tier is skipped, or fails in CI. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const aws = awsTarget(process.env);
  if (aws !== undefined) {
    project.provide("wire", { kind: "aws", ...aws });
    return undefined;
  }
  const python = await motoPython();
  if (python.kind === "missing") {
    skipOrFail(python.because);
    project.provide("wire", python);
    return undefined;
  }
  const { url, stop } = await startMoto(python.dir, motoImages);
  project.provide("wire", { kind: "moto", url });
  return stop;
}

function skipOrFail(because: string): void {
  const message = `the tests of AWS need moto, which scripts/setup-aws.sh installs:\n${because}`;
  if (process.env["REQUIRE_ALL"] === "1") throw new Error(message);
  process.stderr.write(`\nSKIPPING ALL TESTS OF AWS: ${message}\n\n`);
}
