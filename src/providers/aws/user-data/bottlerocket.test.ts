import fc from "fast-check";
import { parse, stringify, type TomlTable } from "smol-toml";
import { describe, expect, it } from "vitest";
import { bottlerocketUserData } from "./bottlerocket.ts";

const value = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.double({ noNaN: true }),
  fc.array(fc.string(), { maxLength: 3 }),
);
const table = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(value, fc.dictionary(fc.string(), value)), {
  maxKeys: 5,
  noNullPrototype: true,
});

function settingsFor(custom: string) {
  const result = bottlerocketUserData({
    amiFamily: "Bottlerocket",
    cluster: { name: "prod", endpoint: "https://k" },
    custom,
    kubelet: {},
    managed: { maxPods: 29 },
    labels: { app: "web" },
    taints: [],
  });
  if (result.kind === "error") throw new Error(result.message);
  return parse(result.text, { integersAsBigInt: true })["settings"] as TomlTable;
}

describe("Bottlerocket's user data", () => {
  it("04 §1.9 whatever the user sets outside of Kubernetes is written again as it was", () => {
    fc.assert(
      fc.property(table, table, (ntp, network) => {
        const custom = stringify({ settings: { ntp, network } }, { numbersAsFloat: true });
        const { kubernetes, ...others } = settingsFor(custom);
        expect(others).toEqual(parse(custom, { integersAsBigInt: true })["settings"]);
        expect(kubernetes).toEqual({
          "api-server": "https://k",
          "cluster-name": "prod",
          "max-pods": 29n,
          "node-labels": { app: "web" },
        });
      }),
    );
  });
});
