/** Address and credentials of the server. */
export interface ServerEndpoint {
  readonly url: string;
  readonly token: string;
  /** The certificate to trust, as PEM; absent for plain HTTP. */
  readonly certificate?: string | undefined;
}

const name = "karpenter-up";

/** A kubeconfig with one cluster, user and context, as JSON, which is valid YAML. */
export function kubeconfigText({ url, token, certificate }: ServerEndpoint): string {
  const cluster = {
    server: url,
    ...(certificate !== undefined && {
      "certificate-authority-data": Buffer.from(certificate).toString("base64"),
    }),
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
