import { setImmediate } from "node:timers/promises";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { lastScroll, renderTopFrame, type ScreenSize } from "../../src/cli/top/render-top-frame.ts";
import { enterScreen, leaveScreen, type Terminal } from "../../src/cli/top/terminal.ts";
import { type TopView, topTotals } from "../../src/cli/top/top-report.ts";
import type { TopRow } from "../../src/cli/top/top-rows.ts";
import { afterKey, terminalKeys } from "../../src/cli/top/top-screen-state.ts";
import { topCommand } from "../../src/cli/top-command.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { fakeIo } from "../conversion/fake-io.ts";
import { apiWorld } from "../world/api-world.ts";

function row(name: string, about: Partial<TopRow> = {}): TopRow {
  return {
    name,
    pool: "default",
    instanceType: "m5.xlarge",
    capacityType: "on-demand",
    zone: "us-east-1a",
    status: "Ready",
    createdMs: 0,
    pods: 3,
    maxPods: 58,
    requested: { cpu: 2, memory: 2 ** 33, gpu: 0 },
    allocatable: { cpu: 4, memory: 2 ** 34, gpu: 0 },
    pricePerHour: 0.192,
    reason: { goes: false, text: "no instance type for its pods is cheaper than $0.1920/hour" },
    ...about,
  };
}

function viewOf(rows: readonly TopRow[], notes: readonly string[] = []): TopView {
  return { rows, totals: topTotals(rows, { pods: [] }), nowMs: 3_600_000, notes };
}

const manyRows = (count: number): readonly TopRow[] =>
  Array.from({ length: count }, (_, index) => row(`node-${String(index).padStart(5, "0")}`));
const start = { scroll: 0, sort: "name" } as const;

function frame(view: TopView, size: ScreenSize, scroll = 0, status = ""): readonly string[] {
  return renderTopFrame(view, { size, state: { ...start, scroll }, color: false, status });
}

