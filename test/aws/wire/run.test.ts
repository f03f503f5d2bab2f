import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import { type ControlPlane, startControlPlane } from "../../../src/control-plane/control-plane.ts";
import { InProcessClient } from "../../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../../src/control-plane/install-crds.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { builtCli } from "../../cli/built-cli.ts";
import { eventually } from "../../cluster/eventually.ts";
import { describeOnMoto, sdkEnvironment } from "./shared.ts";
import { nodeClass, publishImages, publishPrices } from "./story.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-aws-run-"));
const kubeconfig = join(folder, "kubeconfig");
let program = "";
let plane: ControlPlane;

beforeAll(async () => {
  const where = { host: "127.0.0.1", port: 0, isPlainHttp: true, folder, token: "token" };
  const options = { realClock: systemClock(), ...where, speed: 1, nodes: 0, onInternalError: () => {} };
  [program, plane] = await Promise.all([builtCli(folder), startControlPlane(options)]);
  await installCrds(plane.api, "all").catch(() => {}); // it may have them already
  writeFileSync(kubeconfig, plane.kubeconfig);
}, 120_000);

afterAll(async () => {
  await plane.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `karpenter run` in a process of its own, with all it says. */
function karpenterRun(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const loopback = ["--listen", "127.0.0.1", "--metrics-port", "0", "--health-probe-port", "0"];
  const own = ["--kubeconfig", kubeconfig, "--provider", "aws", "--disable-leader-election", ...loopback];
  const child: ChildProcess = spawn(process.execPath, [program, "run", ...own, ...args], {
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout?.on("data", (data: Buffer) => {
    said.out += data.toString();
  });
  child.stderr?.on("data", (data: Buffer) => {
    said.err += data.toString();
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { child, said, ended };
}

/** Mebibytes of memory a process holds. */
function residentMb({ pid }: ChildProcess): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kib) * 1_024) / 1e6;
}

describeOnMoto("karpenter run --provider aws", (account) => {
  it("04 §5.2 starts against the account, makes a class ready, rests below 200 MB, and ends when asked", {
    timeout: 400_000,
  }, async () => {
    const { shim, cluster, region } = account();
    publishImages({ account: account() });
    publishPrices({ account: account() });
    const flags = [
      "--cluster-name",
      cluster,
      "--interruption-queue",
      cluster,
      "--cluster-ca-bundle",
      "Y2E=",
      "--eks-control-plane",
    ];
    const { child, said, ended } = karpenterRun(sdkEnvironment(shim.url), ...flags);
    await eventually(
      `it starts: ${said.out}${said.err}`,
      async () => (said.out.includes('"started"') ? true : undefined),
      {
        timeoutMs: 200_000, // moto takes long for the list of all types, which is read twice
      },
    );
    const client = new InProcessClient(plane.api);
    await client.create(karpenterTypes.EC2NodeClass, nodeClass(cluster));
    await eventually("the class is ready", async () => {
      const found = await client.get(karpenterTypes.EC2NodeClass, { name: "default" });
      return getCondition(found as never, "Ready")?.status === "True" ? true : undefined;
    });
    // What the start left behind is collected half a minute after it.
    const memory = await eventually(
      "it rests below 200 MB",
      async () => (residentMb(child) < 200 ? residentMb(child) : undefined),
      {
        timeoutMs: 60_000,
        everyMs: 2_000,
      },
    );
    process.stdout.write(`\nkarpenter run --provider aws at rest: ${memory.toFixed(0)} MB\n`);
    expect(said.out).toContain(region);
    expect(said.err).toBe("");
    await client.delete(karpenterTypes.EC2NodeClass, { name: "default" });
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  it("04 §5.2 says what to mend and exits when it cannot start", { timeout: 120_000 }, async () => {
    const { shim, cluster } = account();
    const env = sdkEnvironment(shim.url);
    const nameless = karpenterRun(env);
    expect([await nameless.ended, nameless.said.err]).toEqual([
      2,
      expect.stringContaining("--cluster-name (CLUSTER_NAME) is missing"),
    ]);
    const unknown = karpenterRun(env, "--cluster-name", "nothing");
    expect([await unknown.ended, unknown.said.out]).toEqual([1, expect.stringContaining("set --cluster-endpoint")]);
    const message = "You are not authorized to perform this operation.";
    shim.tables.fail({ action: "ec2:DescribeInstanceTypes", code: "UnauthorizedOperation", message, status: 403 });
    const refused = karpenterRun(env, "--cluster-name", cluster);
    expect([await refused.ended, refused.said.out]).toEqual([
      1,
      expect.stringContaining("check the region, the credentials"),
    ]);
  });
});
