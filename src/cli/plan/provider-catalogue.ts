import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { type LabelPolicy, labelPolicy, type Provider } from "../../api/label-policy.ts";
import { groups } from "../../api/labels.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import type { GroupKind } from "../../api/validation/node-pool.ts";
import type { OfferChooser } from "../../cloud/launchable-offerings.ts";
import type { AnalysisOptions } from "../../core/explain/placement-analysis.ts";
import { type InstanceType, withPriceSource } from "../../core/instance-type.ts";
import type { PriceBook } from "../../core/price-book.ts";
import type { PriceSource } from "../../core/price-source.ts";
import { nodeClassesByKey, nodeClassKey } from "../../core/scenario/node-classes.ts";
import type { Ec2CatalogueOptions, Zone } from "../../providers/aws/index.ts";
import { errorCodeOf, type Io } from "../io.ts";
import type { ReadPriceBook } from "../prices/read-price-book.ts";
import type { SnapshotHeader } from "../snapshot/snapshot-header.ts";
import type { PlanProvider } from "./plan-choices.ts";

/** The instance types of one or several providers and their label rules. */
export interface ProviderCatalogue {
  /** Of pools and claims that name no node class. */
  readonly provider: PlanProvider;
  /** The node classes of all providers. (02:P-33) */
  readonly served: readonly GroupKind[];
  /** Whose CRDs are installed. */
  readonly admission: Provider;
  /** The instance types a node class offers. */
  readonly typesFor: (nodeClass: NodeClassRef) => readonly InstanceType[];
  readonly labelPolicy: LabelPolicy;
  /** What the provider of a claim asks its cloud for. */
  readonly chooseOffers: OfferChooser;
  /** What would give the nodes of a pool more ephemeral storage. */
  readonly largerStorage?: AnalysisOptions["largerStorage"];
  /** The region of EC2 instance types. */
  readonly region?: string;
  /** The user's own prices, which the types have already. */
  readonly priceBook?: PriceBook;
}

export interface CatalogueRequest {
  /** One or more; the first is that of pools and claims that name no node class. */
  readonly providers: readonly [PlanProvider, ...PlanProvider[]];
  /** `kwok`, `fake:N`, or a file in the KWOK format; absent: the provider's own. */
  readonly instanceTypes?: string | undefined;
  readonly region?: string | undefined;
  /** The user's own prices. */
  readonly prices?: ReadPriceBook | undefined;
}

/** The catalogue, or one sentence about what is wrong with the command line or the file it names. */
export type CatalogueOutcome = { readonly catalogue: ProviderCatalogue } | CatalogueRefusal;

export interface CatalogueRefusal {
  readonly refused: "usage" | "input";
  readonly because: string;
}

function usageRefusal(because: string): CatalogueRefusal {
  return { refused: "usage", because };
}

function inputRefusal(because: string): CatalogueRefusal {
  return { refused: "input", because };
}

/** The node class each provider serves. */
export const servedNodeClasses: Readonly<Record<PlanProvider, GroupKind>> = {
  kwok: { group: groups.kwok, kind: "KWOKNodeClass" },
  aws: { group: groups.aws, kind: "EC2NodeClass" },
};

/** What the instance types depend on. */
export interface CatalogueInput {
  readonly objects: readonly KubeObject[];
  readonly header?: SnapshotHeader | undefined;
  readonly io: Io;
}

/** The instance types, with the prices of the user's price book. */
export async function loadCatalogue(request: CatalogueRequest, input: CatalogueInput): Promise<CatalogueOutcome> {
  const opened = await listedCatalogue(request, input);
  const book = request.prices?.book;
  return "refused" in opened || book === undefined ? opened : { catalogue: withPriceBook(opened.catalogue, book) };
}

/** Each list is priced once, so that the same types stay the same objects. */
function withPriceBook(catalogue: ProviderCatalogue, priceBook: PriceBook): ProviderCatalogue {
  const known = new Map<readonly InstanceType[], readonly InstanceType[]>();
  const typesFor = (ref: NodeClassRef): readonly InstanceType[] => {
    const listed = catalogue.typesFor(ref);
    const priced = known.get(listed) ?? priceBook.applyTo(listed, catalogue.region);
    known.set(listed, priced);
    return priced;
  };
  return { ...catalogue, typesFor, priceBook };
}

