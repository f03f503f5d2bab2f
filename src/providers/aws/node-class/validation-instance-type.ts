import type { NodePool } from "../../../api/kinds/node-pool.ts";
import { labelPolicy } from "../../../api/label-policy.ts";
import { awsLabels } from "../../../api/labels.ts";
import { isCompatible } from "../../../core/compatibility.ts";
import type { InstanceType } from "../../../core/instance-type.ts";
import { Requirements } from "../../../core/requirements.ts";
import { type Ami, isAmiFor } from "./ami-requirements.ts";

const policy = labelPolicy("aws");
const fallbackTypes = ["m5.large", "m6g.large"];

/** What a dry run launches. */
export interface ValidationLaunch {
  readonly type: InstanceType;
  readonly tenancy: "default" | "dedicated";
}

export interface ValidationLaunchOptions {
  readonly types: readonly InstanceType[];
  readonly amis: readonly Ami[];
  /** The pools that use the class. */
  readonly pools: readonly NodePool[];
  readonly isWindows: boolean;
}

/** A type the class could launch for its pools, with an ordinary image if possible. (04 §1.12) */
export function validationLaunch(options: ValidationLaunchOptions): ValidationLaunch | undefined {
  const requirements = options.pools.map(poolRequirements);
  const type = poolType(options, requirements) ?? fallbackType(options);
  if (type === undefined) return undefined;
  const isDedicated = requirements.some(
    (one) => one.has(awsLabels.instanceTenancy) && one.get(awsLabels.instanceTenancy).has("dedicated"),
  );
  return { type, tenancy: isDedicated ? "dedicated" : "default" };
}

function poolType({ types, amis, isWindows }: ValidationLaunchOptions, pools: readonly Requirements[]) {
  if (isWindows) return undefined;
  const usable = types.filter(
    ({ requirements, offerings }) =>
      offerings.some(({ available }) => available) &&
      pools.some((pool) => isCompatible(pool, requirements, { allowUndefined: policy.wellKnown })) &&
      amis.some((ami) => isAmiFor(requirements, ami)),
  );
  return usable.find(isOrdinary) ?? usable[0];
}

/** Without GPUs and accelerators, as standard images want it. */
function isOrdinary({ requirements }: InstanceType): boolean {
  return [awsLabels.instanceGpuCount, awsLabels.instanceAcceleratorCount].every(
    (label) => requirements.get(label).singleValue === undefined,
  );
}

function fallbackType({ types, amis }: ValidationLaunchOptions): InstanceType | undefined {
  const bootable = types.filter(({ requirements }) => amis.some((ami) => isAmiFor(requirements, ami)));
  const usual = fallbackTypes.flatMap((name) => bootable.find((type) => type.name === name) ?? []);
  return usual[0] ?? bootable[0];
}

function poolRequirements({ spec }: NodePool): Requirements {
  const { spec: template, metadata } = spec.template;
  return Requirements.fromItems(template.requirements, policy).add(
    ...Requirements.fromLabels(metadata?.labels ?? {}, policy),
  );
}
