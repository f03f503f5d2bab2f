import { describe, expect, it } from "vitest";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";

const types = Array.from({ length: 144 }, (_, at) =>
  instanceType(`t-${at}`)
    .cpu(1 + (at % 48))
    .memory(`${4 * (1 + (at % 48))}Gi`),
);

const nodes = Array.from({ length: 1_000 }, (_, at) =>
  node(`n-${at}`)
    .pool("default")
    .zone("abc"[at % 3] ?? "a")
    .label("type", "t-3")
    .running(
      ...Array.from({ length: 20 }, (_, k) =>
        pod()
          .cpu("190m")
          .memory("500Mi")
          .label("app", `app-${(at * 7 + k) % 50}`),
      ),
    ),
);

const pools = [nodePool().taint("dedicated=batch:NoSchedule").limit("cpu", "4000"), nodePool("second").zones("a")];

describe("explainPod on a thousand nodes", () => {
  it.each([
    ["taint", pod().cpu("2").on("zone", "b")],
    ["size", pod().cpu("200")],
    ["spread", pod().cpu("2").label("app", "app-1").spread("zone")],
    ["a pod small enough for many nodes", pod().cpu("100m").on("team", "red")],
  ])(
    "answers within 200 ms: %s",
    (_, victim) => {
      const asked = problem()
        .types(...types)
        .pools(...pools)
        .nodes(...nodes)
        .pods(50, pod().cpu("1"))
        .pod(victim.named("victim"))
        .build();
      const times: number[] = [];
      while (times.length < 5 && !times.some((ms) => ms < 200)) {
        const started = process.cpuUsage();
        const explanation = explainPod(asked, "default/victim");
        const { user, system } = process.cpuUsage(started);
        times.push((user + system) / 1_000);
        expect(explanation?.suggestions.length).toBeGreaterThan(0);
        expect(explanation?.nodes.length).toBe(1_000);
      }
      if (process.env["LONG"] === "1") console.info(times.map((one) => one.toFixed(0)).join(" "));
      // CPU time, and the best of five: other processes run as well.
      expect(Math.min(...times)).toBeLessThan(200);
    },
    60_000,
  );
});
