import { expect, it } from "vitest";
import { AccessFailure, accessFailure } from "./access-failure.ts";
import { KubeError } from "./kube-error.ts";

const address = { server: "https://prod.example.com:6443", context: "prod" };

/** What is said of a connection that failed so, without the beginning that is the same for all. */
function said(code: string, { message = "it failed", wrap = (error: Error): unknown => error } = {}): string {
  const cause = wrap(Object.assign(new Error(message), { code }));
  const failure = accessFailure(new KubeError("unavailable", "GET /api", { cause }), address);
  if (!(failure instanceof AccessFailure)) throw new Error("no AccessFailure");
  const start = "cannot reach https://prod.example.com:6443 (context prod): ";
  expect(failure.message.startsWith(start)).toBe(true);
  return failure.message.slice(start.length);
}

const unknownAuthority = /^its certificate is not signed by the certificate authority of the kubeconfig; fetch/;
const clusterInfo = "kubectl --context prod cluster-info";

it.each([
  ["ECONNREFUSED", /^connection refused: nothing listens there; start the cluster/],
  ["ENOTFOUND", /^DNS does not know the host prod\.example\.com; check the server's address/],
  ["EAI_AGAIN", /^DNS does not know the host prod\.example\.com; check the server's address/],
  ["EHOSTUNREACH", /^there is no route to it; check the network and the VPN/],
  ["ENETUNREACH", /^there is no route to it; check the network and the VPN/],
  ["ECONNRESET", /^the connection was closed before an answer came; check proxies/],
  ["ETIMEDOUT", /^no answer in time; check the network, VPN and firewall/],
  ["ESOCKETTIMEDOUT", /^no answer in time; check the network, VPN and firewall/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", unknownAuthority],
  ["SELF_SIGNED_CERT_IN_CHAIN", unknownAuthority],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknownAuthority],
  ["CERT_SIGNATURE_FAILURE", unknownAuthority],
  ["CERT_HAS_EXPIRED", /^its certificate has expired; renew the certificate of the API server/],
  ["CERT_NOT_YET_VALID", /^its certificate is not valid yet; check the clock of this machine/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /^its certificate is for other names \(it failed\); correct the server's address/],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", /^the server did not accept the client certificate; renew client-/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /^what listens there does not speak TLS as expected; check whether/],
  ["EPROTO", /^what listens there does not speak TLS as expected; check whether/],
  ["HPE_INVALID_CONSTANT", /^what listens there does not speak TLS as expected; check whether/],
  ["EOTHER", /^it failed; check with: kubectl --context prod cluster-info$/],
])("says of %s what happened and what to do", (code, expected) => {
  expect(said(code)).toMatch(expected);
});

it("finds the code in the first of several addresses and in the cause of an error", () => {
  expect(said("ECONNREFUSED", { wrap: (error) => new AggregateError([error, new Error("other")]) })).toMatch(
    /^connection refused/,
  );
  expect(said("ECONNREFUSED", { wrap: (cause) => new TypeError("fetch failed", { cause }) })).toMatch(
    /^connection refused/,
  );
});

it("a request that failed before anything was sent says why, and how to check", () => {
  const failure = accessFailure(new KubeError("unavailable", "GET /api"), { server: "https://a" }) as Error;
  expect(failure.message).toBe("cannot reach https://a: the request failed; check with: kubectl cluster-info");
});

it("names the kubeconfig that was named, and says how long it waited", () => {
  const error = new KubeError("timeout", "GET /api: no response within 30 s");
  const failure = accessFailure(error, { ...address, kubeconfig: "my.conf" }) as AccessFailure;
  expect(failure.code).toBe("timeout");
  expect(failure.message).toMatch(
    /: no response within 30 s; .*kubectl --kubeconfig my\.conf --context prod cluster-info$/,
  );
  expect(said("ECONNRESET")).toContain(clusterInfo);
});

it("an answer of the server, another error and what was said already stay as they are", () => {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "no",
    code: 403,
  } as const;
  for (const error of [
    new KubeError("forbidden", "no", { status }),
    new Error("other"),
    new AccessFailure("unavailable", "said"),
  ])
    expect(accessFailure(error, address)).toBe(error);
  const refused = accessFailure(new KubeError("unauthorized", "Unauthorized", { status }), address) as AccessFailure;
  expect(refused.message).toContain("it does not accept the credentials of the kubeconfig (401 Unauthorized); log in");
  expect(refused.status).toBe(status);
});
