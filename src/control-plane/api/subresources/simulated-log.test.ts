import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../api/object.ts";
import { VirtualClock } from "../../../util/virtual-clock.ts";
import type { LogRequest } from "./log.ts";
import { simulatedLog } from "./simulated-log.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

function podWith(status: object, spec: object = { nodeName: "node-1" }): KubeObject {
  const metadata = { name: "web", namespace: "default" };
  const containerStatuses = [{ name: "c", image: "nginx", restartCount: 0, ...status }];
  return { apiVersion: "v1", kind: "Pod", metadata, spec, status: { containerStatuses } };
}

const running = podWith({ state: { running: { startedAt: "2026-01-01T00:00:00Z" } } });
const exit = { startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:01:30Z", exitCode: 3 };

async function logOf(pod: KubeObject, request: LogRequest, atSeconds = 150): Promise<readonly string[]> {
  const clock = new VirtualClock({ startAt: start + atSeconds * 1_000 });
  const lines: string[] = [];
  for await (const line of simulatedLog(pod, { container: "c", ...request }, { clock, current: () => pod }))
    lines.push(line.trimEnd());
  return lines;
}

describe("logs of simulated containers", () => {
  it("05 §1 say when a container started and that it runs", async () => {
    expect(await logOf(running, {})).toEqual([
      "container c (nginx) started on node-1; it is simulated: no process runs in it",
      "container c has run for 1m0s",
      "container c has run for 2m0s",
    ]);
  });

  it("05 §1 answer --tail, --since, --since-time and --timestamps", async () => {
    expect(await logOf(running, { tailLines: 1 })).toEqual(["container c has run for 2m0s"]);
    expect(await logOf(running, { sinceSeconds: 100 })).toHaveLength(2);
    expect(await logOf(running, { sinceTime: start + 61_000 })).toHaveLength(1);
    expect(await logOf(running, { tailLines: 1, timestamps: true })).toEqual([
      "2026-01-01T00:02:00.000Z container c has run for 2m0s",
    ]);
  });

  it("05 §1 say how a container ended, also the one before a restart", async () => {
    const ended = "container c exited with code 3 after 1m30s";
    expect((await logOf(podWith({ state: { terminated: exit } }), {})).at(-1)).toBe(ended);
    const restarted = podWith({
      state: { running: { startedAt: "2026-01-01T00:02:00Z" } },
      lastState: { terminated: exit },
    });
    expect((await logOf(restarted, { previous: true })).at(-1)).toBe(ended);
    expect(await logOf(restarted, {})).toHaveLength(1);
  });

  it("05 §1 of a container that has not started are refused as a kubelet does; a pod without a node has none", async () => {
    const waiting = podWith({ state: { waiting: { reason: "ContainerCreating" } } });
    await expect(logOf(waiting, {})).rejects.toThrow(
      'container "c" in pod "web" is waiting to start: ContainerCreating',
    );
    await expect(logOf(running, { previous: true })).rejects.toThrow("previous terminated container");
    expect(await logOf(podWith({}, {}), {})).toEqual([]);
  });

  it("05 §1 can be followed until the container ends", async () => {
    const clock = new VirtualClock({ startAt: start + 10_000 });
    let pod: KubeObject = running;
    const lines: string[] = [];
    const request = { container: "c", follow: true };
    const reading = (async () => {
      for await (const line of simulatedLog(pod, request, { clock, current: () => pod })) lines.push(line.trimEnd());
    })();
    await clock.advance(65_000);
    expect(lines).toEqual([expect.stringContaining("started on node-1"), "container c has run for 1m0s"]);
    pod = podWith({ state: { terminated: exit } });
    await clock.advance(20_000);
    await reading;
    expect(lines.at(-1)).toBe("container c exited with code 3 after 1m30s");
  });
});
