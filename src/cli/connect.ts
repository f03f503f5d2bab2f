import { homedir } from "node:os";
import type { KubeClient } from "../kube/client.ts";
import { systemHostEnvironment } from "../kube/host-environment.ts";
import { type HttpClientOptions, httpClient } from "../kube/http-client.ts";
import { loadConnection } from "../kube/kubeconfig.ts";
import { socketTransport } from "../kube/socket-transport.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import type { Io } from "./io.ts";
import type { ClusterChoice, Connect } from "./live-cluster.ts";

/** As large as a page of pods may be, over a slow line. */
const requestTimeoutMs = 60_000;

/** A cluster that can be reached. */
export interface OpenCluster {
  readonly server: string;
  /** Of the pod we are, or of the context. */
  readonly namespace: string;
  readonly clock: Clock;
  /** With sockets of its own. */
  client(options: Omit<HttpClientOptions, "transport" | "clock">): KubeClient;
  close(): void;
}

/** The cluster of a kubeconfig, as kubectl would find it, or the one we run in. */
export async function openCluster(io: Pick<Io, "env">, { kubeconfig, context }: ClusterChoice): Promise<OpenCluster> {
  const clock = systemClock();
  const host = systemHostEnvironment({ env: io.env, homeDir: homedir() });
  const connection = await loadConnection({ environment: host, clock, path: kubeconfig, context });
  const transports: ReturnType<typeof socketTransport>[] = [];
  return {
    server: connection.server,
    namespace: connection.namespace,
    clock,
    client: (options) => {
      const transport = socketTransport(connection);
      transports.push(transport);
      return httpClient({ timeoutMs: requestTimeoutMs, ...options, transport, clock });
    },
    close: () => {
      for (const transport of transports) transport.close();
    },
  };
}

/** Loaded only by commands that talk to a cluster. */
export function connectTo(io: Pick<Io, "env">): Connect {
  return async (choice) => {
    const cluster = await openCluster(io, choice);
    return { ...cluster, kube: cluster.client({ userAgent: "karpenter" }) };
  };
}
