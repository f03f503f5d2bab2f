import { describe, expect, it } from "vitest";
import { failure, type Interference, memoryServer, silence } from "../../test/kube/memory-server.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { httpClient } from "./http-client.ts";
import { type LeaderElectionOptions, runWhileLeader } from "./leader-election.ts";
import type { Lease } from "./lease.ts";
import type { Transport } from "./transport.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter";

function setUp(interfere?: Interference) {
  const clock = new VirtualClock();
  const server = memoryServer(interfere);
  const kube = httpClient({ transport: server.transport, clock, userAgent: "test" });
  const log: string[] = [];
  const begin = (
    identity: string,
    { windUpMs = 0, ...options }: Partial<LeaderElectionOptions> & { windUpMs?: number } = {},
  ) => {
    const stop = new AbortController();
    const note = (what: string) => log.push(`${identity} ${what} at ${Math.round(clock.now() / 1000)}`);
    const work = async (signal: AbortSignal): Promise<void> => {
      note("leads");
      await clock.sleep(Number.POSITIVE_INFINITY, signal).catch(() => {});
      await clock.sleep(windUpMs);
      note("has wound up");
    };
    const lease = { namespace: "kube-system", name: "karpenter" };
    const settings = { kube, clock, random: new Random(identity), lease, identity, ...options };
    const end = runWhileLeader(work, settings, stop.signal);
    void end.then(note, note);
    return { stop: () => stop.abort(), end };
  };
  const spec = () => (server.objects.get(path) as Lease | undefined)?.spec;
  return { clock, server, begin, log, spec };
}

