import { describe, expect, it } from "vitest";
import {
  ec2NodeClassHashVersion,
  hashAnnotationKeys,
  hashUpdatesFor,
  isDriftedByHash,
  nodePoolHashVersion,
} from "./hash-drift.ts";

const stamp = hashAnnotationKeys.nodePool;
const stamped = (hash: string, version: string) => ({ [stamp.hash]: hash, [stamp.version]: version });
const current = nodePoolHashVersion;
/** What we wrote before our bits were upstream's. */
const former = "ts-v1";

describe("isDriftedByHash", () => {
  const full = stamped("1", current);

  it("01 §6.3 drifts when hashes differ under one version", () => {
    expect(isDriftedByHash(stamp, { claim: full, owner: stamped("2", current) })).toBe(true);
    expect(isDriftedByHash(stamp, { claim: full, owner: full })).toBe(false);
  });

  it("01 §6.3 hashes of two versions say nothing", () => {
    expect(isDriftedByHash(stamp, { claim: stamped("1", former), owner: stamped("2", current) })).toBe(false);
  });

  it.each([stamp.hash, stamp.version])("01 §6.3 without %s on either side there is no drift", (key) => {
    const { [key]: _, ...partial } = full;
    expect(isDriftedByHash(stamp, { claim: partial, owner: stamped("2", current) })).toBe(false);
    expect(isDriftedByHash(stamp, { claim: stamped("2", current), owner: partial })).toBe(false);
    expect(isDriftedByHash(stamp, { claim: undefined, owner: full })).toBe(false);
  });

  it("01 §6.2 an EC2NodeClass has annotations of its own", () => {
    expect(isDriftedByHash(hashAnnotationKeys.ec2NodeClass, { claim: full, owner: stamped("2", current) })).toBe(false);
  });
});

describe("restamping", () => {
  const claims = [
    { name: "old", annotations: stamped("7", former), isDrifted: false },
    { name: "drifted", annotations: stamped("8", former), isDrifted: true },
    { name: "current", annotations: stamped("9", current), isDrifted: false },
    { name: "bare", isDrifted: false },
  ];

  it("01 §9.18 our versions are upstream's, because our bits are", () => {
    expect([nodePoolHashVersion, ec2NodeClassHashVersion]).toEqual(["v3", "v6"]);
  });

  it("01 §6.3 a static change stamps the owner alone: its claims keep the hash they were made with", () => {
    expect(hashUpdatesFor(stamp, { hash: "2", version: current, owner: stamped("1", current), claims })).toEqual({
      claims: [],
      owner: stamped("2", current),
    });
  });

  it("01 §6.3 nothing is written when nothing changed", () => {
    expect(hashUpdatesFor(stamp, { hash: "1", version: current, owner: stamped("1", current), claims })).toEqual({
      claims: [],
      owner: undefined,
    });
  });

  it("01 §6.3 a new version walks the claims; drifted ones keep their hash, current ones are left alone", () => {
    expect(hashUpdatesFor(stamp, { hash: "2", version: current, owner: stamped("1", former), claims })).toEqual({
      claims: [
        { name: "old", annotations: stamped("2", current) },
        { name: "drifted", annotations: { [stamp.version]: current } },
        { name: "bare", annotations: stamped("2", current) },
      ],
      owner: stamped("2", current),
    });
  });

  it("01 §6.3 a cluster with our former hashes does not roll: only what was drifted stays so", () => {
    const owner = stamped("111", former);
    const theirs = claims.filter(({ name }) => name !== "current");
    const done = hashUpdatesFor(stamp, { hash: "2", version: current, owner, claims: theirs });
    const drifted = theirs.filter(({ name, annotations }) => {
      const written = done.claims.find((one) => one.name === name)?.annotations;
      return isDriftedByHash(stamp, { claim: { ...annotations, ...written }, owner: { ...owner, ...done.owner } });
    });
    expect(drifted.map(({ name }) => name)).toEqual(["drifted"]);
  });

  it("01 §6.3 running it again writes nothing", () => {
    const first = hashUpdatesFor(stamp, { hash: "2", version: current, owner: undefined, claims: [] });
    expect(hashUpdatesFor(stamp, { hash: "2", version: current, owner: first.owner, claims })).toEqual({
      claims: [],
      owner: undefined,
    });
  });
});
