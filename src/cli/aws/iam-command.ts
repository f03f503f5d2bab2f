import { Command, InvalidArgumentError, Option } from "commander";
import type { AccountResources } from "../../providers/aws/iam/account-resources.ts";
import { choiceOption } from "../common-options.ts";
import { type Io, withIo } from "../io.ts";

interface IamOptions {
  readonly cluster: string;
  readonly region?: string;
  readonly account?: string;
  readonly partition: string;
  readonly queue?: string;
  readonly nodeRole?: string;
  readonly output: "cloudformation" | "json";
}

const details = `
The template has the role of nodes, one policy for each thing the controller does, the interruption queue and the
EventBridge rules that fill it. Attach the policies to the role of the controller (IRSA or pod identity), and map the
role of nodes to the cluster, for example with an EKS access entry. Policies for SSM parameters of your own, for
encrypted volumes and for other node roles are yours to add.

With -o json the same is one JSON object, for other tools; it needs the region and the account.

Exit codes: 0 printed, 2 the command line is wrong.

Examples:
  karpenter aws iam --cluster prod > karpenter.yaml
  aws cloudformation deploy --stack-name karpenter-prod --template-file karpenter.yaml --capabilities CAPABILITY_NAMED_IAM
  karpenter aws iam --cluster prod --region us-west-2 --account 111122223333 -o json`;

/** `karpenter aws iam`: policies, node role, queue and rules of an installation. (04 §4.5, §5.6) */
export function iamCommand(io: Io): Command {
  return withIo(new Command("iam"), io)
    .summary("print the permissions, the queue and the rules an installation needs")
    .description("Print the permissions, the interruption queue and the event rules that Karpenter needs on AWS.")
    .addOption(new Option("--cluster <name>", "name of the EKS cluster").argParser(clusterName).makeOptionMandatory())
    .option("--queue <name>", "name of the interruption queue (default: the cluster's name)")
    .option("--node-role <name>", "name of the role of nodes (default: KarpenterNodeRole-<cluster>)")
    .option("--region <name>", "with -o json: the region")
    .addOption(new Option("--account <id>", "with -o json: the account, twelve digits").argParser(accountId))
    .option("--partition <name>", "with -o json: aws, aws-cn or aws-us-gov", "aws")
    .addOption(choiceOption("-o, --output <format>", "a CloudFormation template, or JSON", ["cloudformation", "json"]))
    .addHelpText("after", details)
    .action((options: IamOptions) => runIam(options, io));
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runIam(options: IamOptions, io: Io): Promise<void> {
  const { cluster, queue = cluster, nodeRole = `KarpenterNodeRole-${cluster}`, output } = options;
  const names = { cluster, queue, nodeRole };
  if (output === "json") {
    const { accountResources } = await import("../../providers/aws/iam/account-resources.ts");
    const { partition, region = "<region>", account = "<account>" } = options;
    const resources: AccountResources = accountResources({ partition, region, account, ...names });
    io.stdout(`${JSON.stringify(resources, undefined, 2)}\n`);
    const missing = [...(options.region ? [] : ["--region"]), ...(options.account ? [] : ["--account"])];
    if (missing.length > 0)
      io.stderr(`note: give ${missing.join(" and ")}, or replace the placeholders <region> and <account>\n`);
    return;
  }
  const [{ cloudFormationTemplate }, { stringify }] = await Promise.all([
    import("../../providers/aws/iam/cloud-formation.ts"),
    import("../yaml.ts"),
  ]);
  io.stdout(stringify(cloudFormationTemplate(names)));
}

/** What EKS allows, so that nothing else gets into policies. */
function clusterName(text: string): string {
  if (/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected the name of an EKS cluster: letters, digits, - and _, at most 100.");
}

function accountId(text: string): string {
  if (/^\d{12}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected an account: twelve digits.");
}
