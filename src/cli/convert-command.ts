import { Command, Option } from "commander";
import { providers } from "../api/label-policy.ts";
import type { Finding } from "../api/manifest/finding.ts";
import type { MergeTarget } from "../api/manifest/fragments.ts";
import type { PrintableDocument } from "../api/manifest/print.ts";
import { withFileOptions } from "./common-options.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import { countText } from "./text-table.ts";

interface ConvertOptions {
  readonly filename: readonly string[];
  readonly recursive?: boolean;
  readonly output: "yaml" | "json";
  readonly strict?: boolean;
  readonly into?: MergeTarget;
  readonly provider: (typeof providers)[number];
  readonly clusterName?: string;
  readonly defaultInstanceProfile?: string;
  readonly helmValues?: string;
  readonly ignoreDefaults?: boolean;
}

const details = `
The result goes to standard output; every lossy or guessed step is a warning on standard error, with file, line and
field. With any error nothing is written to standard output.

Converts: karpenter.sh/v1beta1 NodePool and NodeClaim, karpenter.k8s.aws/v1beta1 EC2NodeClass, karpenter.sh/v1alpha3 to
v1alpha5 Provisioner, karpenter.k8s.aws/v1alpha1 AWSNodeTemplate. Objects of v1 are checked; others pass untouched.

Exit codes: 0 converted, 1 the input has errors, 2 the command line is wrong.

Examples:
  karpenter convert -f provisioner.yaml > nodepool.yaml
  karpenter convert -f manifests/ --cluster-name prod --strict
  kubectl get nodepools.v1beta1.karpenter.sh -o yaml | karpenter convert -f -
  karpenter convert -f pool.yaml -f snippet.yaml --into NodePool/default`;

/** `karpenter convert`: manifests of older API versions to v1. (01 §7) */
export function convertCommand(io: Io): Command {
  const command = withIo(new Command("convert"), io)
    .summary("convert manifests of older API versions to v1")
    .description("Convert NodePool, NodeClaim, EC2NodeClass, Provisioner and AWSNodeTemplate manifests to v1.");
  return withFileOptions(command, {
    description: "file, directory, or - for standard input; may be repeated",
    isRequired: true,
  })
    .addOption(new Option("-o, --output <format>", "format of the result").choices(["yaml", "json"]).default("yaml"))
    .option("--strict", "fail instead of assuming what an old manifest leaves open")
    .addOption(new Option("--into <kind/name>", "merge fragments into this object of the input").argParser(mergeTarget))
    .addOption(
      new Option("--provider <name>", "provider whose validation rules apply").choices(providers).default("all"),
    )
    .option("--cluster-name <name>", "cluster whose discovery tag fills in missing selectors (or CLUSTER_NAME)")
    .option("--default-instance-profile <name>", "fills in a missing role or instance profile")
    .option("--helm-values <file>", "Helm values of the old installation, read for the two settings above")
    .option("--ignore-defaults", "do not add the requirements v1alpha5 implied")
    .addHelpText("after", details)
    .action((options: ConvertOptions, command: Command) => runConvert(options, { io, command }));
}

function mergeTarget(text: string): MergeTarget {
  const [kind = "", ...name] = text.split("/");
  return { kind, name: name.join("/") };
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runConvert(options: ConvertOptions, { io, command }: { io: Io; command: Command }): Promise<void> {
  if (options.into !== undefined && (options.into.kind === "" || options.into.name === "")) {
    command.error("error: --into takes KIND/NAME, for example --into NodePool/default", { exitCode: exitCodes.usage });
  }
  const [{ readInput }, { readLegacySettings }, { mergeFragments }, { convertManifests }, { sortedFindings }] =
    await Promise.all([
      import("./input.ts"),
      import("./legacy-settings.ts"),
      import("../api/manifest/fragments.ts"),
      import("../api/conversion/manifests.ts"),
      import("../api/manifest/finding.ts"),
    ]);

  const input = await readInput({ paths: options.filename, recursive: options.recursive === true }, io);
  const settings = await readLegacySettings(options, io);
  const merged =
    options.into === undefined
      ? { documents: input.documents, findings: [] }
      : mergeFragments(input.documents, options.into);
  const conversion = convertManifests(merged.documents, {
    mode: options.strict === true ? "strict" : "lenient",
    provider: options.provider,
    ignoreDefaults: options.ignoreDefaults === true,
    ...settings.values,
  });
  const findings = [...input.findings, ...settings.findings, ...merged.findings, ...conversion.findings];
  await writeResult(sortedFindings(findings, input.sources), {
    documents: conversion.documents,
    output: options.output,
    io,
  });
}

/** Writes everything or nothing: half a result, piped into kubectl, would be worse than none. */
async function writeResult(
  findings: readonly Finding[],
  { documents, output, io }: { documents: readonly PrintableDocument[]; output: "yaml" | "json"; io: Io },
): Promise<void> {
  const { reportFindings } = await import("./report-findings.ts");
  const { printJson, printYaml } = await import("../api/manifest/print.ts");
  const errors = reportFindings(findings, io);
  if (errors > 0) {
    io.stderr(`${countText(errors, "error")}; nothing was written\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  io.stdout(output === "json" ? printJson(documents) : printYaml(documents));
}
