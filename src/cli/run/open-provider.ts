import { formatPath } from "../../api/problem.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { KubeClient, ResourceType } from "../../kube/client.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { type OperatorProvider, operatorProviders } from "../../operator/option-table.ts";
import type { OperatorOptions } from "../../operator/options.ts";
import { kwokInstanceTypes } from "../../providers/kwok/catalogue.ts";
import { parseKwokFile } from "../../providers/kwok/catalogue-file.ts";
import { kwokNodes } from "../../providers/kwok/kwok-nodes.ts";
import { kwokProvider } from "../../providers/kwok/kwok-provider.ts";
import type { Clock } from "../../util/clock.ts";
import { aksNodeClassType } from "../live-cluster.ts";
import type { AwsHost } from "./open-aws-provider.ts";
import type { UsageProblems } from "./usage-problems.ts";

export interface OpenProviderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  readonly options: Pick<OperatorOptions, "provider" | "instanceTypesFile" | "aws" | "settings">;
  readonly readFile: (path: string) => Promise<string | undefined>;
  /** For clouds outside the cluster. */
  readonly host: AwsHost;
}

/** The cloud provider: as configured, or inferred from the node classes the cluster serves. */
export async function openProvider(
  request: OpenProviderOptions,
): Promise<{ readonly provider: CloudProvider } | UsageProblems> {
  const { client, clock, signal, options, readFile, host } = request;
  const name = options.provider ?? (await inferProvider(client, signal));
  if (typeof name !== "string") return name;
  if (name === "aws") {
    // Loaded when it is chosen: no other provider needs it.
    const { openAwsProvider } = await import("./open-aws-provider.ts");
    return openAwsProvider({ ...host, client, clock, signal, options });
  }
  if (name !== "kwok")
    return { problems: [`provider ${name} cannot be run by this version; use --provider kwok or aws`] };
  const catalogue = await instanceTypesFrom(options.instanceTypesFile, readFile);
  if ("problems" in catalogue) return catalogue;
  return {
    provider: kwokProvider({ client, clock, catalogue: catalogue.types, kwokNodes: kwokNodes({ client, clock }) }),
  };
}

const nodeClasses: Readonly<Record<OperatorProvider, ResourceType>> = {
  kwok: karpenterTypes.KWOKNodeClass,
  aws: karpenterTypes.EC2NodeClass,
  azure: aksNodeClassType,
};

/** The only provider whose node class CRD the cluster has. */
async function inferProvider(client: KubeClient, signal: AbortSignal): Promise<OperatorProvider | UsageProblems> {
  const known: OperatorProvider[] = [];
  for (const name of operatorProviders) if (await isServed(nodeClasses[name], client, signal)) known.push(name);
  const [only, ...others] = known;
  if (only !== undefined && others.length === 0) return only;
  const found = only === undefined ? "no node class of any provider" : `node classes of ${known.join(", ")}`;
  return {
    problems: [`cannot infer the provider: the cluster has ${found}; set --provider ${operatorProviders.join("|")}`],
  };
}

async function isServed(type: ResourceType, client: KubeClient, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(type, { limit: 1, signal });
    return true;
  } catch (error) {
    if (isKubeError(error, "not-found", "forbidden")) return false; // a node class we are not allowed to read cannot be used
    throw error;
  }
}

/** The instance types of --instance-types-file-path, or KWOK's default list. (02:K-4) */
async function instanceTypesFrom(path: string | undefined, readFile: OpenProviderOptions["readFile"]) {
  if (path === undefined) return { types: kwokInstanceTypes() };
  const text = await readFile(path);
  if (text === undefined) return { problems: [`--instance-types-file-path: no such file: ${path}`] };
  const parsed = parseKwokFile(text);
  if ("types" in parsed) return parsed;
  return {
    problems: parsed.problems.map(({ path: field, message, expected }) => {
      const hint = expected === undefined ? "" : `; expected ${expected}`;
      return `${path}: ${formatPath(field)}: ${message}${hint}`;
    }),
  };
}
