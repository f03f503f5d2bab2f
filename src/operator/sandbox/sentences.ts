import { taints } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/error.ts";
import type { LoggedLine, LogValues } from "../../util/logger.ts";
import { errorText } from "../error-text.ts";
import { lineText, named } from "./line-text.ts";

/** How a line sounds: what one is glad of, what is on its way, what is over, what went wrong. */
export type Tone = "good" | "plain" | "over" | "bad";

/** One thing that happened. What happens to several at about the same time is told in one line. */
export interface Happening {
  readonly who: string;
  /** The line, when it happened to these. */
  readonly say: (who: string, count: number) => string;
  /** What is told together. */
  readonly kind: string;
  readonly tone: Tone;
  /** Whether the same is no news for a while: it is logged again and again until somebody acts. */
  readonly isLasting?: boolean;
}

/** What lines that come later refer to. */
export interface Recollection {
  readonly now: number;
  /** Dollars an hour of a machine. */
  readonly priceOf: (providerId: string) => number | undefined;
  /** Claims that are not ready yet. */
  readonly awaited: Map<string, Awaited>;
}

interface Awaited {
  readonly since: number;
  readonly pods: string;
}

type Sentence = (values: LogValues, recollection: Recollection) => Happening | undefined;

/** What a line of the log means to a person; undefined for what one need not hear. */
export function happeningOf(line: LoggedLine, recollection: Recollection): Happening | undefined {
  if (line.level === "debug") return undefined;
  const sentence = Object.hasOwn(sentences, line.message) ? sentences[line.message] : undefined;
  return sentence === undefined ? asWritten(line) : sentence(line.values, recollection);
}

function asWritten(line: LoggedLine): Happening | undefined {
  // A pool whose class is not there yet says so itself; whoever else stumbles over it need not.
  if (isCloudError(line.values["error"], "node-class-not-ready")) return undefined;
  const text = lineText(line);
  const isError = line.level === "error";
  return { who: "", kind: text, say: () => text, tone: isError ? "bad" : "plain", isLasting: isError };
}

const sentences: Readonly<Record<string, Sentence>> = {
  "found provisionable pod(s)": ({ Pods }) => plain(waiting(String(Pods))),
  "computed new nodeclaim(s) to fit pod(s)": ({ nodeclaims, pods }) =>
    plain(`${counted(nodeclaims, "new node")} will take ${counted(pods, "pod")}`),
  "computed unready node(s) will fit pod(s)": ({ nodes, pods }) =>
    plain(`${counted(nodes, "node")} on the way will take ${counted(pods, "pod")}`),
  "created nodeclaim": (values, { awaited, now }) => {
    const { pods } = (values["requests"] ?? {}) as LogValues;
    const why = pods === undefined ? "" : ` for ${counted(pods, "pod")}`;
    awaited.set(named("NodeClaim", values), { since: now, pods: why });
    return undefined; // what was bought is told when it is
  },
  "launched nodeclaim": (values, { awaited, priceOf }) => {
    const claim = named("NodeClaim", values);
    const dollars = priceOf(String(values["provider-id"]));
    const price = dollars === undefined ? "" : ` at $${dollars.toFixed(dollars < 0.1 ? 3 : 2)} an hour`;
    const machine = `${values["instance-type"]}, ${values["capacity-type"]}, in ${values["zone"]}${price}`;
    return {
      who: `${claim}${awaited.get(claim)?.pods ?? ""}`,
      kind: `bought ${machine}`,
      say: (who, count) => `bought ${count === 1 ? "" : `${count} times `}${machine}: ${who}`,
      tone: "good",
    };
  },
  "registered nodeclaim": (values) => {
    const node = named("Node", values);
    return { ...told("joined", { who: named("NodeClaim", values) }), say: joined(node) };
  },
  "initialized nodeclaim": (values, { awaited, now }) => {
    const claim = named("NodeClaim", values);
    const since = awaited.get(claim)?.since;
    awaited.delete(claim);
    const took = since === undefined ? "" : ` (${Math.round((now - since) / 1_000)} s)`;
    return told("ready", { who: `${claim}${took}`, tone: "good" });
  },
  "tainted node": (values) =>
    values["taint.Key"] === taints.disrupted.key ? told("draining", { who: named("Node", values) }) : undefined,
  "deleted node": () => undefined, // its claim goes with it, and says so
  "deleted nodeclaim": (values, { awaited }) => {
    awaited.delete(named("NodeClaim", values));
    return told("removed", { who: named("NodeClaim", values), tone: "over" });
  },
  "could not schedule pod": (values) => {
    const why = errorText(values["error"]);
    return {
      who: named("Pod", values),
      kind: `refused ${why}`,
      say: (who) => `no node for ${who}: ${shortened(why)}`,
      tone: "bad",
      isLasting: true,
    };
  },
  "ignoring nodepool, not ready": (values) => {
    const name = named("NodePool", values);
    return { ...plain(`nodepool ${name} is not ready: kubectl describe nodepool ${name} says why`), isLasting: true };
  },
  "initiating delete from interruption message": (values) => ({
    ...told("the cloud takes back", { who: named("NodeClaim", values), tone: "bad" }),
  }),
};

/** From `a, b and 3 other(s)`. */
function waiting(pods: string): string {
  const [, shown = "", others = "0"] = /^(.*?)(?: and (\d+) other\(s\))?$/.exec(pods) ?? [];
  const [first, ...more] = shown.split(", ");
  const count = 1 + more.length + Number(others);
  return count === 1 ? `a pod waits for a place: ${first}` : `${count} pods wait for a place, ${first} among them`;
}

function plain(text: string): Happening {
  return { who: "", kind: text, say: () => text, tone: "plain" };
}

function told(what: string, { who, tone = "plain" }: { readonly who: string; readonly tone?: Tone }): Happening {
  return { who, kind: what, say: (all) => `${what}: ${all}`, tone };
}

/** The node has a name of its own, which matters as long as it is one alone. */
function joined(node: string): Happening["say"] {
  return (who, count) => `joined: ${who}${count === 1 ? ` as ${node}` : ""}`;
}

const mostWords = 240;

/** In one line; all of it is in the pod's events. */
function shortened(reason: string): string {
  const text = reason.replace(/\s*\n\s*/g, " ");
  return text.length <= mostWords ? text : `${text.slice(0, mostWords).trimEnd()} …`;
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${String(count) === "1" ? "" : "s"}`;
}
