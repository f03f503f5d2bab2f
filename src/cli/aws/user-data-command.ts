import { Command, Option } from "commander";
import type { CapacityType } from "../../api/labels.ts";
import { withFileOptions } from "../common-options.ts";
import { exitCodes, type Io, withIo } from "../io.ts";

interface UserDataOptions {
  readonly filename: readonly string[];
  readonly recursive?: boolean;
  readonly cluster: string;
  readonly endpoint: string;
  readonly caBundle?: string;
  readonly clusterDns?: string;
  readonly cidr?: string;
  readonly nodeclass?: string;
  readonly nodepool?: string;
  readonly instanceType: string;
  readonly capacityType: CapacityType;
  readonly output: "text" | "base64";
}

const details = `
The files have an EC2NodeClass, and may have the NodePools that use it: their labels and taints are part of what a node
registers with. Older API versions are converted first. Of several classes or pools, name one.

Exit codes: 0 printed, 1 the input has errors, 2 the command line is wrong.

Examples:
  karpenter aws user-data -f class.yaml --cluster prod --endpoint https://ABC.eks.amazonaws.com --cidr 10.100.0.0/16
  karpenter aws user-data -f class.yaml -f pool.yaml --cluster prod --endpoint https://ABC --instance-type g5.xlarge`;

/** `karpenter aws user-data`: what a node of an EC2NodeClass boots with. (04 §1.9) */
export function userDataCommand(io: Io): Command {
  const command = withIo(new Command("user-data"), io)
    .summary("print what a node would boot with")
    .description("Print the user data of a node that is launched from an EC2NodeClass.");
  return withFileOptions(command, {
    description: "file, directory, or - for standard input; may be repeated",
    isRequired: true,
  })
    .requiredOption("--cluster <name>", "name of the EKS cluster")
    .requiredOption("--endpoint <url>", "URL of its API server")
    .option("--ca-bundle <base64>", "its certificate authority, as EKS shows it")
    .option("--cluster-dns <address>", "address of the Service kube-dns")
    .option("--cidr <cidr>", "CIDR of Services; AL2023 needs it")
    .option("--nodeclass <name>", "which EC2NodeClass, if the files have several")
    .option("--nodepool <name>", "which NodePool, if several use the class")
    .option("--instance-type <name>", "instance type, which decides the number of pods", "m5.large")
    .addOption(
      new Option("--capacity-type <type>", "how the node is paid for")
        .choices(["on-demand", "spot", "reserved"])
        .default("on-demand"),
    )
    .addOption(
      new Option("-o, --output <format>", "as text, or as EC2 takes it").choices(["text", "base64"]).default("text"),
    )
    .addHelpText("after", details)
    .action((options: UserDataOptions) => runUserData(options, io));
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runUserData(options: UserDataOptions, io: Io): Promise<void> {
  const [{ readInput }, { convertManifests }, { sortedFindings }, { reportFindings }, { previewUserData }] =
    await Promise.all([
      import("../input.ts"),
      import("../../api/conversion/manifests.ts"),
      import("../../api/manifest/finding.ts"),
      import("../report-findings.ts"),
      import("./preview-user-data.ts"),
    ]);
  const input = await readInput({ paths: options.filename, recursive: options.recursive === true }, io);
  const { documents, findings } = convertManifests(input.documents, {
    mode: "lenient",
    provider: "aws",
    clusterName: options.cluster,
  });
  if (reportFindings(sortedFindings([...input.findings, ...findings], input.sources), io) > 0) {
    io.exit(exitCodes.badInput);
    return;
  }
  const { cluster, endpoint, caBundle, clusterDns, cidr, nodeclass, nodepool, instanceType, capacityType } = options;
  const result = previewUserData(
    documents.map(({ object }) => object),
    {
      cluster: { name: cluster, endpoint, caBundle, dnsIp: clusterDns, cidr },
      nodeclass,
      nodepool,
      instanceType,
      capacityType,
    },
  );
  for (const warning of result.warnings) io.stderr(`warning: ${warning}\n`);
  if (result.kind === "error") {
    io.stderr(`error: ${result.message}\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  io.stdout(
    options.output === "base64" ? `${Buffer.from(result.text).toString("base64")}\n` : withNewline(result.text),
  );
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
