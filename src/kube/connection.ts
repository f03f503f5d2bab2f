/** Which cluster is meant, for messages. */
export interface ClusterAddress {
  /** May include a path, as behind a proxy for several clusters. */
  readonly server: string;
  /** The context of the kubeconfig; undefined inside a cluster. */
  readonly context?: string | undefined;
  /** The file, if it was named with --kubeconfig. */
  readonly kubeconfig?: string | undefined;
}

/** Where an API server is and how to authenticate. */
export interface Connection extends ClusterAddress {
  readonly tls: TlsOptions;
  readonly credentials: Credentials;
  /** The namespace of commands that name none. */
  readonly namespace: string;
}

interface TlsOptions {
  /** PEM; the system's certificate authorities, unless given. */
  readonly ca?: string | undefined;
  /** The name in the server's certificate, if it is not the host of the address. */
  readonly serverName?: string | undefined;
  readonly skipVerify?: boolean | undefined;
}

/** A list sends the header several times. */
export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** What authenticates a client: headers, a client certificate, or both. */
export interface ClientIdentity {
  readonly headers: RequestHeaders;
  /** PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** A source of identities, which may be renewed while the process runs. */
export interface Credentials {
  current(): Promise<ClientIdentity>;
  /** Call after the server rejected an identity. True if current() may return another one now. */
  invalidate(rejected: ClientIdentity): boolean;
}

export function fixedCredentials(identity: ClientIdentity): Credentials {
  return { current: async () => identity, invalidate: () => false };
}

export function bearerHeaders(token: string): RequestHeaders & { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}
