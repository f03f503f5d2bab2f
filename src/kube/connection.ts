/** Where an API server is, and how to be let in. */
export interface Connection {
  /** May carry a path, as behind a proxy that serves several clusters. */
  readonly server: string;
  readonly tls: TlsOptions;
  readonly credentials: Credentials;
  /** What commands act on unless told otherwise. */
  readonly namespace: string;
}

export interface TlsOptions {
  /** PEM; the system's authorities unless given. */
  readonly ca?: string | undefined;
  /** The name in the certificate, where it is not the host of the address. */
  readonly serverName?: string | undefined;
  readonly skipVerify?: boolean | undefined;
}

/** A header may come several times. */
export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** How we show who we are: with headers, a client certificate, or both. */
export interface ClientIdentity {
  readonly headers: RequestHeaders;
  /** PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** Identities that may change while the process runs. */
export interface Credentials {
  current(): Promise<ClientIdentity>;
  /** The server did not accept the current identity; says whether asking again may give another. */
  invalidate(): boolean;
}

export function fixedCredentials(identity: ClientIdentity): Credentials {
  return { current: async () => identity, invalidate: () => false };
}

export function bearerHeaders(token: string): RequestHeaders & { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}
