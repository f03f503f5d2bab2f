import type { Certificates } from "./certificates.ts";

export type Component = "kube-controller-manager" | "kube-scheduler";

/** A program of the control plane: how it is started, and where it says that it is ready. */
export interface Program {
  readonly name: string;
  readonly args: readonly string[];
  readonly readyUrl: string;
}

export interface Files extends Certificates {
  readonly dataDir: string;
  readonly tokens: string;
  readonly kubeconfig: string;
}

export function etcd(files: Files, { client, peer }: { readonly client: number; readonly peer: number }): Program {
  const clientUrl = `https://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const args = flags({
    "data-dir": files.dataDir,
    "cert-file": files.cert,
    "key-file": files.key,
    "listen-client-urls": clientUrl,
    "advertise-client-urls": clientUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
    "unsafe-no-fsync": true, // nothing here outlives the test
    "log-level": "warn",
  });
  return { name: "etcd", args, readyUrl: `${clientUrl}/readyz` };
}

interface ApiServerOptions {
  readonly port: number;
  readonly etcdPort: number;
  readonly components: readonly Component[];
}

export function apiServer(files: Files, { port, etcdPort, components }: ApiServerOptions): Program {
  const args = flags({
    ...serving(files, port),
    "etcd-servers": `https://127.0.0.1:${etcdPort}`,
    "etcd-cafile": files.ca,
    "advertise-address": "127.0.0.1",
    "endpoint-reconciler-type": "none", // a loopback address may not be an Endpoint
    "token-auth-file": files.tokens,
    "authorization-mode": "RBAC",
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": files.serviceAccountKey,
    "service-account-signing-key-file": files.serviceAccountKey,
    "service-cluster-ip-range": "10.0.0.0/24",
    // Pods need their namespace's default service account, which only the controller manager makes.
    ...(components.includes("kube-controller-manager") ? {} : { "disable-admission-plugins": "ServiceAccount" }),
  });
  return { name: "kube-apiserver", args, readyUrl: `https://127.0.0.1:${port}/readyz` };
}

/** How fast controller manager and scheduler may ask: as they come, or without waiting. */
export type RequestRates = "default" | "fast";

interface ComponentOptions {
  readonly port: number;
  readonly requestRates: RequestRates;
}

export function component(name: Component, files: Files, { port, requestRates }: ComponentOptions): Program {
  const args = flags({
    ...serving(files, port),
    kubeconfig: files.kubeconfig,
    "authentication-kubeconfig": files.kubeconfig,
    "authorization-kubeconfig": files.kubeconfig,
    "leader-elect": false,
    // Their defaults (20 and 50 requests a second) make about 20 pods a second.
    ...(requestRates === "fast" ? { "kube-api-qps": 1000, "kube-api-burst": 2000 } : {}),
    ...(name === "kube-controller-manager"
      ? { "service-account-private-key-file": files.serviceAccountKey, "root-ca-file": files.ca }
      : {}),
  });
  return { name, args, readyUrl: `https://127.0.0.1:${port}/healthz` };
}

function serving(files: Files, port: number): Flags {
  return {
    "bind-address": "127.0.0.1",
    "secure-port": port,
    "tls-cert-file": files.cert,
    "tls-private-key-file": files.key,
  };
}

type Flags = Readonly<Record<string, string | number | boolean>>;

function flags(values: Flags): readonly string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}
