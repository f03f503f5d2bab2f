import type { CapacityReservation, DescribeCapacityReservationsCommandInput } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Logger } from "../../../util/logger.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { CachedCalls } from "../cached-calls.ts";
import { filter, tagFilters, termValues, uniqueBy } from "./ec2-queries.ts";
import type { Ec2NodeClassSpec, Ec2NodeClassStatus } from "./node-class-object.ts";

type StatusReservation = NonNullable<Ec2NodeClassStatus["capacityReservations"]>[number];

const cacheMs = 60_000;
const minute = 60_000;
/** EC2 ends the instances of a capacity block half an hour before the block itself. */
const expiringBeforeEndMs = 40 * minute;

export interface CapacityReservationsOptions {
  readonly ec2: Ec2Api;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told how many instances each reservation has left, whenever EC2 was asked. */
  readonly onRead?: ((reservations: readonly CapacityReservation[]) => void) | undefined;
}

/** Finds the capacity reservations of a class. (04 §1.3, §2.5) */
export class CapacityReservations {
  readonly #options: CapacityReservationsOptions;
  readonly #cache: CachedCalls<readonly CapacityReservation[]>;

  constructor(options: CapacityReservationsOptions) {
    this.#options = options;
    this.#cache = new CachedCalls(options.clock, { forMs: cacheMs });
  }

  /** As the status lists them, by id. Those of an unknown type are skipped. */
  async resolve({ spec }: Ec2NodeClass): Promise<readonly StatusReservation[]> {
    const queries = reservationQueries(spec?.capacityReservationSelectorTerms ?? []);
    const answers = await Promise.all(
      queries.map((query) => this.#cache.get(canonicalJson(query), () => this.#read(query))),
    );
    const nowMs = this.#options.clock.now();
    return uniqueBy(answers.flat(), ({ CapacityReservationId }) => CapacityReservationId)
      .filter(({ EndDate }) => EndDate === undefined || EndDate.getTime() > nowMs)
      .flatMap((reservation) => this.#statusOf(reservation, nowMs))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async #read(query: DescribeCapacityReservationsCommandInput): Promise<readonly CapacityReservation[]> {
    const { ec2, onRead } = this.#options;
    const found = await describeExisting(ec2, query);
    onRead?.(found);
    return found;
  }

  #statusOf(reservation: CapacityReservation, nowMs: number): readonly StatusReservation[] {
    const { CapacityReservationId: id = "", ReservationType, InstanceMatchCriteria: criteria, EndDate } = reservation;
    const reservationType = ReservationType ?? "default";
    const isKnown = reservationType === "default" || reservationType === "capacity-block";
    if (!isKnown || (criteria !== "open" && criteria !== "targeted")) {
      this.#options.log.error("capacity reservation of an unknown kind is not used", { id, reservationType, criteria });
      return [];
    }
    const isExpiring =
      reservationType === "capacity-block" && EndDate !== undefined && nowMs >= EndDate.getTime() - expiringBeforeEndMs;
    return [
      {
        id,
        availabilityZone: reservation.AvailabilityZone ?? "",
        instanceType: reservation.InstanceType ?? "",
        instanceMatchCriteria: criteria,
        ownerID: reservation.OwnerId ?? "",
        reservationType,
        interruptible: reservation.Interruptible ?? false,
        state: isExpiring ? "expiring" : "active",
        ...(EndDate && { endTime: rfc3339(EndDate.getTime()) }),
      },
    ];
  }
}

/** An id that does not exist fails the whole query, so the others are asked for one by one. */
async function describeExisting(
  ec2: Ec2Api,
  query: DescribeCapacityReservationsCommandInput,
): Promise<readonly CapacityReservation[]> {
  const ids = query.CapacityReservationIds ?? [];
  try {
    return await ec2.describeCapacityReservations(query);
  } catch (error) {
    if (!isAwsError(error, "InvalidCapacityReservationId.NotFound")) throw error;
    if (ids.length <= 1) return [];
    const each = ids.map((id) => describeExisting(ec2, { ...query, CapacityReservationIds: [id] }));
    return (await Promise.all(each)).flat();
  }
}

/** A term with an id and something else makes two queries. (04 §1.2) */
function reservationQueries(
  terms: NonNullable<Ec2NodeClassSpec["capacityReservationSelectorTerms"]>,
): readonly DescribeCapacityReservationsCommandInput[] {
  const active = filter("state", "active");
  const ids = termValues(terms, ({ id }) => id);
  const others = terms
    .filter(({ tags, instanceMatchCriteria }) => tags !== undefined || instanceMatchCriteria !== undefined)
    .map(({ tags, ownerID, instanceMatchCriteria }) => ({
      Filters: [
        active,
        ...(ownerID === undefined ? [] : [filter("owner-id", ownerID)]),
        ...(instanceMatchCriteria === undefined ? [] : [filter("instance-match-criteria", instanceMatchCriteria)]),
        ...tagFilters(tags),
      ],
    }));
  return [...(ids.length > 0 ? [{ CapacityReservationIds: ids, Filters: [active] }] : []), ...others];
}
