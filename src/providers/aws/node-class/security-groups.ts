import type { SecurityGroup } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { CachedCalls } from "../cached-calls.ts";
import { filter, tagFilters, termValues, uniqueBy } from "./ec2-queries.ts";
import { type Ec2NodeClassSpec, type Ec2NodeClassStatus, nodeClassRevision } from "./node-class-object.ts";

const cacheMs = 60_000;

/** Finds the security groups of a class. (04 §1.6) */
export class SecurityGroups {
  readonly #ec2: Ec2Api;
  readonly #cache: CachedCalls<readonly SecurityGroup[]>;

  constructor({ ec2, clock }: { readonly ec2: Ec2Api; readonly clock: Clock }) {
    this.#ec2 = ec2;
    this.#cache = new CachedCalls(clock, { forMs: cacheMs });
  }

  /** As the status lists them, by id. (04 §1.3) */
  async resolve(nodeClass: Ec2NodeClass): Promise<NonNullable<Ec2NodeClassStatus["securityGroups"]>> {
    const found = await this.#cache.get(nodeClassRevision(nodeClass), () => this.#read(nodeClass));
    return found
      .map(({ GroupId: id = "", GroupName: name }) => ({ id, ...(name && { name }) }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async #read({ spec }: Ec2NodeClass): Promise<readonly SecurityGroup[]> {
    const queries = groupQueries(spec?.securityGroupSelectorTerms ?? []);
    const answers = await Promise.all(queries.map((Filters) => this.#ec2.describeSecurityGroups({ Filters })));
    return uniqueBy(answers.flat(), ({ GroupId }) => GroupId);
  }
}

/** One query for all ids, one for all names, one for each other term: an id wins over a name, a name over tags. (04 §1.2) */
function groupQueries(terms: Ec2NodeClassSpec["securityGroupSelectorTerms"]) {
  const ids = termValues(terms, ({ id }) => id);
  const withoutId = terms.filter(({ id }) => id === undefined);
  const names = termValues(withoutId, ({ name }) => name);
  const byTags = withoutId.filter(({ name }) => name === undefined).map(({ tags }) => tagFilters(tags));
  return [
    ...(ids.length > 0 ? [[filter("group-id", ...ids)]] : []),
    ...(names.length > 0 ? [[filter("group-name", ...names)]] : []),
    ...byTags,
  ];
}
