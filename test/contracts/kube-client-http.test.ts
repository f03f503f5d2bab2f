import { serveApi } from "../../src/control-plane/http/serve-api.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { apiOn } from "../world/api-world.ts";
import { kubeClientContract } from "./kube-client.ts";

kubeClientContract("HTTP to the embedded server", {
  open: async () => {
    const clock = systemClock();
    const { api } = apiOn(clock, { seed: "contract" });
    const onFault = (error: unknown) => {
      throw error;
    };
    const served = await serveApi(api, { token: "token", host: "127.0.0.1", port: 0, onInternalError: onFault });
    const credentials = fixedCredentials({ headers: bearerHeaders(served.token) });
    const transport = socketTransport({ server: served.url, tls: {}, credentials, namespace: "default" });
    const close = async () => {
      transport.close();
      await served.close();
    };
    return { client: httpClient({ transport, clock, userAgent: "karpenter/test" }), close };
  },
});
