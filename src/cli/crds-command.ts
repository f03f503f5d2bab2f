import { Command, Option } from "commander";
import { type Provider, providers } from "../api/label-policy.ts";
import { didYouMean } from "../api/manifest/closest-match.ts";
import { exitCodes, failureText, type Io, withIo } from "./io.ts";

interface CrdsOptions {
  readonly provider: Provider;
  readonly outputDir?: string;
}

const details = `
NAME is a kind, a plural, a short name or the full name, e.g. NodePool, nodepools, ec2nc, nodepools.karpenter.sh.
Without a name all kinds of the provider are printed. The provider decides which label keys the rules allow; "all" is
the union of their restrictions.

Exit codes: 0 printed, 1 the files cannot be written, 2 the command line is wrong.

Examples:
  karpenter crds | kubectl apply --server-side -f -
  karpenter crds --provider aws --output-dir charts/crds
  karpenter crds NodePool nodeclaims`;

/** `karpenter crds`: the CustomResourceDefinitions, from the one schema source. (01 §1.1) */
export function crdsCommand(io: Io): Command {
  return withIo(new Command("crds"), io)
    .summary("print the CustomResourceDefinitions")
    .description("Print the CustomResourceDefinitions, or write one file for each.")
    .argument("[name...]", "kinds to print")
    .addOption(
      new Option("--provider <name>", "provider whose label rules to include").choices(providers).default("all"),
    )
    .option("--output-dir <folder>", "write <plural>.<group>.yaml files into this folder")
    .addHelpText("after", details)
    .action((names: readonly string[], options: CrdsOptions, command: Command) =>
      runCrds(names, options, { io, command }),
    );
}

/** The documents are imported here, so that `--help` of any command starts quickly. */
async function runCrds(
  names: readonly string[],
  options: CrdsOptions,
  { io, command }: { io: Io; command: Command },
): Promise<void> {
  const { crdDocuments } = await import("./crd-documents.ts");
  const documents = crdDocuments(options.provider);
  const chosen = names.map((name) => documents.find((one) => one.names.includes(name.toLowerCase())));
  const unknown = names.filter((_, index) => chosen[index] === undefined);
  if (unknown.length > 0) {
    const hint = didYouMean(
      unknown[0] ?? "",
      documents.flatMap((one) => one.names),
    );
    const has = `provider ${options.provider} has ${documents.map(({ kind }) => kind).join(", ")}`;
    command.error(`error: no such kind: ${unknown.join(", ")}${hint === "" ? `; ${has}` : `${hint} (${has})`}`, {
      exitCode: exitCodes.usage,
    });
  }
  const wanted = names.length === 0 ? documents : documents.filter((one) => chosen.includes(one));
  if (options.outputDir === undefined) io.stdout(wanted.map(({ text }) => text).join("---\n"));
  else
    await writeFiles(
      wanted.map(({ fullName, text }) => ({ name: `${fullName}.yaml`, text })),
      options.outputDir,
      io,
    );
}

async function writeFiles(files: readonly { name: string; text: string }[], folder: string, io: Io): Promise<void> {
  try {
    for (const { name, text } of files) {
      await io.writeFile(`${folder}/${name}`, text);
      io.stdout(`${folder}/${name}\n`);
    }
  } catch (error) {
    io.stderr(`error: cannot write to ${folder}: ${failureText(error)}; choose another folder with --output-dir\n`);
    io.exit(exitCodes.badInput);
  }
}
