import { formatPath } from "../../api/problem.ts";
import type { CloudProvider } from "../../cloud/provider.ts";
import type { KubeClient, ResourceType } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import { custom } from "../../kube/resources.ts";
import { type OperatorProvider, operatorProviders } from "../../operator/option-table.ts";
import type { OperatorOptions } from "../../operator/options.ts";
import { kwokInstanceTypes } from "../../providers/kwok/catalogue.ts";
import { parseKwokFile } from "../../providers/kwok/catalogue-file.ts";
import { nodeFleet } from "../../providers/kwok/node-fleet.ts";
import { kwokProvider } from "../../providers/kwok/provider.ts";
import type { Clock } from "../../util/clock.ts";
import { aksNodeClass } from "../live.ts";
import type { Misuse } from "./run.ts";

export interface ProviderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly options: Pick<OperatorOptions, "provider" | "instanceTypesFile">;
  readonly readFile: (path: string) => Promise<string | undefined>;
}

/** Whoever sells the machines: as asked for, or as the cluster's node classes tell. */
export async function openProvider({
  client,
  clock,
  options,
  readFile,
}: ProviderOptions): Promise<{ readonly provider: CloudProvider } | Misuse> {
  const name = options.provider ?? (await providerOf(client));
  if (typeof name !== "string") return name;
  if (name !== "kwok") throw new Error(`provider ${name} cannot be run yet: of the providers only kwok is built`);
  const catalogue = await catalogueOf(options.instanceTypesFile, readFile);
  if ("problems" in catalogue) return catalogue;
  return { provider: kwokProvider({ client, clock, catalogue: catalogue.types, fleet: nodeFleet({ client, clock }) }) };
}

const nodeClasses: Readonly<Record<OperatorProvider, ResourceType>> = {
  kwok: custom.KWOKNodeClass,
  aws: custom.EC2NodeClass,
  azure: aksNodeClass,
};

/** The one whose node classes the cluster knows. */
async function providerOf(client: KubeClient): Promise<OperatorProvider | Misuse> {
  const known: OperatorProvider[] = [];
  for (const name of operatorProviders) if (await isServed(nodeClasses[name], client)) known.push(name);
  const [only, ...others] = known;
  if (only !== undefined && others.length === 0) return only;
  const found = only === undefined ? "no node class of any provider" : `node classes of ${known.join(", ")}`;
  return { problems: [`which provider? the cluster knows ${found}: say --provider ${operatorProviders.join("|")}`] };
}

async function isServed(type: ResourceType, client: KubeClient): Promise<boolean> {
  try {
    await client.list(type, { limit: 1 });
    return true;
  } catch (error) {
    if (isKubeError(error, "not-found", "forbidden")) return false; // what we may not read we cannot serve
    throw error;
  }
}

/** 02:K-4. */
async function catalogueOf(path: string | undefined, readFile: ProviderOptions["readFile"]) {
  if (path === undefined) return { types: kwokInstanceTypes() };
  const text = await readFile(path);
  if (text === undefined) return { problems: [`--instance-types-file-path: there is no file ${path}`] };
  const parsed = parseKwokFile(text);
  if ("types" in parsed) return parsed;
  return { problems: parsed.problems.map((one) => `${path}: ${formatPath(one.path)}: ${one.message}`) };
}
