import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import type { ResourceType } from "../../src/kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { type TrialCluster, tryCase } from "../explain/cause-trial.ts";
import { causeMakers, generatedCase } from "../explain/generated-causes.ts";
import { isLongTier } from "../runs.ts";
import { describeSandbox, type Embedded } from "./embedded.ts";

const count = Number(process.env["CASES"] ?? (isLongTier ? 1_000 : 8));
const first = Number(process.env["FIRST_CASE"] ?? "0");
const seconds = Number(process.env["SECONDS"] ?? "1500");
/** Only causes whose names have this in them. */
const only = process.env["CAUSE"] ?? "";
const run = promisify(execFile);

/** What a case leaves behind, in the order it is deleted. */
const leftovers: readonly ResourceType[] = [
  ...[builtInTypes.CronJob, builtInTypes.Deployment, builtInTypes.StatefulSet, builtInTypes.DaemonSet],
  ...[builtInTypes.ReplicaSet, builtInTypes.Job, builtInTypes.Pod],
  ...[builtInTypes.PersistentVolumeClaim, builtInTypes.PersistentVolume, builtInTypes.StorageClass],
  ...[builtInTypes.RuntimeClass, karpenterTypes.NodePool, karpenterTypes.NodeOverlay, karpenterTypes.EC2NodeClass],
];

/** The sandbox, empty before each case; commands are run by a shell with the real kubectl. */
function sandboxTrial({ api }: Embedded, env: Readonly<Record<string, string>>): TrialCluster {
  const client = new InProcessClient(api);
  const clock = systemClock();
  const remaining = async (type: ResourceType): Promise<readonly KubeObject[]> => {
    const { items } = await client.list<KubeObject>(type, type.namespaced ? { namespace: "default" } : {});
    return items.filter(({ metadata }) => metadata.name !== "standard" && metadata.name !== "control-plane");
  };
  const until = async (holds: () => Promise<boolean>): Promise<boolean> => {
    for (let tries = 0; tries < 200; tries++) {
      if (await holds()) return true;
      await clock.sleep(100);
    }
    return false;
  };
  const clear = async (): Promise<void> => {
    for (const type of leftovers) {
      for (const { metadata } of await remaining(type)) {
        const key = { name: metadata.name ?? "", ...(type.namespaced && { namespace: "default" }) };
        await client.delete(type, key, { gracePeriodSeconds: 0 }).catch(() => undefined);
      }
    }
    const all = [...leftovers, karpenterTypes.NodeClaim, builtInTypes.Node];
    const isClear = await until(async () =>
      (await Promise.all(all.map(remaining))).every(({ length }) => length === 0),
    );
    if (!isClear) throw new Error("the sandbox does not become empty");
  };
  return {
    client,
    clock,
    create: async (objects) => {
      const { items } = await client.list<KubeObject>(karpenterTypes.KWOKNodeClass);
      const known = new Set(items.map(({ metadata }) => metadata.name));
      await createObjects(
        api,
        objects.filter(({ kind, metadata }) => kind !== "KWOKNodeClass" || !known.has(metadata.name)),
      );
    },
    execute: async (command) => void (await run("bash", ["-o", "pipefail", "-c", command], { env, timeout: 45_000 })),
    until,
    close: clear,
  };
}

describeSandbox("karpenter explain in the sandbox", ({ k, server }) => {
  it(
    "every suggestion, run by a shell as it is printed, makes the pod run",
    async () => {
      const env = k.env();
      const causes = Object.keys(causeMakers).filter((one) => one.includes(only));
      const failures: string[] = [];
      const begun = performance.now();
      let [suggestions, without, cases] = [0, 0, 0];
      for (let index = first; index < first + count && performance.now() - begun < seconds * 1_000; index++) {
        const cause = causes[(isLongTier ? index : index * 7) % causes.length];
        const one = generatedCase(new Random(`case ${index}`), cause);
        const tried = await tryCase(one, async () => sandboxTrial(server(), env)).catch((error: unknown) => ({
          suggestions: 0,
          failures: [`case ${index}: ${cause} (${one.workload.kind}): ${String(error)}`],
        }));
        cases++;
        suggestions += tried.suggestions;
        if (tried.suggestions === 0) without++;
        failures.push(...tried.failures);
        if (isLongTier && cases % 25 === 0)
          process.stdout.write(`${JSON.stringify({ cases, suggestions, failures })}\n`);
      }
      process.stdout.write(`${JSON.stringify({ cases, suggestions, without, failed: failures.length })}\n`);
      expect(failures).toEqual([]);
      expect(suggestions).toBeGreaterThan(0);
    },
    (seconds + 120) * 1_000,
  );
});
