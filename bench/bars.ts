import type { Summary } from "./report.ts";

/** A promise of the engine, and whether this run kept it. */
export interface Bar {
  readonly text: string;
  readonly figure: string;
  readonly isKept: boolean;
}

/** As far as this run measured what they are about. */
export function barsOf(summaries: readonly Summary[]): readonly Bar[] {
  const by = new Map(summaries.map((one) => [one.workload, one]));
  const compared = summaries.filter(({ priceRatio }) => priceRatio !== undefined);
  return [
    ...atLeastAsFast(by, "diverse-5000", 20),
    ...atLeastAsFast(by, "diverse-20000", 20),
    ...atLeastAsFast(by, "preferences-4000", 100),
    ...memory(by.get("diverse-20000")),
    ...wide(by.get("wide")),
    ...prices(compared),
    ...polishing(summaries),
  ];
}

function atLeastAsFast(by: ReadonlyMap<string, Summary>, workload: string, times: number): readonly Bar[] {
  const speedUp = by.get(workload)?.speedUp;
  if (speedUp === undefined) return [];
  return [
    { text: `${workload}: at least ${times} times as fast`, figure: speedUp.toFixed(1), isKept: speedUp >= times },
  ];
}

function memory(summary: Summary | undefined): readonly Bar[] {
  if (summary === undefined) return [];
  const { peakRssMiB } = summary;
  const isKept = peakRssMiB * 1.048576 < 512;
  return [{ text: "diverse-20000: below 512 MB of RSS", figure: `${peakRssMiB.toFixed(0)} MiB`, isKept }];
}

function wide(summary: Summary | undefined): readonly Bar[] {
  if (summary === undefined) return [];
  const { overRequests, leastOverRequests } = summary;
  const figure = `${overRequests.toFixed(3)} (no plan is below ${leastOverRequests.toFixed(3)})`;
  return [{ text: "wide: at most 1.45 over the requests", figure, isKept: overRequests <= 1.45 }];
}

function prices(compared: readonly Summary[]): readonly Bar[] {
  if (compared.length === 0) return [];
  const ratios = compared.map(({ priceRatio = 1 }) => priceRatio);
  const dearest = compared.reduce((most, one) => ((one.priceRatio ?? 0) > (most.priceRatio ?? 0) ? one : most));
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  const worst = dearest.priceRatio ?? 0;
  return [
    {
      text: "no workload dearer than the oracle's median",
      figure: `${worst.toFixed(4)} (${dearest.workload})`,
      isKept: worst <= 1 + 1e-9,
    },
    { text: "geometric mean of prices at most 0.97", figure: mean.toFixed(4), isKept: mean <= 0.97 },
    {
      text: "the same pods unplaced",
      figure:
        compared
          .filter(({ sameUnplaced }) => sameUnplaced === false)
          .map(({ workload }) => workload)
          .join() || "all",
      isKept: compared.every(({ sameUnplaced }) => sameUnplaced !== false),
    },
  ];
}

/** Read both ways: of everything from parsed objects on, and of solving alone. */
function polishing(summaries: readonly Summary[]): readonly Bar[] {
  const bar = (text: string, share: (one: Summary) => number): Bar => {
    const over = summaries.filter((one) => share(one) > 0.5);
    const most = Math.max(...summaries.map(share));
    const figure =
      over.length === 0 ? most.toFixed(2) : `${most.toFixed(2)} (${over.map((one) => one.workload).join(", ")})`;
    return { text, figure, isKept: over.length === 0 };
  };
  return [
    bar("polishing at most half of plain build and solve", (one) => one.polishShare),
    bar("polishing at most half of plain solve alone", (one) => one.polishOfSolve),
  ];
}
