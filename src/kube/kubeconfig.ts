import { delimiter, join } from "node:path";
import { didYouMean } from "../api/manifest/closest-match.ts";
import type { Clock } from "../util/clock.ts";
import { KubeConfigError } from "./access-failure.ts";
import { cachedCredentials, type ExpiringIdentity } from "./cached-credentials.ts";
import {
  bearerHeaders,
  type ClientIdentity,
  type Connection,
  type Credentials,
  fixedCredentials,
} from "./connection.ts";
import { type ExecPlugin, execIdentity } from "./exec-credentials.ts";
import type { HostEnvironment } from "./host-environment.ts";
import {
  type KubeConfigCluster,
  type KubeConfigFile,
  type KubeConfigUser,
  mergeKubeConfigs,
  readKubeConfig,
} from "./kubeconfig-file.ts";

export interface LoadConnectionOptions {
  readonly environment: HostEnvironment;
  readonly clock: Clock;
  /** Path of a kubeconfig; default: KUBECONFIG, then `~/.kube/config`, then the in-cluster configuration. */
  readonly path?: string | undefined;
  /** A context other than the current one of the file. */
  readonly context?: string | undefined;
}

const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Kubelets replace service account tokens well before they expire, so this is often enough to read the file. */
const tokenFileMs = 60_000;

/** Finds the cluster as kubectl does. Throws when there is none; the message lists where it looked. */
export async function loadConnection(options: LoadConnectionOptions): Promise<Connection> {
  const paths = kubeConfigPaths(options);
  const files = await readFiles(paths, options);
  if (files.length > 0) return connectionOf(mergeKubeConfigs(files), options);
  const inClusterConnection = options.context === undefined ? await inCluster(options) : undefined;
  if (inClusterConnection !== undefined) return inClusterConnection;
  throw new KubeConfigError(
    `no cluster found: there is no kubeconfig at ${paths.join(", ")}, and this process does not run in a pod; name a file with --kubeconfig or KUBECONFIG, or start a cluster to try with: karpenter up`,
  );
}

/** The contexts kubectl would know. */
export async function kubeContexts(
  options: Pick<LoadConnectionOptions, "environment" | "path">,
): Promise<readonly string[]> {
  return [...mergeKubeConfigs(await readFiles(kubeConfigPaths(options), options)).contexts.keys()];
}

function kubeConfigPaths({
  path,
  environment: { env, homeDir },
}: Pick<LoadConnectionOptions, "environment" | "path">): readonly string[] {
  if (path !== undefined) return [path];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((one) => one !== "");
  return listed.length > 0 ? listed : [join(homeDir, ".kube", "config")];
}

async function readFiles(
  paths: readonly string[],
  { path, environment }: Pick<LoadConnectionOptions, "environment" | "path">,
): Promise<readonly KubeConfigFile[]> {
  const files: KubeConfigFile[] = [];
  for (const one of paths) {
    const content = await environment.readFile(one);
    if (content !== undefined) files.push(readKubeConfig(content, one));
    else if (path !== undefined)
      throw new KubeConfigError(`there is no kubeconfig at ${path}; name another file with --kubeconfig`);
  }
  return files;
}

async function connectionOf(config: KubeConfigFile, options: LoadConnectionOptions): Promise<Connection> {
  const name = options.context ?? config.currentContext;
  if (name === undefined) throw new KubeConfigError(`the kubeconfig has no current context; ${contextsText(config)}`);
  const context = config.contexts.get(name);
  if (context === undefined)
    throw new KubeConfigError(
      `the kubeconfig has no context ${name}${didYouMean(name, config.contexts.keys())}; ${contextsText(config)}`,
    );
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined)
    throw new KubeConfigError(`context ${name} refers to cluster ${context.cluster}, ${undefinedText}`);
  const user = context.user ? config.users.get(context.user) : {};
  if (user === undefined) throw new KubeConfigError(`context ${name} refers to user ${context.user}, ${undefinedText}`);
  if (cluster["proxy-url"]) {
    throw new KubeConfigError(
      `cluster ${context.cluster} of context ${name} has a proxy-url, which is not supported; run "kubectl proxy" and use its address as the server`,
    );
  }

  const { "certificate-authority-data": caData, "certificate-authority": caFile } = cluster;
  const ca = await readPem(options.environment, caData, caFile);
  const skipVerify = cluster["insecure-skip-tls-verify"] ?? false;
  return {
    server: cluster.server,
    context: name,
    kubeconfig: options.path,
    tls: { ca, serverName: cluster["tls-server-name"] ?? undefined, skipVerify },
    credentials: await credentialsOf(user, { ...options, cluster, ca }),
    namespace: context.namespace || "default",
  };
}

const undefinedText = "which the kubeconfig does not define; correct the context, or fetch the kubeconfig again";