async function listedCatalogue(
  { providers, instanceTypes, region, prices }: CatalogueRequest,
  { objects, header, io }: CatalogueInput,
): Promise<CatalogueOutcome> {
  const servesEc2 = instanceTypes === undefined && providers.includes("aws");
  if (region !== undefined && !servesEc2) {
    return usageRefusal(
      "--region selects EC2 instance types and cannot be combined with --instance-types or --provider kwok; remove one of them",
    );
  }
  const ec2 = servesEc2 ? await ec2Catalogue(region, { objects, header, prices }) : undefined;
  if (ec2 !== undefined && ("refused" in ec2 || providers.length === 1)) return ec2;
  const kwok = await kwokCatalogue(instanceTypes ?? "kwok", { providers, io });
  return ec2 === undefined || "refused" in kwok ? kwok : { catalogue: combined(kwok.catalogue, ec2.catalogue) };
}

/** Both as the sandbox serves them: each node class has the types of its provider, and the label rules are the union. */
function combined(kwok: ProviderCatalogue, ec2: ProviderCatalogue): ProviderCatalogue {
  return {
    ...kwok,
    ...(ec2.region !== undefined && { region: ec2.region }),
    ...(ec2.largerStorage && { largerStorage: ec2.largerStorage }),
    typesFor: (ref) => (ref.group === servedNodeClasses.aws.group ? ec2 : kwok).typesFor(ref),
    chooseOffers: (launch, offers) => {
      const { group } = launch.claim.spec.nodeClassRef;
      return (group === servedNodeClasses.aws.group ? ec2 : kwok).chooseOffers(launch, offers);
    },
  };
}

/** KWOK asks for the cheapest offering of all. */
const allOffers: OfferChooser = (_, offers) => offers;

/** One list for all node classes. */
async function kwokCatalogue(
  name: string,
  { providers, io }: { providers: CatalogueRequest["providers"]; io: Io },
): Promise<CatalogueOutcome> {
  const { fakeInstanceTypes, fakeLabels, kwokInstanceTypes, withOfferingKeys } = await import(
    "../../providers/kwok/index.ts"
  );
  const [provider] = providers;
  const served = providers.map((one) => servedNodeClasses[one]);
  const admission = providers.length === 1 ? provider : "all";
  const policy = labelPolicy(admission === "kwok" ? "kwok" : "all");
  const catalogueOf = (
    types: readonly InstanceType[],
    priceSource: PriceSource,
    rules: LabelPolicy = policy,
  ): CatalogueOutcome => {
    const priced = withPriceSource(types, priceSource);
    const typesFor = () => priced;
    const labelRules = withOfferingKeys(rules, priced);
    return { catalogue: { provider, served, admission, typesFor, labelPolicy: labelRules, chooseOffers: allOffers } };
  };
  if (name === "kwok") return catalogueOf(kwokInstanceTypes(), { kind: "simulated" });
  const count = /^fake:(.*)$/.exec(name)?.[1];
  if (count === undefined) return catalogueFromFile(name, { policy, catalogueOf, io });
  if (!/^[1-9][0-9]{0,4}$/.test(count)) {
    return usageRefusal(
      `--instance-types ${name}: fake:N takes a number of types from 1 to 99999, for example fake:400`,
    );
  }
  const wellKnown = new Set([...policy.wellKnown, ...Object.values(fakeLabels)]);
  return catalogueOf(fakeInstanceTypes(Number(count)), { kind: "simulated" }, { ...policy, wellKnown });
}

/** Ten times the size of the largest known catalogue. */
const maxFileBytes = 64 * 1024 * 1024;

