import { bearerHeaders } from "../../kube/connection.ts";
import { errorText } from "../../util/error-text.ts";
import type { Io } from "../io.ts";
import type { LiveSource } from "../live-cluster.ts";
import { findController } from "./find-controller.ts";

/** What came of asking the running controller. */
export type ControllerAnswer =
  | { readonly kind: "answered"; readonly url: string; readonly at: string; readonly explanation: object }
  /** It knows no such object. */
  | { readonly kind: "not-found"; readonly message: string }
  | { readonly kind: "unavailable"; readonly because: string };

export interface AskControllerOptions {
  readonly live: LiveSource;
  /** Where it is; looked for in the cluster unless given. */
  readonly controller?: string | undefined;
  /** A file with a token; the kubeconfig's own unless given. */
  readonly tokenFile?: string | undefined;
  readonly io: Io;
}

const timeoutMs = 30_000;
const maxTokenBytes = 16_384;

/** Asks the running controller for an explanation by its path. Never throws: an explanation can be computed instead. */
export async function askController(path: string, options: AskControllerOptions): Promise<ControllerAnswer> {
  try {
    const { connectTo } = await import("../connect.ts");
    const { live, io } = options;
    const cluster = await (live.connect ?? connectTo(io))(live);
    try {
      const address = options.controller === undefined ? await findController(cluster) : { url: options.controller };
      if ("because" in address) return { kind: "unavailable", because: address.because };
      if (!isSafe(address.url)) return { kind: "unavailable", because: unsafeText(address.url) };
      const token = await (options.tokenFile === undefined
        ? cluster.bearerToken?.()
        : readToken(options.tokenFile, io));
      if (token === undefined) return { kind: "unavailable", because: noTokenText };
      return await ask(new URL(path, address.url), token);
    } finally {
      cluster.close();
    }
  } catch (error) {
    return { kind: "unavailable", because: errorText(error) };
  }
}

const noTokenText = "the kubeconfig has no bearer token; give one with --token-file (kubectl create token makes one)";

async function readToken(path: string, io: Io): Promise<string> {
  return Buffer.from(await io.readFile(path, maxTokenBytes))
    .toString("utf8")
    .trim();
}

/** A token must not be read by others on its way: it goes to this computer, or encrypted. */
function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

function unsafeText(url: string): string {
  return `your token would be sent to ${url} unencrypted: forward its port with kubectl port-forward, or use https`;
}

async function ask(url: URL, token: string): Promise<ControllerAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  // A redirect could send the token elsewhere.
  const response = await fetch(url, { headers: bearerHeaders(token), redirect: "error", signal });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && isAnswer(body))
    return { kind: "answered", url: url.href, at: body.at, explanation: body.explanation };
  const message = isFailure(body) ? body.message : `it answered ${response.status}`;
  return isFailure(body) && body.reason === "not-found"
    ? { kind: "not-found", message }
    : { kind: "unavailable", because: `${url.origin}: ${message}` };
}

function isAnswer(body: unknown): body is { readonly at: string; readonly explanation: object } {
  return typeof body === "object" && body !== null && "at" in body && "explanation" in body;
}

function isFailure(body: unknown): body is { readonly reason: string; readonly message: string } {
  return typeof body === "object" && body !== null && "reason" in body && "message" in body;
}
