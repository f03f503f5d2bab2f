import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { VirtualClock } from "../util/virtual-clock.ts";
import type { CommandOptions, HostEnvironment } from "./host-environment.ts";
import { type LoadConnectionOptions, loadConnection } from "./kubeconfig.ts";

interface HostContents {
  readonly files?: Record<string, string>;
  readonly env?: Record<string, string>;
  readonly run?: (command: string, options: CommandOptions) => string;
}

function setUp({ files = {}, env = {}, run = () => "" }: HostContents) {
  const clock = new VirtualClock({ startAt: Date.parse("2026-01-01T00:00:00Z") });
  const commands: { command: string; options: CommandOptions }[] = [];
  const environment: HostEnvironment = {
    env,
    homeDir: "/home/me",
    readFile: async (path) => files[path],
    runCommand: async (command, options) => {
      commands.push({ command, options });
      return run(command, options);
    },
  };
  const load = (options: Partial<LoadConnectionOptions> = {}) => loadConnection({ environment, clock, ...options });
  return { clock, files, commands, load };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

interface Config {
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
  readonly context?: Record<string, unknown>;
  readonly name?: string;
}

/** One cluster, user and context of the same name. */
function config({ user = {}, cluster = {}, context = {}, name = "one" }: Config = {}): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server: `https://${name}.test`, ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
  });
}

const home = "/home/me/.kube/config";
const withUser = (user: Record<string, unknown>, rest: HostContents = {}) =>
  setUp({ ...rest, files: { ...rest.files, [home]: config({ user }) } });
const identityOf = async (user: Record<string, unknown>, rest: HostContents = {}) =>
  (await withUser(user, rest).load()).credentials.current();

