import { taints } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import { errorText } from "../../util/error-text.ts";
import type { LoggedLine, LogValues } from "../../util/logger.ts";
import { logLineText, objectNameIn } from "./log-line-text.ts";

/** Good news, plain (in progress), over (finished), or bad: decides the colour of a line. */
export type ActivityTone = "good" | "plain" | "over" | "bad";

/** Something the controller did. The same for several objects is printed as one line. */
export interface ReportedActivity {
  /** The object it is about. */
  readonly subject: string;
  /** The line for these objects, with the cause if it is explained. */
  readonly format: (subjects: string, count: number, cause?: string) => string;
  /** Activities of one kind are printed together. */
  readonly kind: string;
  readonly tone: ActivityTone;
  /** Logged again until it is fixed: printed only once in a while. */
  readonly isRepeating?: boolean;
  /** A pod that is refused; it may be placed by the next round, if this one planned nodes. */
  readonly isRefusal?: boolean;
  /** The subject is a pod whose cause `karpenter explain` knows in fewer words. */
  readonly isExplained?: boolean;
}

/** What formatting needs beside the log line. */
export interface ActivityHistory {
  readonly now: number;
  /** Dollars per hour of an instance. */
  readonly priceOf: (providerId: string) => number | undefined;
  /** Claims that are not ready yet, by name. */
  readonly pendingClaims: Map<string, PendingClaim>;
}

interface PendingClaim {
  readonly since: number;
  readonly pods: string;
}

type ActivityFormatter = (values: LogValues, history: ActivityHistory) => ReportedActivity | undefined;

/** Whether a round planned nodes: what it refused before this line may be placed once they are launched. */
export function plansNodes({ message }: LoggedLine): boolean {
  return message === plannedNodesMessage;
}

const plannedNodesMessage = "computed new nodeclaim(s) to fit pod(s)";

/** What to print for a log line; undefined for nothing. */
export function activityOf(line: LoggedLine, history: ActivityHistory): ReportedActivity | undefined {
  const formatter = Object.hasOwn(activityFormatters, line.message) ? activityFormatters[line.message] : undefined;
  if (line.level === "debug" && !debugMessages.has(line.message)) return undefined;
  return formatter === undefined ? genericActivity(line) : formatter(line.values, history);
}

function genericActivity(line: LoggedLine): ReportedActivity | undefined {
  // The NodePool reports a missing node class itself.
  if (isCloudError(line.values["error"], "node-class-not-ready")) return undefined;
  const text = logLineText(line);
  const isError = line.level === "error";
  return { subject: "", kind: text, format: () => text, tone: isError ? "bad" : "plain", isRepeating: isError };
}

/** Too frequent for a log, and what a person who watches wants to know. */
const debugMessages: ReadonlySet<string> = new Set(["ignoring pod", "pod cannot be evicted"]);

