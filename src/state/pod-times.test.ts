import { describe, expect, it } from "vitest";
import { pod } from "../../test/builders/pod.ts";
import { PodTimes } from "./pod-times.ts";

const web = pod().build({ name: "web", uid: "u", at: 0 });
const bound = { ...web, spec: { ...web.spec, nodeName: "n" } };
const get = (times: PodTimes) => times.get("default/web");

describe("times of pods (02 §2.8)", () => {
  it("02:S-45 the first sight counts", () => {
    const times = new PodTimes();
    times.ack(web, 1);
    times.ack(web, 2);
    expect(get(times)).toEqual({ ack: 1 });
  });

  it("02:S-45 the first attempt counts, and is known for it", () => {
    const times = new PodTimes();
    expect([times.markDecided(web, 1), times.markDecided(web, 2)]).toEqual([true, false]);
    expect(get(times).decision).toBe(1);
  });

  it("02:S-45 the first success counts", () => {
    const times = new PodTimes();
    times.markPlaced(web, { now: 1, isPoolHealthy: true });
    times.markPlaced(web, { now: 2, isPoolHealthy: true });
    expect(get(times)).toEqual({ schedulable: 1, healthySchedulable: 1 });
  });

  it("02:S-45 a success in a pool whose nodes do not register is none of the healthy ones", () => {
    const times = new PodTimes();
    times.markPlaced(web, { now: 1, isPoolHealthy: false });
    expect(get(times)).toEqual({ schedulable: 1 });
  });

  it("02:S-45 a pool that falls ill takes the healthy time away", () => {
    const times = new PodTimes();
    times.markPlaced(web, { now: 1, isPoolHealthy: true });
    times.markPlaced(web, { now: 2, isPoolHealthy: false });
    times.markPlaced(web, { now: 3, isPoolHealthy: true });
    expect(get(times)).toEqual({ schedulable: 1, healthySchedulable: 3 });
  });

  it("02:S-45 a refusal takes both times away, and leaves the others", () => {
    const times = new PodTimes();
    times.ack(web, 1);
    times.markDecided(web, 2);
    times.markPlaced(web, { now: 3, isPoolHealthy: true });
    times.markRefused(web);
    expect(get(times)).toEqual({ ack: 1, decision: 2 });
    times.markPlaced(web, { now: 4, isPoolHealthy: false });
    expect(get(times).schedulable).toBe(4);
  });

  it("02:S-45 a pod that sits somewhere already never gets a time of success", () => {
    const times = new PodTimes();
    times.markPlaced(bound, { now: 1, isPoolHealthy: true });
    expect(get(times)).toEqual({});
  });

  it("02:S-9 what is forgotten is gone", () => {
    const times = new PodTimes();
    times.ack(web, 1);
    times.markPlaced(web, { now: 1, isPoolHealthy: true });
    times.forget("default/web");
    expect(get(times)).toEqual({});
  });
});
