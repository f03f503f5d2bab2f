import { resources } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { clash, hostPortsOf } from "../host-ports.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { amount, max, merge, min, noResources, type Resources } from "../resources.ts";
import type { Prospect, Seeker } from "./claims.ts";
import type { Entry, Pass, Shop } from "./pass-state.ts";
import type { HostPort } from "./problem.ts";
import type { TypesCause } from "./refusal.ts";
import { type Verdict, withHostname } from "./verdict.ts";

/** Which instance types are left, or what each of them lacks. (02:F-3) */
export function typesVerdict(pass: Pass, { entry }: Seeker, prospect: Prospect): Verdict {
  const { shop, outline } = prospect;
  const ports = hostPortsOf(entry.pod);
  const overheads = overheadsMet(shop, ports);
  const { flags, survivors } = judgeTypes(pass, entry, prospect, ports);
  const requirements = withHostname(prospect);
  if (!survivors.isEmpty()) {
    const flexible = checkMinValues(shop.catalogue.typesIn(survivors), outline.requirements);
    if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
      const { achieved } = flexible;
      const text = `${describeMinValues(achieved)}, requirements=${requirements}, resources=${resourcesText(entry, overheads)}`;
      return { cause: { code: "min-values", achieved, requirements }, text };
    }
    const text =
      "one or more instance types with compatible reserved offerings are available, but could not be reserved";
    return { cause: { code: "reserved-capacity", lost: false }, text };
  }
  const totals = (overheads.length === 0 ? [noResources] : overheads).map((one) => merge(one, entry.podClass.requests));
  const cause: TypesCause = {
    code: "instance-types",
    ...flags,
    requirements,
    resources: { least: min(...totals), most: max(...totals) },
    largest: max(...shop.catalogue.typesIn(prospect.columns).map(({ capacity }) => capacity)),
  };
  const typo =
    isTypo(entry.podClass.requests) && !flags.fits && flags.matches && flags.offered
      ? " (CPU request >= 1 Million, m vs M typo?)"
      : "";
  return {
    cause,
    text: `${typesText(flags)}, requirements=${requirements}, resources=${resourcesText(entry, overheads)}${typo}`,
  };
}

type Flags = Pick<
  TypesCause,
  "matches" | "fits" | "offered" | "matchesAndFits" | "matchesAndOffered" | "fitsAndOffered"
>;

/** Which of match, size and offering some type had: worked out without stopping at the first. (02:F-1) */
function judgeTypes(
  pass: Pass,
  { podClass }: Entry,
  { shop, outline, columns, used }: Prospect,
  ports: readonly HostPort[],
): { flags: Flags; survivors: Bitset } {
  const { catalogue } = shop;
  const inPlay = catalogue.allSizes(columns); // flags are told of types, not of their sizes
  const matches = catalogue.columnsMatching(outline.byKey).and(inPlay);
  const offered = catalogue.columnsOffered(outline.byKey).and(inPlay);
  const request = pass.requests.get(podClass) as Float64Array;
  const fits = Bitset.empty(catalogue.size);
  const eligible = Bitset.empty(catalogue.size);
  for (const group of shop.daemons) {
    if (clash(ports, group.hostPorts) !== undefined) continue;
    eligible.or(group.columns);
    const total = Float64Array.from(request, (asked, index) => asked + (used[index] ?? 0) + (group.row[index] ?? 0));
    fits.or(catalogue.keepFitting(offered.intersection(group.columns), total));
  }
  matches.and(eligible);
  offered.and(eligible);
  const flags = {
    matches: !matches.isEmpty(),
    fits: !fits.isEmpty(),
    offered: !offered.isEmpty(),
    matchesAndFits: !matches.intersection(fits).andNot(offered).isEmpty(),
    matchesAndOffered: !matches.intersection(offered).andNot(fits).isEmpty(),
    fitsAndOffered: !fits.intersection(offered).andNot(matches).isEmpty(),
  };
  return { flags, survivors: matches.and(fits).and(offered) };
}

/** The first line that applies. (02:F-3) */
function typesText({ matches, fits, offered, matchesAndFits, matchesAndOffered, fitsAndOffered }: Flags): string {
  if (!matches && !fits && !offered)
    return "no instance type met the scheduling requirements or had enough resources or had a required offering";
  if (!matches && !fits) return "no instance type met the scheduling requirements or had enough resources";
  if (!matches && !offered) return "no instance type met the scheduling requirements or had a required offering";
  if (!fits && !offered) return "no instance type had enough resources or had a required offering";
  if (!matches) return "no instance type met all requirements";
  if (!fits) return "no instance type has enough resources";
  if (!offered) return "no instance type has the required offering";
  if (matchesAndFits)
    return "no instance type which met the scheduling requirements and had enough resources, had a required offering";
  if (fitsAndOffered)
    return "no instance type which had enough resources and the required offering met the scheduling requirements";
  if (matchesAndOffered)
    return "no instance type which met the scheduling requirements and the required offering had the required resources";
  return "no instance type met the requirements/resources/offering tuple";
}

/** The pod with the daemons it would meet; a range where types differ in that. Types without daemons do not count. */
function resourcesText({ podClass }: Entry, overheads: readonly Resources[]): string {
  const least = json(merge(min(...overheads), podClass.requests));
  const most = json(merge(max(...overheads), podClass.requests));
  if (Object.keys(min(...overheads)).length === 0) return json(podClass.requests);
  return least === most ? least : `min=${least}, max=${most}`;
}

/** What daemons ask for on types the pod's ports leave open. */
function overheadsMet({ daemons }: Shop, ports: readonly HostPort[]): readonly Resources[] {
  return daemons
    .filter(({ hostPorts, overhead }) => clash(ports, hostPorts) === undefined && Object.keys(overhead).length > 0)
    .map(({ overhead }) => overhead);
}

function json(list: Resources): string {
  const sorted = Object.keys(list)
    .sort()
    .map((name) => [name, amount(list, name).toString()]);
  return JSON.stringify(Object.fromEntries(sorted));
}

function isTypo(requests: Resources): boolean {
  return amount(requests, resources.cpu).value() >= 1_000_000n;
}