const activityFormatters: Readonly<Record<string, ActivityFormatter>> = {
  "found provisionable pod(s)": ({ Pods }) => plainActivity(pendingPodsText(String(Pods))),
  [plannedNodesMessage]: ({ nodeclaims, pods }) =>
    plainActivity(`${countedNoun(nodeclaims, "new node")} for ${countedNoun(pods, "pod")}`),
  "computed unready node(s) will fit pod(s)": ({ nodes, pods }) =>
    plainActivity(`room for ${countedNoun(pods, "pod")} on ${countedNoun(nodes, "node")} being launched`),
  "created nodeclaim": (values, { pendingClaims, now }) => {
    const { pods } = (values["requests"] ?? {}) as LogValues;
    const why = pods === undefined ? "" : ` for ${countedNoun(pods, "pod")}`;
    pendingClaims.set(objectNameIn("NodeClaim", values), { since: now, pods: why });
    return undefined; // printed when it is launched
  },
  "launched nodeclaim": (values, { pendingClaims, priceOf }) => {
    const claim = objectNameIn("NodeClaim", values);
    const dollars = priceOf(String(values["provider-id"]));
    const price = dollars === undefined ? "" : ` at $${dollars.toFixed(dollars < 0.1 ? 3 : 2)} per hour`;
    const instance = `${values["instance-type"]}, ${values["capacity-type"]}, in ${values["zone"]}${price}`;
    return {
      subject: `${claim}${pendingClaims.get(claim)?.pods ?? ""}`,
      kind: `launched ${instance}`,
      format: (claims, count) => `launched ${count === 1 ? "" : `${count} × `}${instance}: ${claims}`,
      tone: "good",
    };
  },
  "registered nodeclaim": (values) => {
    const node = objectNameIn("Node", values);
    return { ...subjectActivity("joined", objectNameIn("NodeClaim", values)), format: joinedFormat(node) };
  },
  "initialized nodeclaim": (values, { pendingClaims, now }) => {
    const claim = objectNameIn("NodeClaim", values);
    const since = pendingClaims.get(claim)?.since;
    pendingClaims.delete(claim);
    const took = since === undefined ? "" : ` (${Math.round((now - since) / 1_000)} s)`;
    return subjectActivity("ready", `${claim}${took}`, "good");
  },
  "tainted node": (values) =>
    values["taint.Key"] === taints.disrupted.key
      ? subjectActivity("draining", objectNameIn("Node", values))
      : undefined,
  "disrupting node(s)": (values) => plainActivity(disruptionText(values)),
  "deleted node": () => undefined, // printed with its claim
  "deleted nodeclaim": (values, { pendingClaims }) => {
    pendingClaims.delete(objectNameIn("NodeClaim", values));
    return subjectActivity("deleted", objectNameIn("NodeClaim", values), "over");
  },
  "could not schedule pod": (values) => {
    const why = errorText(values["error"]);
    return {
      subject: objectNameIn("Pod", values),
      kind: `refused ${why}`,
      format: (pods, _, cause) => `no node for ${pods}: ${shortened(cause ?? why)}`,
      tone: "bad",
      isRepeating: true,
      isRefusal: true,
      isExplained: true,
    };
  },
  "ignoring pod": (values) => {
    const why = errorText(values["error"]).replace(/^ignoring pod, /, "");
    if (!/persistent ?volume|pvc|storage ?class/i.test(why)) return undefined;
    const [namespace = ""] = objectNameIn("Pod", values).split("/");
    return {
      subject: objectNameIn("Pod", values),
      kind: `waiting for a volume ${why}`,
      format: (pods, _, cause) =>
        `waiting for a volume: ${pods}: ${shortened(cause ?? why)} (kubectl get pvc -n ${namespace})`,
      tone: "bad",
      isRepeating: true,
      isExplained: true,
    };
  },
  "pod cannot be evicted": (values) => {
    const [node, why] = [objectNameIn("Node", values), String(values["error"])];
    const [namespace = ""] = objectNameIn("Pod", values).split("/");
    return {
      subject: objectNameIn("Pod", values),
      kind: `cannot drain ${node}: ${why}`,
      format: (pods) => `draining ${node} waits for ${pods}: ${shortened(why)} (kubectl get pdb -n ${namespace})`,
      tone: "bad",
      isRepeating: true,
    };
  },
  "ignoring nodepool, not ready": (values) => {
    const name = objectNameIn("NodePool", values);
    return {
      ...plainActivity(`nodepool ${name} is not ready (kubectl describe nodepool ${name})`),
      isRepeating: true,
    };
  },
  "initiating delete from interruption message": (values) =>
    subjectActivity("interrupted by the cloud", objectNameIn("NodeClaim", values), "bad"),
};

/** From `Underutilized/ID: delete: nodepools=[a]: [n1] (savings: $0.10)`. */
function disruptionText(values: LogValues): string {
  const command = String(values["command"]);
  const [, reason = ""] = /^(\w+)\//.exec(command) ?? [];
  const [, dollars = ""] = /\(savings: \$(-?[\d.]+)\)$/.exec(command) ?? [];
  const nodes = values["disrupted-nodes"] as readonly LogValues[];
  const names = nodes.map(({ NodeClaim }) => (NodeClaim as LogValues)["name"]).join(", ");
  const count = Number(values["replacement-node-count"]);
  const how = count === 0 ? "" : `, replaced by ${countedNoun(count, "new node")}`;
  const saved = Number(dollars) > 0 ? `, saves $${dollars} per hour` : "";
  return `${reason.toLowerCase()}: ${names} (${countedNoun(values["pod-count"], "pod")} to move${how}${saved})`;
}

/** From `a, b and 3 other(s)`. */
function pendingPodsText(pods: string): string {
  const [, shown = "", others = "0"] = /^(.*?)(?: and (\d+) other\(s\))?$/.exec(pods) ?? [];
  const [first, ...more] = shown.split(", ");
  const count = 1 + more.length + Number(others);
  return count === 1 ? `1 pod is pending: ${first}` : `${count} pods are pending: ${first} and ${count - 1} more`;
}

function plainActivity(text: string): ReportedActivity {
  return { subject: "", kind: text, format: () => text, tone: "plain" };
}

function subjectActivity(what: string, subject: string, tone: ActivityTone = "plain"): ReportedActivity {
  return { subject, kind: what, format: (subjects) => `${what}: ${subjects}`, tone };
}

/** The Node's name is shown if the line is about one node. */
function joinedFormat(node: string): ReportedActivity["format"] {
  return (claims, count) => `joined: ${claims}${count === 1 ? ` as ${node}` : ""}`;
}

const maxCharacters = 240;

/** One line; the pod's events have the whole text. */
function shortened(reason: string): string {
  const text = reason.replace(/\s*\n\s*/g, " ");
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).trimEnd()} …`;
}

function countedNoun(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${String(count) === "1" ? "" : "s"}`;
}
