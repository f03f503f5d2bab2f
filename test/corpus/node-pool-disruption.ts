import { type Case, casesFor } from "./case.ts";
import { durationCases } from "./patterns.ts";

const make = casesFor("NodePool");
const { accept, refuse, acceptEach, refuseEach, refuseTypes } = make;

const policy = "spec.disruption.consolidationPolicy";
const after = "spec.disruption.consolidateAfter";
const budgets = "spec.disruption.budgets";
const schedule = "0 0 * * *";

const policyCases: readonly Case[] = [
  ...acceptEach("01 §5.1 consolidationPolicy", policy, ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"]),
  ...refuseEach("01 §5.1 consolidationPolicy", policy, [
    ...[1, 2, 3, 0, 4, 10],
    ...["1", "2", "3", "0", "4", "10", "balanced", "whenempty", "", "WhenUnderutilized", "WhenIdle", "foo"],
  ]),
];

const consolidateAfterCases: readonly Case[] = [
  ...durationCases(make, { rule: "01 §0.2 DUR_NEVER", path: after, never: true }),
  ...["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"].flatMap((value) => [
    accept(`01 §8.1 consolidateAfter 30s with ${value}`, { [policy]: value, [after]: "30s" }),
    accept(`01 §8.1 consolidateAfter Never with ${value}`, { [policy]: value, [after]: "Never" }),
    accept(`01 §8.1 no consolidateAfter with ${value}`, { [policy]: value }, { stored: { [after]: "0s" } }),
  ]),
];

const defaults = {
  consolidateAfter: "0s",
  consolidationPolicy: "WhenEmptyOrUnderutilized",
  budgets: [{ nodes: "10%" }],
};
const defaultCases: readonly Case[] = [
  accept("01 §8.2 no disruption block", {}, { stored: { "spec.disruption": defaults } }),
  accept("01 §8.2 an empty disruption block", { "spec.disruption": {} }, { stored: { "spec.disruption": defaults } }),
  accept("01 §0.1 null for disruption", { "spec.disruption": null }, { stored: { "spec.disruption": defaults } }),
  accept("01 §0.1 null for budgets", { [budgets]: null }, { stored: { [budgets]: [{ nodes: "10%" }] } }),
  accept("01 §8.4 no budgets at all stay none", { [budgets]: [] }, { stored: { [budgets]: [] } }),
  accept(
    "01 §1.2 a budget that says nothing means 10%",
    { [budgets]: [{}] },
    { stored: { [budgets]: [{ nodes: "10%" }] } },
  ),
  accept(
    "01 §1.2 a budget with reasons only means 10%",
    { [budgets]: [{ reasons: ["Empty"] }] },
    { stored: { [budgets]: [{ reasons: ["Empty"], nodes: "10%" }] } },
  ),
  accept(
    "01 §9.2 expireAfter in the disruption block is dropped",
    { "spec.disruption.expireAfter": "1h" },
    { stored: { "spec.disruption": defaults, "spec.template.spec.expireAfter": "720h" } },
  ),
  ...refuseTypes("01 §1.2", { "spec.disruption": "WhenEmpty" }),
];

/** A budget with one field odd and the rest right. */
function budget(fields: Record<string, unknown>): Record<string, unknown> {
  return { [budgets]: [{ nodes: "10", ...fields }] };
}

const nodesCases: readonly Case[] = [
  ...["0", "1", "10", "007", "99999999999", "0%", "5%", "00%", "99%", "100%"].map((nodes) =>
    accept(`01 §0.2 B_NODES ${JSON.stringify(nodes)}`, budget({ nodes })),
  ),
  ...["-10", "-10%", "1000%", "101%", "200%", "1.5", "10.5%", "ten", "", "%", "10 %", "1%1", 1, 10, true].map((nodes) =>
    refuse(`01 §0.2 B_NODES ${JSON.stringify(nodes)}`, budget({ nodes })),
  ),
];

const goodSchedules = [
  "@annually",
  "@yearly",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
  "* * * * *",
  "0 9 * * mon-fri",
  "*/15 0-6,12 1 jan *",
  // Beyond the cron dialect, though not beyond the pattern: these fail at evaluation.
  "@dailyfoo",
  "@hourly x",
  "0 0 * * * *",
  "TZ=UTC 0 0 * * *",
  "99 99 99 99 99",
  "not a cron line at all",
  "0\t0\t*\t*\t*",
];
const badSchedules = ["*", "* * * *", "@every 1h", "@fortnightly", "daily", "", " ", "0 0 * *", 5];

const scheduleCases: readonly Case[] = [
  ...goodSchedules.map((text) =>
    accept(`01 §0.2 B_SCHED ${JSON.stringify(text)}`, budget({ schedule: text, duration: "1h" })),
  ),
  ...badSchedules.map((text) =>
    refuse(`01 §0.2 B_SCHED ${JSON.stringify(text)}`, budget({ schedule: text, duration: "1h" })),
  ),
  ...["1h", "20m", "2h20m", "1h0s", "20m0s", "48h0m0s", "0h"].map((duration) =>
    accept(`01 §0.2 B_DUR ${duration}`, budget({ schedule, duration })),
  ),
  ...["-20m", "30s", "1h30s", "20m2h", "1h1h", "1d", "0s", "1.5h", "Never", "", 20].map((duration) =>
    refuse(`01 §0.2 B_DUR ${JSON.stringify(duration)}`, budget({ schedule, duration })),
  ),
  accept("01:NP4 schedule and duration", budget({ schedule, duration: "20m" })),
  accept("01:NP4 neither schedule nor duration", budget({})),
  refuse("01:NP4 schedule without duration", budget({ schedule })),
  refuse("01:NP4 duration without schedule", budget({ duration: "20m" })),
  refuse("01:NP4 schedule with null for duration", budget({ schedule, duration: null })),
  refuse("01 §8.1 two budgets, one with a bad schedule", {
    [budgets]: [
      { nodes: "10", schedule: "@daily", duration: "1h" },
      { nodes: "10", schedule: "*", duration: "1h" },
    ],
  }),
  refuse("01:NP4 three budgets, one half set", {
    [budgets]: [{ nodes: "10", schedule, duration: "1h" }, { nodes: "10", schedule }, { nodes: "10" }],
  }),
];

const reasonCases: readonly Case[] = [
  ...["Underutilized", "Empty", "Drifted"].map((reason) =>
    accept(`01 §8.1 reason ${reason}`, budget({ reasons: [reason] })),
  ),
  accept("01 §8.1 several reasons", budget({ reasons: ["Underutilized", "Empty", "Drifted"] })),
  accept("01 §8.4 an empty list of reasons stays", budget({ reasons: [] }), {
    stored: { [`${budgets}[0].reasons`]: [] },
  }),
  ...["invalid", "expired", "Expired", "", "empty"].map((reason) =>
    refuse(`01 §8.1 reason ${JSON.stringify(reason)}`, budget({ reasons: [reason] })),
  ),
  refuse("01 §8.1 a good and a bad reason", budget({ reasons: ["Empty", "invalid"] })),
  refuse("01 §1.2 a reason twice", budget({ reasons: ["Empty", "Drifted", "Empty"] })),
  refuse("01 §1.2 51 reasons", budget({ reasons: Array.from({ length: 51 }, () => "Empty") })),
  refuse("01 §0.1 null for a reason", budget({ reasons: [null] })),
  accept("01 §1.2 50 budgets", { [budgets]: Array.from({ length: 50 }, () => ({ nodes: "1" })) }),
  refuse("01 §1.2 51 budgets", { [budgets]: Array.from({ length: 51 }, () => ({ nodes: "1" })) }),
  refuse("01 §0.1 null for a budget", { [budgets]: [null] }),
  ...refuseTypes("01 §1.2", {
    [budgets]: {},
    [`${budgets}[0]`]: "10%",
    [`${budgets}[0].reasons`]: "Empty",
    [`${budgets}[0].reasons[0]`]: 1,
  }),
];

/** When and how nodes of a pool are disrupted. (01 §5, §8.1) */
export const nodePoolDisruptionCases: readonly Case[] = [
  ...policyCases,
  ...consolidateAfterCases,
  ...defaultCases,
  ...nodesCases,
  ...scheduleCases,
  ...reasonCases,
];
