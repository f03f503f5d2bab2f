import { homedir } from "node:os";
import type { KubeClient } from "../kube/client.ts";
import { type HttpClientOptions, httpClient } from "../kube/http-client.ts";
import { loadConnection } from "../kube/kubeconfig.ts";
import { realMachine } from "../kube/machine.ts";
import { nodeTransport } from "../kube/node-transport.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import type { Io } from "./io.ts";
import type { ClusterChoice, Connect } from "./live.ts";

/** As large as a page of pods may be, over a slow line. */
const timeoutMs = 60_000;

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
  const machine = realMachine({ env: io.env, homeDir: homedir() });
  const connection = await loadConnection({ machine, clock, path: kubeconfig, context });
  const transports: ReturnType<typeof nodeTransport>[] = [];
  return {
    server: connection.server,
    namespace: connection.namespace,
    clock,
    client: (options) => {
      const transport = nodeTransport(connection);
      transports.push(transport);
      return httpClient({ timeoutMs, ...options, transport, clock });
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
