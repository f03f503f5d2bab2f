import type { ApiServer } from "../api/server.ts";
import { apiHandler } from "./api-handler.ts";
import { type HttpListener, type ListenOptions, listenHttp } from "./http-listener.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";

export interface ServeApiOptions extends Omit<ListenOptions, "handler"> {
  /** Grants full access. */
  readonly token: string;
}

/** A listening API server and how to reach it. */
export interface ServedApi extends HttpListener {
  readonly token: string;
  /** A kubeconfig for it. */
  readonly kubeconfig: string;
}

/** Starts to listen for an API server. */
export async function serveApi(api: ApiServer, options: ServeApiOptions): Promise<ServedApi> {
  const { host, port, certificate, onInternalError, token } = options;
  api.tokens.addAdmin(token);
  const handler = apiHandler({ api, now: () => api.clock.now(), token });
  const listening = await listenHttp({ host, port, certificate, handler, onInternalError });
  const { url } = listening;
  return { ...listening, token, kubeconfig: kubeconfigText({ url, token, certificate: certificate?.certificate }) };
}
