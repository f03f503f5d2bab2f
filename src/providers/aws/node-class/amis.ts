import type { DescribeImagesCommandInput, Image } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { type AmiAlias, amiAliasOf } from "../../../api/validation/ami-family.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-text.ts";
import type { Logger } from "../../../util/logger.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { isTransient } from "../api/aws-error-advice.ts";
import { CachedCalls } from "../cached-calls.ts";
import { type AliasParameter, aliasParameters } from "./ami-aliases.ts";
import type { Ami, AmiPurpose } from "./ami-requirements.ts";
import { chosenAmis, type PurposesOf } from "./choose-amis.ts";
import { filter, tagFilters, termValues } from "./ec2-queries.ts";
import type { ImageParameters } from "./image-parameters.ts";
import { type Ec2NodeClassSpec, nodeClassRevision } from "./node-class-object.ts";

export interface AmisOptions {
  readonly ec2: Ec2Api;
  readonly clock: Clock;
  readonly refreshMs: number;
  readonly parameters: ImageParameters;
  /** Major and minor, such as 1.33. */
  readonly kubernetesVersion: () => string;
  readonly log: Logger;
}

/** Queries for images, and what the images found are for. */
interface ImageQueries {
  readonly queries: readonly DescribeImagesCommandInput[];
  readonly purposesOf: PurposesOf;
  readonly unread?: unknown;
}

export interface FoundAmis {
  /** As the status lists them. */
  readonly amis: readonly Ami[];
  /** Why a parameter could not be read that others can do without. */
  readonly unread?: unknown;
}

/** Finds the images of a class. (04 §1.7) */
export class Amis {
  readonly #options: AmisOptions;
  readonly #cache: CachedCalls<readonly Image[]>;

  constructor(options: AmisOptions) {
    this.#options = options;
    this.#cache = new CachedCalls(options.clock, { forMs: options.refreshMs });
  }

  /** Parameters have a memory of their own, so a new value finds its image at once. */
  async resolve(nodeClass: Ec2NodeClass): Promise<FoundAmis> {
    const { queries, purposesOf, unread } = await this.#queries(nodeClass);
    const key = `${nodeClassRevision(nodeClass)}/${canonicalJson(queries)}`;
    const images = await this.#cache.get(key, () => this.#read(queries));
    return { amis: chosenAmis(images, { purposesOf, nowMs: this.#options.clock.now() }), unread };
  }

  async #read(queries: readonly DescribeImagesCommandInput[]): Promise<readonly Image[]> {
    const answers = await Promise.all(queries.map((query) => this.#options.ec2.describeImages(query)));
    return answers.flat();
  }

  async #queries({ spec }: Ec2NodeClass): Promise<ImageQueries> {
    if (spec === undefined) return { queries: [], purposesOf: anyPurpose };
    const alias = amiAliasOf(spec);
    return alias === undefined ? this.#termQueries(spec.amiSelectorTerms) : this.#aliasQueries(alias);
  }

  async #aliasQueries(alias: AmiAlias): Promise<ImageQueries> {
    const { found, unread } = await this.#aliasImages(aliasParameters(alias, this.#options.kubernetesVersion()));
    const purposes = new Map<string, Omit<AmiPurpose, "arch">[]>();
    for (const { id, parameter } of found) {
      const { variants, windowsBuild } = parameter;
      const own = windowsBuild === undefined ? variants.map((variant) => ({ variant })) : [{ windowsBuild }];
      purposes.set(id, [...(purposes.get(id) ?? []), ...own]);
    }
    return {
      queries: purposes.size === 0 ? [] : [imageQuery([filter("image-id", ...purposes.keys())])],
      purposesOf: (id) => purposes.get(id) ?? [],
      unread,
    };
  }

  /**
   * Images that are not published for this version are left out. While AWS is busy nothing is concluded: an image that
   * is missing from the status for a moment would make its nodes drift.
   */
  async #aliasImages(parameters: readonly AliasParameter[]) {
    const outcomes = await Promise.allSettled(
      parameters.map(async (parameter) => ({
        parameter,
        id: await this.#options.parameters.value({ ...parameter, isCustom: false }),
      })),
    );
    const found = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    const isUnread = (error: unknown): boolean => !isAwsError(error, "ParameterNotFound");
    const isSerious = found.length > 0 ? isTransient : isUnread;
    if (failures.some(isSerious)) throw failures.find(isSerious);
    return { found, unread: failures.find(isUnread) };
  }

  /** An id wins over a parameter, a parameter over name, tags and owner. (04 §1.2) */
  async #termQueries(terms: Ec2NodeClassSpec["amiSelectorTerms"]): Promise<ImageQueries> {
    const withoutId = terms.filter(({ id }) => id === undefined);
    const named = await Promise.all(
      termValues(withoutId, ({ ssmParameter }) => ssmParameter).map((name) => this.#customImage(name)),
    );
    const fromParameters = named.flatMap(({ id }) => (id === undefined ? [] : [id]));
    const ids = [...termValues(terms, ({ id }) => id), ...fromParameters];
    const others = withoutId.filter(({ ssmParameter }) => ssmParameter === undefined).map(termQuery);
    return {
      queries: [...(ids.length > 0 ? [imageQuery([filter("image-id", ...ids)])] : []), ...others],
      purposesOf: anyPurpose,
      unread: named.find(({ unread }) => unread !== undefined)?.unread,
    };
  }

  /** A parameter that is missing or names no image is skipped: other terms may still find one. */
  async #customImage(name: string): Promise<{ readonly id?: string; readonly unread?: unknown }> {
    const { parameters, log } = this.#options;
    try {
      const value = await parameters.value({ name, isCustom: true, isMutable: true });
      if (value.startsWith("ami-")) return { id: value };
      log.error("the SSM parameter does not have an image id", { parameter: name });
      return { unread: new Error(`SSM parameter ${name} does not have an image id; correct it, or name another`) };
    } catch (error) {
      if (!isAwsError(error, "ParameterNotFound")) throw error;
      log.error("the SSM parameter of an image was not found", { parameter: name, error: errorMessage(error) });
      return { unread: new Error(`there is no SSM parameter ${name}; create it, or name another`) };
    }
  }
}

/** Images that were not selected by an alias are for every type of their architecture. */
const anyPurpose: PurposesOf = () => [{}];

function termQuery({ name, tags, owner }: Ec2NodeClassSpec["amiSelectorTerms"][number]): DescribeImagesCommandInput {
  const owners = owner !== undefined ? [owner] : name !== undefined ? ["self", "amazon"] : undefined;
  return imageQuery([...(name === undefined ? [] : [filter("name", name)]), ...tagFilters(tags)], owners);
}

function imageQuery(
  filters: NonNullable<DescribeImagesCommandInput["Filters"]>,
  owners?: string[],
): DescribeImagesCommandInput {
  return {
    Filters: [...filters, filter("state", "available")],
    ...(owners && { Owners: owners }),
    IncludeDeprecated: true,
  };
}
