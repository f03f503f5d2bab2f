import type { Pod } from "../../api/kubernetes/pod.ts";
import { Bitset } from "../../util/bitset.ts";
import { openPass } from "../scheduling/open-pass.ts";
import type { Pass } from "../scheduling/pass-state.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import type { LinearProgram, Row, SolveLp, Term } from "./linear-program.ts";
import { type Offer, offersFor } from "./offers.ts";
import { type Profile, profilesOf } from "./profiles.ts";

/** Solvers stop when they are this close: to the whole, and to each of its parts. */
const tolerance = { relative: 1e-6, each: 1e-6 };

export interface BoundOptions {
  readonly solveLp: SolveLp;
  /** Pods that must be placed; all of the problem unless said. */
  readonly pods?: readonly Pod[];
}

/**
 * No plan that places these pods is cheaper, an hour. Fractions of machines are bought, each less its daemons, for pods
 * that may be on them; a host takes only so many of pods that keep their own kind away. Zones, company, spread over
 * anything but hosts, ports, volumes, limits and preferences are left out: they only make plans dearer. Machines that
 * exist are one large machine for free. Infinite where a pod fits nothing.
 */
export async function lowerBound(problem: SchedulingProblem, { solveLp, pods }: BoundOptions): Promise<number> {
  const pass = openPass(problem);
  const profiles = profilesOf(pass, new Set(pods ?? problem.pods));
  if (profiles.length === 0) return 0;
  const offers = offersFor(pass, profiles);
  const optimum = await solveLp(programOf(profiles, { offers, standing: standingOffer(pass, profiles) }));
  if (optimum === undefined) return Number.POSITIVE_INFINITY;
  const placed = profiles.reduce((sum, { count }) => sum + count, 0);
  return Math.max(0, optimum * (1 - tolerance.relative) - placed * tolerance.each);
}

/** All machines that exist together. */
function standingOffer({ seats, space }: Pass, profiles: readonly Profile[]): Offer | undefined {
  if (seats.length === 0) return undefined;
  const room = space.zero();
  for (const { remaining } of seats)
    for (const [i, left] of remaining.entries()) room[i] = (room[i] as number) + Math.max(0, left);
  return { price: 0, room, takes: Bitset.full(profiles.length), hosts: seats.length };
}

interface OnSale {
  readonly offers: readonly Offer[];
  readonly standing: Offer | undefined;
}

/** How much of each offer is bought, and how many pods of each profile are on it. */
function programOf(profiles: readonly Profile[], { offers, standing }: OnSale): LinearProgram {
  const costs: number[] = [];
  const rows: Row[] = [];
  const shares = profiles.map((): Term[] => []);
  const add = (cost: number): number => costs.push(cost) - 1;
  for (const offer of standing === undefined ? offers : [...offers, standing]) {
    const bought = add(offer.price);
    const placed = offer.takes.toArray().map((at) => ({ profile: profiles[at] as Profile, at, variable: add(0) }));
    for (const { at, variable } of placed) shares[at]?.push({ variable, coefficient: 1 });
    rows.push(...roomRows(offer, { bought, placed }), ...crowdRows(offer, { bought, placed }));
    if (offer === standing) rows.push({ terms: [{ variable: bought, coefficient: 1 }], relation: "<=", right: 1 });
  }
  for (const [at, { count }] of profiles.entries()) {
    rows.push({ terms: shares[at] ?? [], relation: ">=", right: count });
  }
  return { costs, rows };
}

interface Placing {
  /** The variable that says how much is bought. */
  readonly bought: number;
  readonly placed: readonly { readonly profile: Profile; readonly variable: number }[];
}

/** In shares of what one has, so that numbers stay near one. */
function roomRows({ room }: Offer, { bought, placed }: Placing): readonly Row[] {
  return [...room.keys()].flatMap((dimension): readonly Row[] => {
    const whole = room[dimension] as number;
    const terms = placed
      .filter(({ profile }) => (profile.request[dimension] as number) > 0)
      .map(({ profile, variable }) => ({ variable, coefficient: (profile.request[dimension] as number) / whole }));
    if (terms.length === 0 || whole === 0) return [];
    return [{ terms: [...terms, { variable: bought, coefficient: -1 }], relation: "<=", right: 0 }];
  });
}

function crowdRows({ hosts }: Offer, { bought, placed }: Placing): readonly Row[] {
  const crowds = new Map(placed.flatMap(({ profile }) => profile.crowds.map((crowd) => [crowd.identity, crowd.most])));
  return [...crowds].map(([identity, most]): Row => {
    const members = placed.filter(({ profile }) => profile.crowds.some((crowd) => crowd.identity === identity));
    const terms = members.map(({ variable }) => ({ variable, coefficient: 1 }));
    return { terms: [...terms, { variable: bought, coefficient: -most * hosts }], relation: "<=", right: 0 };
  });
}