async function catalogueFromFile(
  name: string,
  {
    policy,
    catalogueOf,
    io,
  }: {
    policy: LabelPolicy;
    catalogueOf: (types: readonly InstanceType[], priceSource: PriceSource) => CatalogueOutcome;
    io: Io;
  },
): Promise<CatalogueOutcome> {
  const { parseKwokFile } = await import("../../providers/kwok/index.ts");
  const { formatPath } = await import("../../api/problem.ts");
  let text: string;
  try {
    text = new TextDecoder().decode(await io.readFile(name, maxFileBytes));
  } catch (error) {
    const why = errorCodeOf(error) === "ENOENT" ? "no such file" : (errorCodeOf(error) ?? String(error));
    return inputRefusal(`--instance-types ${name}: ${why}; expected kwok, fake:N or a file in the KWOK format`);
  }
  const result = parseKwokFile(text, policy);
  if ("types" in result) return catalogueOf(result.types, { kind: "instance-types", file: name });
  const [first] = result.problems;
  const more = result.problems.length > 1 ? ` (and ${result.problems.length - 1} more)` : "";
  return inputRefusal(
    `--instance-types ${name}: ${formatPath(first?.path ?? [])} ${first?.message ?? "is wrong"}${more}`,
  );
}

/** EC2 instance types with the settings of each node class; a class that is not in the input has the defaults. */
async function ec2Catalogue(
  givenRegion: string | undefined,
  { objects, header, prices }: Pick<CatalogueInput, "objects" | "header"> & Pick<CatalogueRequest, "prices">,
): Promise<CatalogueOutcome> {
  const { ec2InstanceTypes, ec2OfferChooser, ec2Region, largerStorage, nodeSettingsOf } = await import(
    "../../providers/aws/index.ts"
  );
  const { regionOfPlan } = await import("./infer-region.ts");
  const place = regionOfPlan(givenRegion, { objects, clusterRegion: header?.region, bookRegion: prices?.region });
  if ("question" in place) return usageRefusal(place.question);
  const { region } = place;
  const where: Ec2CatalogueOptions = {
    ...place,
    unlistedPrice: (type, capacityType) => prices?.book?.priceOf({ type, capacityType, region }),
  };
  const found = ec2Region(where);
  if ("problem" in found) return unknownRegion(region, { isGiven: givenRegion !== undefined, ...found });
  const classes = nodeClassesByKey(objects);
  const classOf = (ref: NodeClassRef) => classes.get(nodeClassKey(ref)) as Ec2NodeClass | undefined;
  // Each list takes a tenth of a second to make: only those that are asked for are made, and once.
  const known = new Map<string, readonly InstanceType[]>();
  const typesFor = (ref: NodeClassRef): readonly InstanceType[] => {
    const nodeClass = classOf(ref);
    const key = nodeClass === undefined ? "defaults" : nodeClassKey(ref);
    const types = known.get(key) ?? typesWith(nodeClass);
    known.set(key, types);
    return types;
  };
  const typesWith = (nodeClass: Ec2NodeClass | undefined): readonly InstanceType[] => {
    const own = nodeClass && { ...nodeSettingsOf(nodeClass), ...zonesOf(nodeClass, found.region.zones) };
    const result = ec2InstanceTypes({ ...where, ...own });
    return "types" in result ? result.types : [];
  };
  const served = [servedNodeClasses.aws];
  const policy = labelPolicy("aws");
  const chooseOffers = ec2OfferChooser(classOf);
  const catalogue: ProviderCatalogue = {
    ...{ provider: "aws", served, admission: "aws", typesFor, labelPolicy: policy, chooseOffers, region },
    largerStorage: ({ spec }, needed) => {
      const nodeClass = classOf(spec.template.spec.nodeClassRef);
      return nodeClass && largerStorage(nodeClass, needed, typesWith);
    },
  };
  return { catalogue };
}

/** Either of the command line, or the cluster's. */
function unknownRegion(
  region: string,
  { isGiven, problem }: { readonly isGiven: boolean; readonly problem: Problem },
): CatalogueRefusal {
  const why = `${problem.message}; known: ${problem.expected}`;
  return isGiven
    ? usageRefusal(`--region ${region}: ${why}`)
    : inputRefusal(`the cluster is in region ${region}: ${why}; choose another with --region`);
}

/** The zones of its subnets, if its status has them. */
function zonesOf({ status }: Ec2NodeClass, zones: readonly Zone[]): Pick<Ec2CatalogueOptions, "zones"> {
  const found = new Set(status?.subnets?.map(({ zone }) => zone) ?? []);
  if (found.size === 0) return {};
  return { zones: zones.map(({ name }) => name).filter((name) => found.has(name)) };
}