describe("a frame of top", () => {
  it("has sums with bars, a row for each node, and the keys", () => {
    const view = viewOf([row("node-a"), row("node-b", { status: "Deleting", pricePerHour: undefined })]);
    expect(frame(view, { columns: 130, rows: 12 })).toEqual(
      [
        "2 nodes, 6 pods on them, 0 pending; $0.1920/hour, $140.16/month, without 1 node of unknown price",
        "cpu    ████████████████████░░░░░░░░░░░░░░░░░░░░  50%  4 of 8 requested",
        "memory ████████████████████░░░░░░░░░░░░░░░░░░░░  50%  16.0Gi of 32.0Gi requested",
        "",
        "NODE    POOL     TYPE       CAPACITY   STATUS           CPU      MEMORY  PODS  AGE  $/HOUR  WHY IT STAYS OR GOES              ",
        "node-a  default  m5.xlarge  on-demand  Ready     ███░░  50%  ███░░  50%  3/58  60m  0.1920  no instance type for its pods is chea…",
        "node-b  default  m5.xlarge  on-demand  Deleting  ███░░  50%  ███░░  50%  3/58  60m       -  no instance type for its pods is chea…",
        "",
        "",
        "",
        "",
        "1-2 of 2  q quit  j/k scroll  sort by name: n name  o pool  c cpu  m memory  d pods  a age  p price",
      ].map((line, index) => (index === 4 ? expect.stringContaining(line.trimEnd()) : line)),
    );
  });

  it("never has more lines or characters than the screen, however small it is or long a name", () => {
    const rows = [
      row("x".repeat(500)),
      row("node-b", { pool: "p".repeat(300), reason: { goes: true, text: "y\n".repeat(400) } }),
    ];
    const gpu = row("gpu", { allocatable: { cpu: 4, memory: 2 ** 34, gpu: 8 } });
    for (const view of [viewOf([]), viewOf(rows, ["n".repeat(300)]), viewOf([...rows, gpu]), viewOf(manyRows(100))]) {
      for (const columns of [0, 1, 2, 5, 10, 20, 40, 41, 79, 80, 119, 120, 200, 400]) {
        for (const height of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 24, 100]) {
          const lines = frame(view, { columns, rows: height }, 7, "s".repeat(300));
          expect(lines.length).toBeLessThanOrEqual(height);
          expect(Math.max(0, ...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
          expect(lines.join("")).not.toMatch(/[\n\r]/);
        }
      }
    }
  });

  it("keeps name, use and price on 40 columns", () => {
    const [title, first] = frame(viewOf([row("a-node-with-a-long-name")]), { columns: 40, rows: 9 }).slice(2);
    expect(title).toMatch(/^NODE +CPU +MEMORY +PODS +\$\/HOUR$/);
    expect(first).toMatch(/^a-node-wi\S*… +50% +50% +3\/58 +0\.1920$/);
  });

  it("says that there are no nodes", () => {
    expect(frame(viewOf([]), { columns: 80, rows: 10 }).at(-1)).toMatch(/^no nodes/);
  });

  it("shows the status before notes", () => {
    const size = { columns: 80, rows: 10 };
    expect(frame(viewOf([], ["a note"]), size).at(-2)).toBe("a note");
    expect(frame(viewOf([], ["a note"]), size, 0, "not up to date").at(-2)).toBe("not up to date");
  });

  it("renders 10,000 nodes at once, and scrolls to the last", () => {
    const view = viewOf(manyRows(10_000));
    const size = { columns: 160, rows: 50 };
    frame(view, size);
    const startedAt = performance.now();
    const lines = frame(view, size, lastScroll(view, size));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(lines.join("\n")).toContain("node-09999");
    expect(lines.at(-1)).toContain("of 10000");
    expect(frame(view, size, 1_000_000)).toEqual(lines); // beyond the end is the end
  });
});

describe("keys of top", () => {
  const limits = { pageRows: 10, lastScroll: 25 };
  const pressed = (scroll: number, ...keys: readonly string[]) =>
    keys.reduce<ReturnType<typeof afterKey>>(
      (state, key) => (state === "quit" ? state : afterKey(state, key, limits)),
      { ...start, scroll },
    );

  it("reads escape sequences as one key each", () => {
    expect(terminalKeys("j\u001b[A\u001bOB\u001b[6~q")).toEqual(["j", "\u001b[A", "\u001bOB", "\u001b[6~", "q"]);
    expect(terminalKeys("")).toEqual([]);
  });

  it("scrolls within the rows, sorts from the top, and quits", () => {
    expect(pressed(0, "k")).toEqual({ ...start, scroll: 0 });
    expect(pressed(0, "j", "\u001b[B")).toEqual({ ...start, scroll: 2 });
    expect(pressed(0, " ", " ", " ")).toEqual({ ...start, scroll: 25 });
    expect(pressed(0, "G", "k")).toEqual({ ...start, scroll: 24 });
    expect(pressed(99, "k")).toEqual({ ...start, scroll: 24 }); // rows went away meanwhile
    expect(pressed(20, "p")).toEqual({ sort: "price", scroll: 0 });
    expect(pressed(3, "x", "\u001b")).toEqual({ ...start, scroll: 3 });
    for (const key of ["q", "\u0003"]) expect(pressed(3, key)).toBe("quit");
  });
});

describe("karpenter top in a terminal", () => {
  const node = (name: string) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110" }, conditions: [{ type: "Ready", status: "True" }] },
  });
  const pod = (name: string, nodeName: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName, containers: [{ name: "app", image: "app", resources: { requests: { cpu: "1" } } }] },
  });

  function fakeTerminal() {
    const written: string[] = [];
    const handlers: { input?: (data: string) => void; resize?: () => void; stop?: () => void } = {};
    let isClosed = false;
    const size = { columns: 100, rows: 20 };
    const terminal: Terminal = {
      size: () => size,
      write: (text) => void written.push(text),
      onInput: (handle) => void Object.assign(handlers, { input: handle }),
      onResize: (handle) => void Object.assign(handlers, { resize: handle }),
      onStop: (handle) => void Object.assign(handlers, { stop: handle }),
      close: () => {
        isClosed = true;
      },
    };
    return { terminal, written, handlers, size, isClosed: () => isClosed };
  }

  async function running() {
    const world = apiWorld();
    await world.create(node("node-a"), pod("one", "node-a"));
    const screen = fakeTerminal();
    const io = fakeIo({ isTty: true });
    let isOpen = true;
    const { client: kube, clock } = world;
    const close = (): void => {
      isOpen = false;
    };
    const connect = async () => ({ kube, clock, server: "test", close });
    const command = topCommand(io, { connect, terminal: screen.terminal });
    const done = new Command("karpenter").addCommand(command).parseAsync(["top"], { from: "user" });
    /** Lets time pass until the last frame shows it. */
    const until = async (shown: (frame: string) => boolean): Promise<string> => {
      const endsAt = performance.now() + 30_000; // modules are loaded in real time
      while (performance.now() < endsAt && !shown(screen.written.at(-1) ?? "")) {
        await world.pass(0.1);
        await setImmediate();
      }
      return screen.written.at(-1) ?? "";
    };
    return { world, screen, io, done, until, isOpen: () => isOpen };
  }

  it("draws what watches bring, scrolls and sorts, and gives the terminal back when the user quits", async () => {
    const { world, screen, io, done, until, isOpen } = await running();
    expect(await until((text) => text.includes("node-a"))).toContain("1 node, 1 pod on it, 0 pending");
    expect(screen.written[0]).toBe(enterScreen);
    expect(await until((text) => text.includes("Karpenter does not"))).toContain("Karpenter does not manage");
    await world.create(node("node-b"), pod("two", "node-b"), pod("three", "node-b"));
    const both = await until((text) => text.includes("node-b"));
    expect(both).toContain("2 nodes, 3 pods on them");
    expect(both.indexOf("node-a")).toBeLessThan(both.indexOf("node-b"));
    screen.handlers.input?.("c");
    const sorted = screen.written.at(-1) ?? "";
    expect(sorted.indexOf("node-b")).toBeLessThan(sorted.indexOf("node-a")); // it is fuller
    Object.assign(screen.size, { columns: 40, rows: 8 });
    screen.handlers.resize?.();
    expect(screen.written.at(-1)).not.toContain("Karpenter does not");
    await world.client.delete(builtInTypes.Node, { name: "node-a" });
    expect(await until((text) => !text.includes("node-a"))).toContain("1 node,");
    screen.handlers.input?.("q");
    await done;
    expect(screen.written.at(-1)).toBe(leaveScreen);
    expect({ code: io.code(), closed: screen.isClosed(), open: isOpen() }).toEqual({
      code: undefined,
      closed: true,
      open: false,
    });
  });

  it("stops when the process is asked to", async () => {
    const { screen, done, until } = await running();
    await until((text) => text.includes("node-a"));
    screen.handlers.stop?.();
    await done;
    expect(screen.written.at(-1)).toBe(leaveScreen);
  });

  /** A terminal on a cluster whose lists are answered by this function. */
  function onCluster(list: () => Promise<never>) {
    const screen = fakeTerminal();
    const io = fakeIo({ isTty: true });
    const { client, clock } = apiWorld();
    const kube = { ...client, list, watch: client.watch.bind(client) } as unknown as typeof client;
    const connect = async () => ({ kube, clock, server: "test", close: () => undefined });
    const command = topCommand(io, { connect, terminal: screen.terminal });
    const done = new Command("karpenter").addCommand(command).parseAsync(["top"], { from: "user" });
    return { screen, io, done };
  }

  it("has a screen and keys from the start, while a large cluster is still being read", async () => {
    const { screen, io, done } = onCluster(() => new Promise<never>(() => undefined));
    const endsAt = performance.now() + 30_000; // modules are loaded in real time
    while (screen.written.length < 2 && performance.now() < endsAt) await setImmediate();
    expect(screen.written[0]).toBe(enterScreen);
    expect(screen.written[1]).toContain("reading the cluster");
    screen.handlers.input?.("q");
    await done;
    expect(screen.written.at(-1)).toBe(leaveScreen);
    expect([io.code(), io.err()]).toEqual([undefined, ""]);
  });

  it("gives the terminal back before it says that the cluster cannot be read", async () => {
    const { screen, io, done } = onCluster(() => Promise.reject(new Error("it is on fire")));
    await done;
    expect(screen.written.at(-1)).toBe(leaveScreen);
    expect(screen.isClosed()).toBe(true);
    expect(io.code()).toBe(1);
    expect(io.err()).toContain("it is on fire");
  });

  it("prints a table with --once", async () => {
    const world = apiWorld();
    await world.create<KubeObject>(node("node-a"));
    const screen = fakeTerminal();
    const io = fakeIo({ isTty: true });
    const connect = async () => ({ kube: world.client, clock: world.clock, server: "test", close: () => undefined });
    const command = topCommand(io, { connect, terminal: screen.terminal });
    await new Command("karpenter").addCommand(command).parseAsync(["top", "--once"], { from: "user" });
    expect(screen.written).toEqual([]);
    expect(io.out()).toContain("node-a");
  });
});
