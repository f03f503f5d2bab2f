import type { KubeClient } from "../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import type { Connection } from "./kube.ts";

export interface RealClient {
  readonly client: KubeClient;
  close(): void;
}

/** Our own client on the real API server, as an administrator. */
export function realClient({ url: server, ca, token }: Connection): RealClient {
  const credentials = fixedCredentials({ headers: bearerHeaders(token) });
  const transport = socketTransport({ server, tls: { ca }, credentials, namespace: "default" });
  const client = httpClient({ transport, clock: systemClock(), userAgent: "karpenter/test" });
  return { client, close: () => transport.close() };
}
