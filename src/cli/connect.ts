import { homedir } from "node:os";
import { accessFailure } from "../kube/access-failure.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ClusterAddress } from "../kube/connection.ts";
import { systemHostEnvironment } from "../kube/host-environment.ts";
import { type HttpClientOptions, httpClient } from "../kube/http-client.ts";
import { loadConnection } from "../kube/kubeconfig.ts";
import { readServerVersion, type ServerVersion } from "../kube/server-version.ts";
import { socketTransport } from "../kube/socket-transport.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import type { Io } from "./io.ts";
import type { ClusterChoice, Connect } from "./live-cluster.ts";

/** Long enough for a large page of pods over a slow connection. */
const requestTimeoutMs = 60_000;

type ClusterClientOptions = Omit<HttpClientOptions, "transport" | "clock">;

/** A cluster that can be reached. */
export interface OpenCluster {
  readonly server: string;
  readonly address: ClusterAddress;
  /** The namespace of our own pod inside a cluster, else that of the kubeconfig context. */
  readonly namespace: string;
  /** PEM; undefined where the system's are used. */
  readonly certificateAuthority: string | undefined;
  readonly clock: Clock;
  /** Each client has its own connections. */
  client(options: ClusterClientOptions): KubeClient;
  version(options: ClusterClientOptions): Promise<ServerVersion>;
  /** What identifies us, if it is a token. */
  bearerToken(): Promise<string | undefined>;
  close(): void;
}

/** Opens the cluster of a kubeconfig, found as kubectl finds it, or else the cluster this process runs in. */
export async function openCluster(
  io: Pick<Io, "env">,
  { kubeconfig, context }: ClusterChoice,
  { pluginTimeoutMs }: { readonly pluginTimeoutMs?: number | undefined } = {},
): Promise<OpenCluster> {
  const clock = systemClock();
  const host = systemHostEnvironment({ env: io.env, homeDir: homedir(), pluginTimeoutMs });
  const connection = await loadConnection({ environment: host, clock, path: kubeconfig, context });
  const transports: ReturnType<typeof socketTransport>[] = [];
  const httpOptions = (options: ClusterClientOptions): HttpClientOptions => {
    const transport = socketTransport(connection);
    transports.push(transport);
    return { timeoutMs: requestTimeoutMs, ...options, transport, clock };
  };
  return {
    server: connection.server,
    address: connection,
    namespace: connection.namespace,
    certificateAuthority: connection.tls.ca,
    clock,
    client: (options) => httpClient(httpOptions(options)),
    version: (options) => readServerVersion(httpOptions(options)),
    bearerToken: async () => {
      const { authorization } = (await connection.credentials.current()).headers;
      const [scheme = "", token] = typeof authorization === "string" ? authorization.split(" ") : [];
      return scheme === "Bearer" ? token : undefined;
    },
    close: () => {
      for (const transport of transports) transport.close();
    },
  };
}

interface ConnectOptions {
  /** Of one request. */
  readonly timeoutMs?: number;
  /** Of a program that provides credentials. */
  readonly pluginTimeoutMs?: number;
}

/** The default `Connect`: reads the kubeconfig and opens an HTTP client. */
export function connectTo(
  io: Pick<Io, "env">,
  { timeoutMs = requestTimeoutMs, pluginTimeoutMs }: ConnectOptions = {},
): Connect {
  return async (choice) => {
    const cluster = await openCluster(io, choice, { pluginTimeoutMs });
    const client = cluster.client({ userAgent: "karpenter", timeoutMs });
    return {
      ...cluster,
      kube: {
        list: (...args) => withAccessFailure(client.list(...args), cluster.address),
        watch: (...args) => client.watch(...args),
      },
    };
  };
}

/** Fails with words about the cluster that was asked. */
async function withAccessFailure<T>(answer: Promise<T>, address: ClusterAddress): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw accessFailure(error, address);
  }
}
