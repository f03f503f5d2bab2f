import fc from "fast-check";
import type { HashedTemplate } from "../../src/api/hash/node-pool-hash.ts";

/** A NodePool as the oracle's `hash` reads it: a name, and a template of which only the hashed part varies. */
export interface PoolToHash {
  readonly apiVersion: "karpenter.sh/v1";
  readonly kind: "NodePool";
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: HashedTemplate };
}

const text = fc.oneof(
  fc.constantFrom("", "a", "b", "team", "example.com/team", "ä€", "𐍈", "<&>"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const texts = fc.dictionary(text, text, { maxKeys: 4 });
const time = fc
  .tuple(
    fc.date({ min: new Date("1960-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }),
    fc.constantFrom("", ".5", ".000000001", ".123456789"),
    fc.constantFrom("Z", "+02:00", "-07:30"),
  )
  .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);
const taint = fc.record(
  {
    key: text,
    value: text,
    effect: fc.constantFrom("NoSchedule", "NoExecute", "PreferNoSchedule", ""),
    timeAdded: time,
  },
  { requiredKeys: ["key"] },
);
// Short lists, so that equal taints meet: upstream lets an item that is there twice cancel out.
const taints = fc.array(fc.oneof(fc.constantFrom({ key: "a" }, { key: "b", effect: "NoSchedule" }), taint), {
  maxLength: 4,
});
const duration = fc.oneof(
  fc.constantFrom("0s", "0h", "60m", "1h", "1h0m0s", "720h", "43200m", "2540000h"),
  fc.tuple(fc.nat(100_000), fc.constantFrom("s", "m", "h")).map(([count, unit]) => `${count}${unit}`),
);
const template = fc.record(
  {
    metadata: fc.record({ labels: texts, annotations: texts }, { requiredKeys: [] }),
    spec: fc.record(
      {
        taints,
        startupTaints: taints,
        nodeClassRef: fc.record({ group: text, kind: text, name: text }),
        terminationGracePeriod: duration,
        expireAfter: fc.oneof(fc.constant("Never"), duration),
        requirements: fc.constantFrom([], [{ key: "a", operator: "Exists" }]),
      },
      { requiredKeys: ["nodeClassRef", "expireAfter"] }, // an API server fills in the latter, and so does the oracle,
    ),
  },
  { requiredKeys: ["spec"] },
);

/** Templates of every shape: fields unset, empty and zero, lists with equal items, texts beyond ASCII. */
export const poolsToHash = (count: number): readonly PoolToHash[] =>
  fc.sample(template, count).map((drawn, at) => ({
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: `pool-${at}` },
    spec: { template: drawn },
  }));
