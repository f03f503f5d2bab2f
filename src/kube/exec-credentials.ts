import { isRecord } from "../api/object.ts";
import { errorCode, errorMessage } from "../util/error-text.ts";
import type { ExpiringIdentity } from "./cached-credentials.ts";
import { bearerHeaders, type ClientIdentity } from "./connection.ts";
import type { HostEnvironment } from "./host-environment.ts";

/** A credential plugin of a kubeconfig (`users[].user.exec`). */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string | undefined;
  /** Passed to the program where provideClusterInfo is set. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

const versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/** Runs the program and reads the `ExecCredential` it prints. */
export async function execIdentity(plugin: ExecPlugin, environment: HostEnvironment): Promise<ExpiringIdentity> {
  const { apiVersion, command, args, cluster } = plugin;
  if (!versions.includes(apiVersion)) throw new Error(`credential plugin ${command}: unknown version ${apiVersion}`);
  const spec = { interactive: false, ...(cluster === undefined ? {} : { cluster }) };
  const info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
  let printed: string;
  try {
    printed = await environment.runCommand(command, { args, env: { ...plugin.env, KUBERNETES_EXEC_INFO: info } });
  } catch (cause) {
    const hint = plugin.installHint === undefined ? "" : `\n${plugin.installHint}`;
    const why =
      errorCode(cause) === "ENOENT"
        ? `credential plugin ${command} is not installed: no such program is in PATH`
        : `credential plugin ${command} failed: ${errorMessage(cause).trim()}`;
    throw new Error(`${why}${hint}`, { cause });
  }
  return parseExecCredential(printed, plugin);
}

function parseExecCredential(printed: string, { apiVersion, command }: ExecPlugin): ExpiringIdentity {
  const printedError = (what: string): Error => new Error(`credential plugin ${command} printed ${what}`);
  let credential: unknown;
  try {
    credential = JSON.parse(printed);
  } catch {
    throw printedError("something other than JSON"); // not the output: it may contain a secret
  }
  if (!isRecord(credential) || credential["kind"] !== "ExecCredential" || credential["apiVersion"] !== apiVersion) {
    throw printedError(`no ExecCredential of ${apiVersion}`);
  }
  const status = credential["status"];
  if (!isRecord(status)) throw printedError("no status");
  const identity = identityOf(status);
  if (identity === undefined) throw printedError("neither a token nor a certificate with its key");
  const expiry = status["expirationTimestamp"];
  if (expiry === undefined || expiry === null) return { identity };
  const expiresAt = Date.parse(String(expiry));
  if (Number.isNaN(expiresAt)) throw printedError(`an invalid expirationTimestamp: ${JSON.stringify(expiry)}`);
  return { identity, expiresAt };
}

function identityOf(status: Readonly<Record<string, unknown>>): ClientIdentity | undefined {
  const { token, clientCertificateData: cert, clientKeyData: key } = status;
  const hasToken = typeof token === "string" && token !== "";
  const headers = hasToken ? bearerHeaders(token) : {};
  if (typeof cert === "string" && typeof key === "string") return { headers, certificate: { cert, key } };
  return hasToken ? { headers } : undefined;
}