function contextsText({ contexts }: KubeConfigFile): string {
  if (contexts.size === 0) return "it has no contexts at all: fetch it again, or name another file with --kubeconfig";
  return `choose one with --context: ${[...contexts.keys()].sort().join(", ")}`;
}

interface UserSettings extends LoadConnectionOptions {
  readonly cluster: KubeConfigCluster;
  readonly ca: string | undefined;
}

/** Precedence as in kubectl: token file, token, exec plugin, username and password. */
async function credentialsOf(user: KubeConfigUser, settings: UserSettings): Promise<Credentials> {
  const { environment, clock } = settings;
  const fixed = { headers: impersonationHeaders(user), certificate: await clientCertificate(user, environment) };
  const { tokenFile, token, username, password, exec } = user;
  const cached = (fetch: () => Promise<ExpiringIdentity>): Credentials =>
    cachedCredentials(async () => withFixedIdentity(fixed, await fetch()), clock);
  if (tokenFile) return cached(() => readTokenFile(tokenFile, settings));
  if (token) return fixedCredentials({ ...fixed, headers: { ...fixed.headers, ...bearerHeaders(token) } });
  if (exec) return cached(() => execIdentity(execPluginOf(exec, settings), environment));
  if (username)
    return fixedCredentials({ ...fixed, headers: { ...fixed.headers, ...basicAuthHeaders(username, password ?? "") } });
  const provider = user["auth-provider"]?.name;
  if (provider !== undefined)
    throw new KubeConfigError(`auth-provider ${provider} is not supported; use an exec plugin such as kubelogin`);
  return fixedCredentials(fixed);
}

function withFixedIdentity(fixed: ClientIdentity, { identity, expiresAt }: ExpiringIdentity): ExpiringIdentity {
  const headers = { ...fixed.headers, ...identity.headers };
  return { identity: { headers, certificate: identity.certificate ?? fixed.certificate }, expiresAt };
}

async function readTokenFile(path: string, { environment, clock }: LoadConnectionOptions): Promise<ExpiringIdentity> {
  const token = (await environment.readFile(path))?.trim();
  if (!token) throw new Error(`there is no token in ${path}`);
  return { identity: { headers: bearerHeaders(token) }, expiresAt: clock.now() + tokenFileMs };
}

function basicAuthHeaders(username: string, password: string): ClientIdentity["headers"] {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

function impersonationHeaders(user: KubeConfigUser): ClientIdentity["headers"] {
  const { as: name, "as-uid": uid, "as-groups": groups } = user;
  return {
    ...(name ? { "impersonate-user": name } : {}),
    ...(uid ? { "impersonate-uid": uid } : {}),
    ...(groups?.length ? { "impersonate-group": groups } : {}),
  };
}

async function clientCertificate(
  user: KubeConfigUser,
  environment: HostEnvironment,
): Promise<ClientIdentity["certificate"]> {
  const cert = await readPem(environment, user["client-certificate-data"], user["client-certificate"]);
  const key = await readPem(environment, user["client-key-data"], user["client-key"]);
  if ((cert === undefined) !== (key === undefined))
    throw new KubeConfigError("client certificate and client key must be given together; add the missing one");
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function execPluginOf(exec: NonNullable<KubeConfigUser["exec"]>, { cluster, ca }: UserSettings): ExecPlugin {
  const clusterInfo = {
    server: cluster.server,
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(cluster["tls-server-name"] ? { "tls-server-name": cluster["tls-server-name"] } : {}),
    ...(cluster["insecure-skip-tls-verify"] ? { "insecure-skip-tls-verify": true } : {}),
  };
  return {
    apiVersion: exec.apiVersion,
    command: exec.command,
    args: exec.args ?? [],
    env: Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    installHint: exec.installHint ?? undefined,
    cluster: exec.provideClusterInfo ? clusterInfo : undefined,
  };
}

/** Inline data takes precedence over a path. */
async function readPem(environment: HostEnvironment, data: string | null | undefined, path: string | null | undefined) {
  if (data) return Buffer.from(data, "base64").toString("utf8");
  if (!path) return undefined;
  const content = await environment.readFile(path);
  if (content === undefined)
    throw new KubeConfigError(`the kubeconfig refers to ${path}, which does not exist; fetch the kubeconfig again`);
  return content;
}

/** The in-cluster configuration: environment variables and the mounted service account. */
async function inCluster({ environment, clock }: LoadConnectionOptions): Promise<Connection | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment.env;
  if (!host || !port) return undefined;
  const mounted = (name: string) => environment.readFile(`${serviceAccountDir}/${name}`);
  if ((await mounted("token")) === undefined) return undefined;
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { ca: await mounted("ca.crt") },
    credentials: cachedCredentials(() => readTokenFile(`${serviceAccountDir}/token`, { environment, clock }), clock),
    namespace: (await mounted("namespace"))?.trim() || "default",
  };
}
