import {
  type AwsParam,
  type AwsParams,
  type AwsRequest,
  formOf,
  isParams,
  listOf,
  numbered,
  textOf,
} from "./aws-request.ts";
import { ec2Answer, elementTexts, xmlOf } from "./ec2-xml.ts";
import type { Forward, ShimAnswer } from "./shim.ts";
import type { ShimTables } from "./shim-tables.ts";

/** A row of EC2's `errorSet`. */
interface FleetErrorRow {
  readonly launchTemplateAndOverrides: {
    readonly launchTemplateSpecification: { readonly launchTemplateName: string | undefined };
    readonly overrides: Readonly<Record<string, string | undefined>>;
  };
  readonly lifecycle: string;
  readonly errorCode: string;
  readonly errorMessage: string;
}

/**
 * A fleet with stock: overrides of pools that are sold out fail as EC2 says it, and the cheapest of the rest goes to moto,
 * which knows no prices (the priority of an override is its price). Moto launches without the security groups of the launch template, so they are set afterwards. (04 §7.2)
 */
export async function fleetAnswer(call: AwsRequest, tables: ShimTables, forward: Forward): Promise<ShimAnswer> {
  const { params } = call;
  if (textOf(params, "DryRun") === "true") return forward();
  const capacityType = textOf(params["TargetCapacitySpecification"], "DefaultTargetCapacityType") ?? "on-demand";
  const errors: FleetErrorRow[] = [];
  const left = listOf(params["LaunchTemplateConfigs"]).flatMap((config) => {
    const kept = overridesOf(config).filter((override) => {
      const pool = { type: textOf(override, "InstanceType") ?? "", zone: textOf(override, "AvailabilityZone") ?? "" };
      const code = tables.soldOutCode({ capacityType, ...pool });
      if (code !== undefined) errors.push(fleetError({ config, override, code, capacityType }));
      return code === undefined;
    });
    return kept.map((override) => ({ ...(config as AwsParams), Overrides: numbered([override]) }));
  });
  const configs = [...left].sort((a, b) => priorityOf(a) - priorityOf(b)).slice(0, 1);
  if (configs.length === 0) {
    const body = ec2Answer("CreateFleet", { fleetId: "fleet-shim", errorSet: rows(errors), fleetInstanceSet: [] });
    return { status: 200, body };
  }
  const answer = await forward({ body: formOf({ ...params, LaunchTemplateConfigs: numbered(configs) }) });
  if (answer.status === 200) await setSecurityGroups({ answer, configs, forward });
  return { ...answer, body: withErrors(answer.body, errors) };
}

function overridesOf(config: AwsParam): readonly AwsParam[] {
  return listOf(isParams(config) ? config["Overrides"] : undefined);
}

function priorityOf(config: AwsParam): number {
  return Number(textOf(overridesOf(config)[0], "Priority") ?? Number.POSITIVE_INFINITY);
}

function fleetError(about: {
  readonly config: AwsParam;
  readonly override: AwsParam;
  readonly code: string;
  readonly capacityType: string;
}): FleetErrorRow {
  const { config, override, code, capacityType } = about;
  const template = isParams(config) ? config["LaunchTemplateSpecification"] : undefined;
  const field = (name: string): string | undefined => textOf(override, name);
  return {
    launchTemplateAndOverrides: {
      launchTemplateSpecification: { launchTemplateName: textOf(template, "LaunchTemplateName") },
      overrides: {
        instanceType: field("InstanceType"),
        availabilityZone: field("AvailabilityZone"),
        subnetId: field("SubnetId"),
        imageId: field("ImageId"),
      },
    },
    lifecycle: capacityType === "spot" ? "spot" : "on-demand",
    errorCode: code,
    errorMessage: `We currently do not have sufficient ${field("InstanceType")} capacity in ${field("AvailabilityZone")}.`,
  };
}

function rows(errors: readonly FleetErrorRow[]) {
  return errors.map((error) => ({ ...error }));
}

/** Moto never reports errors beside instances. */
function withErrors(body: string, errors: readonly FleetErrorRow[]): string {
  if (errors.length === 0) return body;
  const text = `<errorSet>${xmlOf(rows(errors))}</errorSet>`;
  const without = body.replace(/<errorSet\s*\/>|<errorSet>.*?<\/errorSet>/s, "");
  return without.replace("</CreateFleetResponse>", `${text}</CreateFleetResponse>`);
}

async function setSecurityGroups({
  answer,
  configs,
  forward,
}: {
  readonly answer: ShimAnswer;
  readonly configs: readonly AwsParam[];
  readonly forward: Forward;
}): Promise<void> {
  const [config] = configs;
  const template = isParams(config) ? config["LaunchTemplateSpecification"] : undefined;
  const name = textOf(template, "LaunchTemplateName") ?? "";
  const query = (action: string, params: AwsParams): Promise<ShimAnswer> =>
    forward({ body: formOf({ Action: action, Version: "2016-11-15", ...params }) });
  const versions = await query("DescribeLaunchTemplateVersions", {
    LaunchTemplateName: name,
    LaunchTemplateVersion: { 1: "$Latest" },
  });
  const groups = [...new Set(elementTexts(versions.body, "groupId").concat(groupItems(versions.body)))];
  if (groups.length === 0) return;
  for (const id of instanceIds(answer.body)) {
    await query("ModifyInstanceAttribute", { InstanceId: id, GroupId: numbered(groups) });
  }
}

/** Ids of security groups anywhere in the answer. */
function groupItems(xml: string): readonly string[] {
  return [...xml.matchAll(/>(sg-[0-9a-f]+)</g)].map(([, id = ""]) => id);
}

function instanceIds(xml: string): readonly string[] {
  return [...xml.matchAll(/>(i-[0-9a-f]+)</g)].map(([, id = ""]) => id);
}