describe("runWhileLeader", () => {
  it("03 §6.5 takes a free lease, renews it every 2 s, and releases it when stopped", async () => {
    const { clock, begin, log, spec } = setUp();
    const { stop } = begin("a");
    await clock.advance(61_000);
    expect(spec()).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "1970-01-01T00:00:00.000000Z",
      renewTime: "1970-01-01T00:01:00.000000Z",
      leaseTransitions: 0,
    });
    stop();
    await clock.advance(0);
    expect(spec()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(log).toEqual(["a leads at 0", "a has wound up at 61", "a stopped at 61"]);
    expect(clock.pending).toBe(0);
  });

  it("03 §6.5 waits while another renews, and leads soon after it released the lease", async () => {
    const { clock, begin, log, spec } = setUp();
    const a = begin("a");
    await clock.advance(1_000);
    const seen: string[] = [];
    const b = begin("b", { onNewLeader: (identity) => seen.push(identity) });
    await clock.advance(600_000);
    expect(log).toEqual(["a leads at 0"]);
    a.stop();
    await clock.advance(5_000);
    expect(log.slice(0, 3)).toEqual(["a leads at 0", "a has wound up at 601", "a stopped at 601"]);
    expect(log[3]).toMatch(/^b leads at 60[1-6]$/);
    expect(spec()).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(seen).toEqual(["a", "b"]);
    b.stop();
    await clock.advance(0);
  });

  it("03 §6.5 takes over a lease nobody renewed for its duration, by its own clock", async () => {
    const { clock, server, begin, log, spec } = setUp();
    const metadata = { name: "karpenter", namespace: "kube-system", resourceVersion: "x" };
    const renewTime = "2999-01-01T00:00:00.000000Z"; // the holder's clock differs
    const held = { holderIdentity: "crashed", leaseDurationSeconds: 15, renewTime, leaseTransitions: 4 };
    server.objects.set(path, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: held } as Lease);
    const { stop } = begin("b");
    await clock.advance(14_999);
    expect(log).toEqual([]);
    await clock.advance(5_000);
    expect(log).toHaveLength(1);
    expect(spec()).toMatchObject({ holderIdentity: "b", leaseTransitions: 5 });
    stop();
    await clock.advance(0);
  });

  it.each<[string, Interference]>([
    ["every request fails", () => failure(500, "InternalError")],
    ["every request hangs", silence],
  ])("03 §6.5 stops leading before another may start when %s", async (_, outage) => {
    let isOut = false;
    const { clock, begin, log } = setUp((request) => (isOut ? outage(request) : undefined));
    begin("a", { windUpMs: 60_000 });
    await clock.advance(20_500);
    isOut = true;
    await clock.advance(30_000);
    expect(log).toEqual(["a leads at 0", "a lost at 30"]); // ten seconds after the last renewal, shut down or not
  });

  it("03 §6.5 tolerates failures shorter than the deadline", async () => {
    let isOut = false;
    const errors: unknown[] = [];
    const { clock, begin, log } = setUp(() => (isOut ? failure(503, "ServiceUnavailable") : undefined));
    const { stop } = begin("a", { onError: (error) => errors.push(error) });
    for (let i = 0; i < 20; i++) {
      await clock.advance(5_100);
      isOut = !isOut;
    }
    expect(log).toEqual(["a leads at 0"]);
    expect(errors.length).toBeGreaterThan(10);
    stop();
    await clock.advance(0);
  });

  it("03 §6.5 stops when its deadline passes while another holds the lease, and does not write it", async () => {
    const { clock, server, begin, log, spec } = setUp();
    begin("a");
    await clock.advance(4_000);
    const lease = server.objects.get(path) as Lease;
    const metadata = { ...lease.metadata, resourceVersion: "stolen" };
    server.objects.set(path, { ...lease, metadata, spec: { ...lease.spec, holderIdentity: "thief" } } as Lease);
    await clock.advance(20_000);
    expect(log[1]).toBe("a lost at 14");
    expect(spec()?.holderIdentity).toBe("thief");
  });

  it("keeps the lease while the work shuts down", async () => {
    const { clock, begin, log } = setUp();
    const a = begin("a", { windUpMs: 60_000 });
    await clock.advance(1_000);
    const b = begin("b");
    a.stop();
    await clock.advance(120_000);
    b.stop();
    await clock.advance(0);
    expect(log.slice(0, 3)).toEqual(["a leads at 0", "a has wound up at 61", "a stopped at 61"]);
    expect(log[3]).toMatch(/^b leads at 6[1-6]$/);
  });

  it("03 §6.5 never lets two lead at a time, whatever fails", async () => {
    let terms = 0;
    for (let seed = 0; seed < 20; seed++) {
      const random = new Random(seed);
      let isOut = false;
      const { clock, begin, log } = setUp((request) => {
        if (!isOut || random.int(3) === 0) return undefined;
        return random.int(2) === 0 ? failure(500, "InternalError") : silence(request);
      });
      const candidates = ["a", "b", "c"].map((identity) => begin(identity));
      for (let i = 0; i < 20; i++) {
        isOut = random.int(2) === 0;
        await clock.advance(random.int(30_000));
      }
      isOut = false;
      for (const { stop } of candidates) stop();
      await clock.advance(60_000);

      let leader: string | undefined;
      for (const [who, what] of log.map((entry) => entry.split(" "))) {
        if (what === "leads") {
          expect(leader).toBeUndefined();
          leader = who;
          terms++;
        } else if (who === leader) leader = undefined;
      }
    }
    expect(terms).toBeGreaterThan(30);
  });

  it("03 §6.5 counts from when a renewal was sent, not from when it was answered", async () => {
    const { clock, server, begin, log } = setUp();
    let delayMs = 12_000;
    const transport: Transport = async (request) => {
      const response = await server.transport(request);
      if (request.method !== "GET") await clock.sleep(delayMs);
      return response;
    };
    const { stop } = begin("slow", { kube: httpClient({ transport, clock, userAgent: "test" }) });
    await clock.advance(60_000);
    expect(log).toEqual([]); // the lease had expired when the response arrived
    delayMs = 9_000;
    await clock.advance(40_000);
    expect(log[0]).toMatch(/^slow leads/);
    expect(log[1]).toMatch(/^slow lost/); // one second is left, and renewing takes longer
    stop();
    await clock.advance(60_000);
  });

  it("03 §6.5 a stop while the lease is being taken ends it at once, and the lease is free for others", async () => {
    const { clock, server, begin, log, spec } = setUp();
    const transport: Transport = async (request) => {
      const response = await server.transport(request);
      if (request.method === "POST") await clock.sleep(3_000);
      return response;
    };
    const a = begin("a", { kube: httpClient({ transport, clock, userAgent: "test" }) });
    await clock.advance(1_000);
    expect(spec()?.holderIdentity).toBe("a"); // the server has it, we do not know yet
    a.stop();
    await clock.advance(3_000);
    expect(await a.end).toBe("stopped");
    expect(spec()?.holderIdentity).toBe("");
    expect(log.at(-1)).toBe("a stopped at 3");
    begin("b");
    await clock.advance(2_000);
    expect(log).toContain("b leads at 4");
  });

  it("03 §6.5 a stop while a renewal is under way frees the lease all the same", async () => {
    const { clock, server, begin, log, spec } = setUp();
    const transport: Transport = async (request) => {
      const response = await server.transport(request);
      if (request.method === "PUT") await clock.sleep(1_000); // the server has it, we do not know its version yet
      return response;
    };
    const { stop } = begin("a", { kube: httpClient({ transport, clock, userAgent: "test" }) });
    await clock.advance(2_500);
    stop();
    await clock.advance(3_000);
    expect(spec()?.holderIdentity).toBe("");
    expect(log.at(-1)).toMatch(/^a stopped/);
  });

  it("03 §6.5 a stop while another leads ends the wait at once, and does not touch the lease", async () => {
    const { clock, begin, log, spec } = setUp();
    begin("a");
    await clock.advance(1_000);
    const b = begin("b");
    await clock.advance(60_000);
    const before = spec();
    b.stop();
    await clock.advance(0);
    expect(log).toEqual(["a leads at 0", "b stopped at 61"]);
    expect(spec()).toEqual(before);
  });

  it("ends when the work does, with its error", async () => {
    const { clock, server, spec } = setUp();
    const kube = httpClient({ transport: server.transport, clock, userAgent: "test" });
    const lease = { namespace: "kube-system", name: "karpenter" };
    const options = { kube, clock, random: new Random(1), lease, identity: "a" };
    const { signal } = new AbortController();
    expect(await runWhileLeader(async () => {}, options, signal)).toBe("finished");
    expect(spec()?.holderIdentity).toBe("");
    const failing = runWhileLeader(() => Promise.reject(new Error("broken")), options, signal);
    await expect(failing).rejects.toThrow("broken");
    expect(spec()?.holderIdentity).toBe("");
    const stopped = new AbortController();
    stopped.abort();
    expect(await runWhileLeader(async () => {}, options, stopped.signal)).toBe("stopped");
    expect(clock.pending).toBe(0);
  });
});
