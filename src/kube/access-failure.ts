import { errorCode, errorMessage } from "../util/error-text.ts";
import type { ClusterAddress } from "./connection.ts";
import { KubeError } from "./kube-error.ts";

/** A request that did not get through to the API server, or was not let in: its message says where, why and what to do. */
export class AccessFailure extends KubeError {}

/** A kubeconfig that leads to no cluster; the message says what to do. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

interface Reason {
  /** Continues "cannot reach SERVER: ". */
  readonly why: string;
  readonly remedy: string;
}

/** The failure of a request in words: which server and context, what happened, and what to do. Other errors stay as they are. */
export function accessFailure(error: unknown, address: ClusterAddress): unknown {
  if (!(error instanceof KubeError) || error instanceof AccessFailure) return error;
  const reason = reasonOf(error, address);
  if (reason === undefined) return error;
  const message = `cannot reach ${addressText(address)}: ${reason.why}; ${reason.remedy}`;
  return new AccessFailure(error.code, message, {
    ...(error.status !== undefined && { status: error.status }),
    cause: error,
  });
}

function addressText({ server, context }: ClusterAddress): string {
  return context === undefined ? server : `${server} (context ${context})`;
}

/** kubectl for the same cluster. */
function kubectl(command: string, { context, kubeconfig }: ClusterAddress): string {
  const file = kubeconfig === undefined ? "" : ` --kubeconfig ${kubeconfig}`;
  return `kubectl${file}${context === undefined ? "" : ` --context ${context}`} ${command}`;
}

function reasonOf(error: KubeError, address: ClusterAddress): Reason | undefined {
  if (error.code === "unauthorized") return unauthorized(error, address);
  if (error.status !== undefined) return undefined;
  const { cause } = error;
  const code = causeCode(cause);
  if (error.code === "timeout" || timeoutCodes.has(code)) return noAnswer(error, address);
  const certificate = certificateReasons[code];
  if (certificate !== undefined)
    return { why: certificate(errorMessage(cause)), remedy: certificateRemedy(code, address) };
  if (/^ERR_SSL_.*ALERT/.test(code)) {
    return {
      why: "the server did not accept the client certificate",
      remedy: `renew client-certificate-data and client-key-data of the kubeconfig, and check with: ${kubectl("auth whoami", address)}`,
    };
  }
  if (code === "EPROTO" || /^ERR_SSL_|^HPE_/.test(code)) {
    return {
      why: "what listens there does not speak TLS as expected",
      remedy: "check whether the server's address in the kubeconfig should begin with http:// or https://",
    };
  }
  return networkReasons[code]?.(address) ?? credentialReason(cause, address);
}

function unauthorized(error: KubeError, address: ClusterAddress): Reason {
  return {
    why: `it does not accept the credentials of the kubeconfig (401 ${error.message})`,
    remedy: `log in again or renew the token, and check with: ${kubectl("auth whoami", address)}`,
  };
}

const timeoutCodes: ReadonlySet<string> = new Set(["ETIMEDOUT", "ESOCKETTIMEDOUT"]);

function noAnswer({ message }: KubeError, address: ClusterAddress): Reason {
  const [, waited = "no answer in time"] = /(no response within [\d.]+ s)/.exec(message) ?? [];
  return {
    why: waited,
    remedy: `check the network, VPN and firewall, and then: ${kubectl("cluster-info", address)}`,
  };
}

const networkReasons: Readonly<Record<string, (address: ClusterAddress) => Reason>> = {
  ECONNREFUSED: (address) => ({
    why: "connection refused: nothing listens there",
    remedy: `start the cluster, or correct the server's address; check with: ${kubectl("cluster-info", address)}`,
  }),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ECONNRESET: (address) => ({
    why: "the connection was closed before an answer came",
    remedy: `check proxies and load balancers in between, and then: ${kubectl("cluster-info", address)}`,
  }),
};

function unknownHost(address: ClusterAddress): Reason {
  return {
    why: `DNS does not know the host ${new URL(address.server).hostname}`,
    remedy: `check the server's address in the kubeconfig (${kubectl("config view --minify", address)}), the network and the VPN`,
  };
}

function noRoute(address: ClusterAddress): Reason {
  return {
    why: "there is no route to it",
    remedy: `check the network and the VPN, and then: ${kubectl("cluster-info", address)}`,
  };
}

const unknownAuthority = (): string => "its certificate is not signed by the certificate authority of the kubeconfig";

const certificateReasons: Readonly<Record<string, (message: string) => string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: () => "its certificate has expired",
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: (message) => `its certificate is for other names (${message})`,
};

function certificateRemedy(code: string, address: ClusterAddress): string {
  const check = `check with: ${kubectl("cluster-info", address)}`;
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return `renew the certificate of the API server; ${check}`;
    case "CERT_NOT_YET_VALID":
      return `check the clock of this machine and of the server; ${check}`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `correct the server's address, or set tls-server-name of the cluster in the kubeconfig; ${check}`;
    default:
      return `fetch the kubeconfig again, as with "aws eks update-kubeconfig --name CLUSTER", or correct certificate-authority-data; ${check}`;
  }
}

/** Credential plugins and token files fail before anything is sent. */
function credentialReason(cause: unknown, address: ClusterAddress): Reason {
  return {
    why: cause === undefined ? "the request failed" : errorMessage(cause),
    remedy: `check with: ${kubectl("cluster-info", address)}`,
  };
}

/** Connecting to a name with several addresses fails with all of their errors. */
function causeCode(error: unknown): string {
  if (error instanceof AggregateError && errorCode(error) === undefined) return causeCode(error.errors[0]);
  return errorCode(error) ?? (error instanceof Error && error.cause !== undefined ? causeCode(error.cause) : "");
}
