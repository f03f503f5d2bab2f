import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { errorMessage } from "../util/error-text.ts";

const text = z.string().nullish();
const flag = z.boolean().nullish();
const names = z.array(z.string()).nullish();

const execSchema = z.looseObject({
  apiVersion: z.string(),
  command: z.string(),
  args: names,
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: text,
  provideClusterInfo: flag,
});

const clusterSchema = z.looseObject({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": flag,
  "tls-server-name": text,
  "proxy-url": text,
});

const userSchema = z.looseObject({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  "as-uid": text,
  "as-groups": names,
  exec: execSchema.nullish(),
  "auth-provider": z.looseObject({ name: z.string() }).nullish(),
});

const contextSchema = z.looseObject({ cluster: z.string(), user: text, namespace: text });

const fileSchema = z.looseObject({
  "current-context": text,
  clusters: z.array(z.looseObject({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: userSchema.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: contextSchema })).nullish(),
});

export type KubeConfigCluster = z.infer<typeof clusterSchema>;
export type KubeConfigUser = z.infer<typeof userSchema>;
type KubeConfigContext = z.infer<typeof contextSchema>;

/** One kubeconfig, or several merged. */
export interface KubeConfigFile {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeConfigCluster>;
  readonly users: ReadonlyMap<string, KubeConfigUser>;
  readonly contexts: ReadonlyMap<string, KubeConfigContext>;
}

/** Reads one file; the paths in it are relative to its folder. */
export function readKubeConfig(content: string, path: string): KubeConfigFile {
  let document: unknown;
  try {
    document = parse(content) ?? {};
  } catch (cause) {
    throw new Error(`${path} is not YAML: ${errorMessage(cause).split("\n", 1)[0]}`, { cause });
  }
  const read = fileSchema.safeParse(document);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${path} is not a kubeconfig: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const from = (relative: string): string => resolve(dirname(path), relative);
  const { clusters, users, contexts, "current-context": current } = read.data;
  return {
    currentContext: current || undefined,
    clusters: firstByName(clusters ?? [], ({ name, cluster }) => [name, withPaths(cluster, clusterPaths, from)]),
    users: firstByName(users ?? [], ({ name, user }) => [name, withUserPaths(user ?? {}, from)]),
    contexts: firstByName(contexts ?? [], ({ name, context }) => [name, context]),
  };
}

/** As kubectl merges: the first file that sets a value wins. */
export function mergeKubeConfigs(files: readonly KubeConfigFile[]): KubeConfigFile {
  return {
    currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: firstByName(
      files.flatMap(({ clusters }) => [...clusters]),
      (entry) => entry,
    ),
    users: firstByName(
      files.flatMap(({ users }) => [...users]),
      (entry) => entry,
    ),
    contexts: firstByName(
      files.flatMap(({ contexts }) => [...contexts]),
      (entry) => entry,
    ),
  };
}

const clusterPaths = ["certificate-authority"] as const;
const userPaths = ["client-certificate", "client-key", "tokenFile"] as const;

function withPaths<T extends object>(record: T, keys: readonly (keyof T)[], from: (path: string) => string): T {
  const absolute = { ...record };
  for (const key of keys) {
    const path = record[key];
    if (typeof path === "string" && path !== "") absolute[key] = from(path) as T[keyof T];
  }
  return absolute;
}

/** A command that contains a slash is a path; others are looked up in PATH. */
function withUserPaths(user: KubeConfigUser, from: (path: string) => string): KubeConfigUser {
  const { exec } = user;
  const command = exec?.command.includes("/") ? from(exec.command) : exec?.command;
  const placed = exec && command !== undefined ? { ...user, exec: { ...exec, command } } : user;
  return withPaths(placed, userPaths, from);
}

function firstByName<T, V>(items: readonly T[], entryOf: (item: T) => readonly [string, V]): ReadonlyMap<string, V> {
  const map = new Map<string, V>();
  for (const [name, value] of items.map(entryOf)) if (!map.has(name)) map.set(name, value);
  return map;
}