describe("loadConnection", () => {
  it("looks where kubectl does: the path given, KUBECONFIG, the home folder", async () => {
    const files = { "/given": config({ name: "given" }), "/env": config({ name: "env" }), [home]: config() };
    const serverOf = async (env: Record<string, string>, options: Partial<LoadConnectionOptions> = {}) =>
      (await setUp({ files, env }).load(options)).server;
    expect(await serverOf({ KUBECONFIG: "/env" }, { path: "/given" })).toBe("https://given.test");
    expect(await serverOf({ KUBECONFIG: "/env" })).toBe("https://env.test");
    expect(await serverOf({ KUBECONFIG: "" })).toBe("https://one.test");
    await expect(serverOf({}, { path: "/missing" })).rejects.toThrow("there is no kubeconfig at /missing");
  });

  it("merges several files: the first that sets a value wins", async () => {
    const files = {
      "/a": stringify({ contexts: [{ name: "two", context: { cluster: "two", user: "one", namespace: "shop" } }] }),
      "/b": config({ user: { token: "b" } }),
      "/c": config({ name: "two", cluster: { server: "https://c.test" } }),
      "/d": config({ user: { token: "d" }, cluster: { server: "https://d.test" } }),
    };
    const { load } = setUp({ files, env: { KUBECONFIG: "/a:/missing:/b:/c:/d" } });
    expect((await load()).server).toBe("https://one.test");
    const two = await load({ context: "two" });
    expect([two.server, two.namespace]).toEqual(["https://c.test", "shop"]);
    expect((await two.credentials.current()).headers).toEqual({ authorization: "Bearer b" });
  });

  it("says what is missing", async () => {
    const failing = (files: Record<string, string>, options: Partial<LoadConnectionOptions> = {}) =>
      setUp({ files }).load(options);
    await expect(failing({})).rejects.toThrow(`no cluster found: there is no kubeconfig at ${home}`);
    await expect(failing({ [home]: config() }, { context: "x" })).rejects.toThrow(
      "no context x; choose one with --context: one",
    );
    await expect(failing({ [home]: "{}" })).rejects.toThrow("has no current context");
    await expect(failing({ [home]: config({ context: { cluster: "x" } }) })).rejects.toThrow("refers to cluster x");
    await expect(failing({ [home]: config({ context: { user: "x" } }) })).rejects.toThrow("refers to user x");
    await expect(failing({ [home]: "a: b: c" })).rejects.toThrow(`${home} is not YAML`);
    await expect(failing({ [home]: "clusters: 5" })).rejects.toThrow(`${home} is not a kubeconfig: clusters`);
    const cluster = { "certificate-authority": "ca.pem" };
    await expect(failing({ [home]: config({ cluster }) })).rejects.toThrow(
      "/home/me/.kube/ca.pem, which does not exist",
    );
    const proxied = { "proxy-url": "http://proxy" };
    await expect(failing({ [home]: config({ cluster: proxied }) })).rejects.toThrow("proxy-url");
    await expect(failing({ [home]: config({ user: { "auth-provider": { name: "oidc" } } }) })).rejects.toThrow("oidc");
    await expect(failing({ [home]: config({ user: { "client-key-data": "aa" } }) })).rejects.toThrow(
      "must be given together",
    );
  });

  it("reads TLS settings: authority as data or file, server name, no verification", async () => {
    const tlsOf = async (cluster: Record<string, unknown>, files: Record<string, string> = {}) =>
      (await setUp({ files: { ...files, [home]: config({ cluster }) } }).load()).tls;
    expect(await tlsOf({})).toEqual({ ca: undefined, serverName: undefined, skipVerify: false });
    const both = { "certificate-authority-data": base64("DATA"), "certificate-authority": "x" };
    expect((await tlsOf(both)).ca).toBe("DATA");
    expect((await tlsOf({ "certificate-authority": "../ca.pem" }, { "/home/me/ca.pem": "FILE" })).ca).toBe("FILE");
    const odd = { "tls-server-name": "other", "insecure-skip-tls-verify": true };
    expect(await tlsOf(odd)).toMatchObject({ serverName: "other", skipVerify: true });
  });

  it("authenticates by token, name and password, certificate, impersonation", async () => {
    expect((await identityOf({})).headers).toEqual({});
    expect((await identityOf({ token: "t" })).headers).toEqual({ authorization: "Bearer t" });
    expect((await identityOf({ username: "me", password: "ü" })).headers).toEqual({
      authorization: `Basic ${base64("me:ü")}`,
    });
    const inline = { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") };
    expect((await identityOf(inline)).certificate).toEqual({ cert: "CERT", key: "KEY" });
    const pointed = { "client-certificate": "/c", "client-key": "k", token: "t" };
    expect(await identityOf(pointed, { files: { "/c": "CERT", "/home/me/.kube/k": "KEY" } })).toEqual({
      headers: { authorization: "Bearer t" },
      certificate: { cert: "CERT", key: "KEY" },
    });
    expect((await identityOf({ as: "boss", "as-uid": "7", "as-groups": ["a", "b"] })).headers).toEqual({
      "impersonate-user": "boss",
      "impersonate-uid": "7",
      "impersonate-group": ["a", "b"],
    });
  });

  it("reads a token file again once a minute, and at once when the token is rejected", async () => {
    const { clock, files, load } = withUser({ tokenFile: "/token" }, { files: { "/token": "first\n" } });
    const { credentials } = await load();
    const token = async () => (await credentials.current()).headers["authorization"];
    expect(await token()).toBe("Bearer first");
    files["/token"] = "second";
    await clock.advance(59_999);
    expect(await token()).toBe("Bearer first");
    await clock.advance(1);
    expect(await token()).toBe("Bearer second");
    files["/token"] = "third";
    expect(credentials.invalidate(await credentials.current())).toBe(true);
    expect(await token()).toBe("Bearer third");
  });

  it("uses the in-cluster configuration where there is no kubeconfig", async () => {
    const account = "/var/run/secrets/kubernetes.io/serviceaccount";
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const files = { [`${account}/token`]: "pod", [`${account}/ca.crt`]: "CA", [`${account}/namespace`]: "karpenter\n" };
    const here = await setUp({ files, env }).load();
    expect([here.server, here.tls.ca, here.namespace]).toEqual(["https://[fd00::1]:443", "CA", "karpenter"]);
    expect((await here.credentials.current()).headers).toEqual({ authorization: "Bearer pod" });
    expect((await setUp({ files: { ...files, [home]: config() }, env }).load()).server).toBe("https://one.test");
    await expect(setUp({ env }).load()).rejects.toThrow("no cluster found");
  });
});

describe("exec plugins", () => {
  const apiVersion = "client.authentication.k8s.io/v1";
  const credential = (status: unknown) => JSON.stringify({ apiVersion, kind: "ExecCredential", status });
  const exec = { apiVersion, command: "get-token", args: ["--now"], env: [{ name: "A", value: "1" }] };

  it("runs the program and caches its credentials until they expire or are rejected", async () => {
    let calls = 0;
    const run = () => credential({ token: `t${++calls}`, expirationTimestamp: "2026-01-01T01:00:00Z" });
    const { clock, commands, load } = withUser({ exec }, { run });
    const { credentials } = await load();
    const token = async () => (await credentials.current()).headers["authorization"];
    expect(await Promise.all([token(), token(), token()])).toEqual(Array(3).fill("Bearer t1")); // one fetch for all
    await clock.advance(3_599_999);
    expect(await token()).toBe("Bearer t1");
    await clock.advance(1);
    expect(await Promise.all([token(), token()])).toEqual(["Bearer t2", "Bearer t2"]);
    expect(commands[0]).toEqual({
      command: "get-token",
      options: {
        args: ["--now"],
        env: {
          A: "1",
          KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } }),
        },
      },
    });
  });

  it("many rejections of one identity fetch it again once", async () => {
    let calls = 0;
    const { commands, load } = withUser({ exec, as: "boss" }, { run: () => credential({ token: `t${++calls}` }) });
    const { credentials } = await load();
    const rejected = await credentials.current();
    const renewed = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        for (let turn = 0; turn < at; turn++) await Promise.resolve(); // each answer arrives at a time of its own
        expect(credentials.invalidate(rejected)).toBe(true);
        return (await credentials.current()).headers;
      }),
    );
    expect(new Set(renewed.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer t2"]));
    expect(commands).toHaveLength(2);
    expect(credentials.invalidate(await credentials.current())).toBe(true);
    expect((await credentials.current()).headers).toEqual({ authorization: "Bearer t3", "impersonate-user": "boss" });
  });

  it("runs a program that needs neither arguments nor environment", async () => {
    const run = () => credential({ token: "t" });
    const { commands, load } = withUser({ exec: { apiVersion, command: "get-token" } }, { run });
    expect((await (await load()).credentials.current()).headers["authorization"]).toBe("Bearer t");
    const { args, env } = commands[0]?.options ?? {};
    expect([args, Object.keys(env ?? {})]).toEqual([[], ["KUBERNETES_EXEC_INFO"]]);
  });

  it("accepts certificates, passes cluster info when asked to, and finds programs relative to the file", async () => {
    const run = () => credential({ clientCertificateData: "CERT", clientKeyData: "KEY" });
    const user = { exec: { ...exec, command: "./bin/get", provideClusterInfo: true } };
    const { commands, load } = withUser(user, { run });
    const { certificate } = await (await load()).credentials.current();
    expect(certificate).toEqual({ cert: "CERT", key: "KEY" });
    expect(commands[0]?.command).toBe("/home/me/.kube/bin/get");
    expect(JSON.parse(commands[0]?.options.env["KUBERNETES_EXEC_INFO"] ?? "")).toMatchObject({
      spec: { cluster: { server: "https://one.test" } },
    });
  });

  it.each([
    ["nonsense secret", "printed something other than JSON"],
    [JSON.stringify({ kind: "Other" }), "printed no ExecCredential"],
    [credential(undefined), "printed no status"],
    [credential({}), "printed neither a token nor a certificate"],
    [credential({ token: "t", expirationTimestamp: "soon" }), "an invalid expirationTimestamp"],
  ])("refuses %s", async (printed, message) => {
    const failing = identityOf({ exec }, { run: () => printed });
    await expect(failing).rejects.toThrow(message);
    await expect(failing).rejects.not.toThrow("secret");
  });

  it("shows the install hint of a missing program, and retries after a failure", async () => {
    let calls = 0;
    const run = (): string => {
      if (calls++ === 0) throw new Error("spawn get-token ENOENT");
      return credential({ token: "t" });
    };
    const { credentials } = await withUser({ exec: { ...exec, installHint: "apt install it" } }, { run }).load();
    await expect(credentials.current()).rejects.toThrow("spawn get-token ENOENT\napt install it");
    expect((await credentials.current()).headers).toEqual({ authorization: "Bearer t" });
    const old = { exec: { ...exec, apiVersion: "client.authentication.k8s.io/v1alpha1" } };
    await expect(identityOf(old)).rejects.toThrow("unknown version");
  });
});
