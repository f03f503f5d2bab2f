import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { kubeClientContract } from "../contracts/kube-client.ts";
import { describeOnCluster } from "./shared.ts";

describeOnCluster("the contract", ({ url: server, ca, token }) => {
  kubeClientContract("HTTP to a real kube-apiserver", {
    open: async () => {
      const credentials = fixedCredentials({ headers: bearerHeaders(token) });
      const transport = socketTransport({ server, tls: { ca }, credentials, namespace: "default" });
      const client = httpClient({ transport, clock: systemClock(), userAgent: "karpenter/test" });
      return { client, close: async () => transport.close() };
    },
  });
});
