import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { builtCli } from "../cli/built-cli.ts";
import { type Kubectl, kubectlFor } from "./kubectl.ts";

const found = inject("kubectl");
const example = join(import.meta.dirname, "..", "..", "examples", "quick-start.yaml");

describe.skipIf(found.kind === "missing")("karpenter up, as a user starts it", () => {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-sandbox-"));
  const kubeconfig = join(folder, "kubeconfig");
  let program = "";
  let running: Running | undefined;
  let real: Kubectl | undefined;

  beforeAll(async () => {
    program = await builtCli(folder);
  });
  afterAll(async () => {
    real?.close();
    await running?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const k = (): Kubectl => {
    if (found.kind === "missing") throw new Error("no kubectl");
    real ??= kubectlFor({ program: found.program, kubeconfig: readFileSync(kubeconfig, "utf8"), tally: found.tally });
    return real;
  };

  it("05 §5 is up within ten seconds and says what to do next", async () => {
    const startedAt = performance.now();
    running = start([program, "up", "--port", "0", "--speed", "4", "--kubeconfig", kubeconfig], {
      XDG_STATE_HOME: folder,
    });
    const text = await running.until((out) => out.includes("Ctrl-C stops it"));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(text).toContain(`export KUBECONFIG=${kubeconfig}`);
    expect(text).toContain("kubectl apply -f examples/quick-start.yaml");
    expect(await k().ok("get nodes -o name")).toBe("node/control-plane\n");
  });

  it("05 §5 a NodePool and fifty pods: nodes are launched and all run, and the terminal says what happened", async () => {
    expect(await k().ok(`apply -f ${example}`)).toBe(
      "nodepool.karpenter.sh/quick-start created\n" +
        "kwoknodeclass.karpenter.kwok.sh/quick-start created\n" +
        "deployment.apps/quick-start created\n",
    );
    expect(await k().ok("rollout status deployment quick-start --timeout=40s")).toContain("successfully rolled out");
    expect(await k().ok("get deployment quick-start --no-headers")).toMatch(/quick-start +50\/50 +50 +50/);
    expect(await k().ok("get nodepool quick-start --no-headers")).toMatch(/quick-start +quick-start +[1-9]\d* +True/);
    const out = running?.out() ?? "";
    expect(out).toMatch(/50 pods are pending/);
    expect(out).toMatch(/\d+ new nodes for 50 pods/);
    expect(out).toMatch(/launched .*, spot, in test-zone-\w at \$[\d.]+ per hour: quick-start-\w+ for \d+ pods/);
    expect(out).toMatch(/joined: quick-start-/);
    expect(out).toMatch(/ready: quick-start-\w+ \(\d+ s\)/);
    expect(out).not.toContain("error");
  });

  it("05 §5 its log is the log of a pod, and can be followed", async () => {
    const following = k().start("logs -n karpenter deploy/karpenter --tail=-1 -f");
    await following.until((text) => text.includes('"message":"launched nodeclaim"'));
    await following.stop();
    expect(await k().ok("logs -n karpenter karpenter-0 --tail=1")).toMatch(/^\{.*\}\n$/);
    expect(await k().ok("logs -n karpenter deploy/karpenter --tail=-1")).not.toContain('"level":"ERROR"');
  });

  it("05 §5 pods have a log, and refuse to be debugged in words", async () => {
    const log = await k().ok("logs deploy/quick-start --tail=-1");
    expect(log).toMatch(/^container \S+ \(.*\) started on \S+; it is simulated: no process runs in it\n/);
    expect(await k().ok("logs deploy/quick-start --tail=0 --since=1h")).toBe("");
    const following = k().start("logs deploy/quick-start -f");
    await following.until((text) => text.includes("started on"));
    await following.stop();
    const [pod = ""] = (await k().ok("get pods -l app=quick-start -o name")).split("\n");
    expect(await k().fails(`debug ${pod} --image=busybox`)).toContain(
      "ephemeral containers are not supported: pods are simulated, so there is no process to debug",
    );
  });

  it("02:K-12 a node is interrupted, a machine breaks and a stock is emptied by annotations, as the guide says", async () => {
    const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "guides", "sandbox.md"), "utf8");
    const commands = [...guide.matchAll(/^kubectl (annotate (?:node|kwoknodeclass) .*?)(?:\s+#.*)?$/gm)].map(
      ([, command = ""]) => command,
    );
    expect(commands).toHaveLength(5);
    const node =
      (await k().ok("get nodes -l karpenter.sh/nodepool=quick-start -o name")).split("\n")[0]?.slice(5) ?? "";
    for (const command of commands) await k().ok(command.replace("NODE", node));
    await running?.until((out) => /interrupted by the cloud: quick-start-/.test(out));
    await k().ok("rollout status deployment quick-start --timeout=60s");
  });

  it("05 §5 a pod nobody can serve says why, in its events and in the terminal", async () => {
    const limits = { requests: { cpu: "1000" } };
    const overrides = JSON.stringify({ spec: { containers: [{ name: "giant", image: "nginx", resources: limits }] } });
    await k().ok(`run giant --image=nginx --overrides='${overrides}'`);
    await running?.until((out) => out.includes("no node for default/giant: "));
    expect(await k().ok("describe pod giant")).toMatch(/FailedScheduling .* karpenter +Failed to schedule pod, /);
    await k().ok("delete pod giant");
  });

  it("03:D-29b scaled to zero as the README says, all nodes go by themselves", async () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");
    const commands = [...readme.matchAll(/^kubectl ((?:scale|wait) .*?)(?:\s+#.*)?$/gm)].map(
      ([, command = ""]) => command,
    );
    expect(commands.map((command) => command.split(" ")[0])).toEqual(["scale", "wait"]);
    for (const command of commands) await k().ok(command);
    await running?.until((text) => /empty: quick-start-/.test(text) && /deleted: quick-start-/.test(text));
    await k().ok("wait --for=delete nodes -l karpenter.sh/nodepool=quick-start --timeout=40s");
    expect(await k().ok("get nodes -o name")).toBe("node/control-plane\n");
    expect(await k().ok("get nodeclaims")).toBe("");
  }, 120_000);

  it("05 §5 Ctrl-C ends it, soon and well", async () => {
    const startedAt = performance.now();
    expect(await running?.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

interface Running {
  /** All it has printed. */
  out(): string;
  /** Resolves with it once that is enough. */
  until(isEnough: (out: string) => boolean): Promise<string>;
  /** As Ctrl-C does; resolves with the code it ends with. */
  stop(): Promise<number | null>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child: ChildProcess = spawn(process.execPath, [...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return {
    out: () => text,
    until: async (isEnough) => {
      const deadline = performance.now() + 30_000;
      while (!isEnough(text)) {
        if (performance.now() > deadline || child.exitCode !== null) throw new Error(`it printed only:\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return text;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
      return child.exitCode;
    },
  };
}
