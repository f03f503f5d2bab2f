import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** What loading a kubeconfig and running credential plugins need of the host. */
export interface HostEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** Undefined: no such file. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  /** Runs a program and returns its output; rejects when it fails. */
  readonly runCommand: (command: string, options: CommandOptions) => Promise<string>;
}

export interface CommandOptions {
  readonly args: readonly string[];
  /** Added to the environment variables. */
  readonly env: Readonly<Record<string, string>>;
}

const defaultPluginTimeoutMs = 60_000;

export interface SystemHostOptions extends Pick<HostEnvironment, "env" | "homeDir"> {
  /** How long a credential plugin may take; a minute by default. */
  readonly pluginTimeoutMs?: number | undefined;
}

/** The host this process runs on. */
export function systemHostEnvironment(host: SystemHostOptions): HostEnvironment {
  const { env, homeDir, pluginTimeoutMs = defaultPluginTimeoutMs } = host;
  return {
    env,
    homeDir,
    readFile: async (path) => {
      try {
        return await readFile(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    runCommand: async (command, options) => {
      const settings = { env: { ...env, ...options.env }, timeout: pluginTimeoutMs, maxBuffer: 2 ** 20 };
      const { stdout } = await promisify(execFile)(command, options.args, settings);
      return stdout;
    },
  };
}
