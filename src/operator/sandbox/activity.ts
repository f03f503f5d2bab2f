import { taints } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import { errorText } from "../../util/error-text.ts";
import type { LoggedLine, LogValues } from "../../util/logger.ts";
import { logLineText, objectNameIn } from "./log-line-text.ts";

/** How a line sounds: what one is glad of, what is on its way, what is over, what went wrong. */
export type ActivityTone = "good" | "plain" | "over" | "bad";

/** One thing that happened. What happens to several at about the same time is told in one line. */
export interface ReportedActivity {
  readonly who: string;
  /** The line, when it happened to these. */
  readonly format: (who: string, count: number) => string;
  /** What is told together. */
  readonly kind: string;
  readonly tone: ActivityTone;
  /** Whether the same is no news for a while: it is logged again and again until somebody acts. */
  readonly isRepeating?: boolean;
}

/** What lines that come later refer to. */
export interface ActivityContext {
  readonly now: number;
  /** Dollars an hour of a machine. */
  readonly priceOf: (providerId: string) => number | undefined;
  /** Claims that are not ready yet. */
  readonly pendingClaims: Map<string, PendingClaim>;
}

interface PendingClaim {
  readonly since: number;
  readonly pods: string;
}

type ActivityFormatter = (values: LogValues, activityContext: ActivityContext) => ReportedActivity | undefined;

/** What a line of the log means to a person; undefined for what one need not hear. */
export function activityOf(line: LoggedLine, activityContext: ActivityContext): ReportedActivity | undefined {
  if (line.level === "debug") return undefined;
  const formatter = Object.hasOwn(activityFormatters, line.message) ? activityFormatters[line.message] : undefined;
  return formatter === undefined ? genericActivity(line) : formatter(line.values, activityContext);
}

function genericActivity(line: LoggedLine): ReportedActivity | undefined {
  // A pool whose class is not there yet says so itself; whoever else stumbles over it need not.
  if (isCloudError(line.values["error"], "node-class-not-ready")) return undefined;
  const text = logLineText(line);
  const isError = line.level === "error";
  return { who: "", kind: text, format: () => text, tone: isError ? "bad" : "plain", isRepeating: isError };
}

const activityFormatters: Readonly<Record<string, ActivityFormatter>> = {
  "found provisionable pod(s)": ({ Pods }) => plainActivity(waitingPodsText(String(Pods))),
  "computed new nodeclaim(s) to fit pod(s)": ({ nodeclaims, pods }) =>
    plainActivity(`${countedNoun(nodeclaims, "new node")} will take ${countedNoun(pods, "pod")}`),
  "computed unready node(s) will fit pod(s)": ({ nodes, pods }) =>
    plainActivity(`${countedNoun(nodes, "node")} on the way will take ${countedNoun(pods, "pod")}`),
  "created nodeclaim": (values, { pendingClaims, now }) => {
    const { pods } = (values["requests"] ?? {}) as LogValues;
    const why = pods === undefined ? "" : ` for ${countedNoun(pods, "pod")}`;
    pendingClaims.set(objectNameIn("NodeClaim", values), { since: now, pods: why });
    return undefined; // what was bought is told when it is
  },
  "launched nodeclaim": (values, { pendingClaims: awaited, priceOf }) => {
    const claim = objectNameIn("NodeClaim", values);
    const dollars = priceOf(String(values["provider-id"]));
    const price = dollars === undefined ? "" : ` at $${dollars.toFixed(dollars < 0.1 ? 3 : 2)} an hour`;
    const instance = `${values["instance-type"]}, ${values["capacity-type"]}, in ${values["zone"]}${price}`;
    return {
      who: `${claim}${awaited.get(claim)?.pods ?? ""}`,
      kind: `bought ${instance}`,
      format: (who, count) => `bought ${count === 1 ? "" : `${count} times `}${instance}: ${who}`,
      tone: "good",
    };
  },
  "registered nodeclaim": (values) => {
    const node = objectNameIn("Node", values);
    return { ...subjectActivity("joined", { who: objectNameIn("NodeClaim", values) }), format: joinedFormat(node) };
  },
  "initialized nodeclaim": (values, { pendingClaims: awaited, now }) => {
    const claim = objectNameIn("NodeClaim", values);
    const since = awaited.get(claim)?.since;
    awaited.delete(claim);
    const took = since === undefined ? "" : ` (${Math.round((now - since) / 1_000)} s)`;
    return subjectActivity("ready", { who: `${claim}${took}`, tone: "good" });
  },
  "tainted node": (values) =>
    values["taint.Key"] === taints.disrupted.key
      ? subjectActivity("draining", { who: objectNameIn("Node", values) })
      : undefined,
  "deleted node": () => undefined, // its claim goes with it, and says so
  "deleted nodeclaim": (values, { pendingClaims: awaited }) => {
    awaited.delete(objectNameIn("NodeClaim", values));
    return subjectActivity("removed", { who: objectNameIn("NodeClaim", values), tone: "over" });
  },
  "could not schedule pod": (values) => {
    const why = errorText(values["error"]);
    return {
      who: objectNameIn("Pod", values),
      kind: `refused ${why}`,
      format: (who) => `no node for ${who}: ${shortened(why)}`,
      tone: "bad",
      isRepeating: true,
    };
  },
  "ignoring nodepool, not ready": (values) => {
    const name = objectNameIn("NodePool", values);
    return {
      ...plainActivity(`nodepool ${name} is not ready: kubectl describe nodepool ${name} says why`),
      isRepeating: true,
    };
  },
  "initiating delete from interruption message": (values) => ({
    ...subjectActivity("the cloud takes back", { who: objectNameIn("NodeClaim", values), tone: "bad" }),
  }),
};

/** From `a, b and 3 other(s)`. */
function waitingPodsText(pods: string): string {
  const [, shown = "", others = "0"] = /^(.*?)(?: and (\d+) other\(s\))?$/.exec(pods) ?? [];
  const [first, ...more] = shown.split(", ");
  const count = 1 + more.length + Number(others);
  return count === 1 ? `a pod waits for a place: ${first}` : `${count} pods wait for a place, ${first} among them`;
}

function plainActivity(text: string): ReportedActivity {
  return { who: "", kind: text, format: () => text, tone: "plain" };
}

function subjectActivity(
  what: string,
  { who, tone = "plain" }: { readonly who: string; readonly tone?: ActivityTone },
): ReportedActivity {
  return { who, kind: what, format: (all) => `${what}: ${all}`, tone };
}

/** The node has a name of its own, which matters as long as it is one alone. */
function joinedFormat(node: string): ReportedActivity["format"] {
  return (who, count) => `joined: ${who}${count === 1 ? ` as ${node}` : ""}`;
}

const maxCharacters = 240;

/** In one line; all of it is in the pod's events. */
function shortened(reason: string): string {
  const text = reason.replace(/\s*\n\s*/g, " ");
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).trimEnd()} …`;
}

function countedNoun(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${String(count) === "1" ? "" : "s"}`;
}
