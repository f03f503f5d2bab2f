import { describe, expect, it } from "vitest";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { decisionWithoutPools } from "../../src/core/round/decision-without-pools.ts";
import { selectUsablePools } from "../../src/core/round/usable-pools.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, podsOnNodes } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

const served = [{ group: "karpenter.kwok.sh", kind: "KWOKNodeClass" }];
const ready = { conditions: [{ type: "Ready", status: "True" }] };

function pool(changes: object, spec: object = {}, metadata: object = {}): NodePool {
  const { nodePool: plain } = nodePool().build([]);
  const changed = {
    ...plain,
    ...changes,
    spec: { ...plain.spec, ...spec },
    metadata: { ...plain.metadata, ...metadata },
  };
  return changed as NodePool;
}

const foreign = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const { template } = nodePool().build([]).nodePool.spec;

describe("pools that make nodes for pods", () => {
  it.each([
    ["ready", pool({ status: ready }), undefined],
    ["not ready", pool({ status: { conditions: [{ type: "Ready", status: "False" }] } }), "not-ready"],
    ["of unknown state", pool({}), "not-ready"],
    ["on their way out", pool({ status: ready }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }), "deleting"],
    [
      "another provider's",
      pool({ status: ready }, { template: { spec: { ...template.spec, nodeClassRef: foreign } } }),
      "foreign-class",
    ],
  ])("02:P-33 %s", (_, one, because) => {
    const { usable, unusable } = selectUsablePools([one], served);
    expect([usable.length, unusable[0]?.because]).toEqual([because === undefined ? 1 : 0, because]);
  });

  it("02:Z-1 of a fixed size are passed over, and the others are not", () => {
    const fixed = pool({ status: ready }, { replicas: 3 }, { name: "fixed" });
    const { usable, unusable } = selectUsablePools([fixed, pool({ status: ready })], served);
    expect(usable.map(({ metadata }) => metadata.name)).toEqual(["default"]);
    expect(unusable.map(({ because }) => because)).toEqual(["static"]);
  });

  it("02:Z-1 nodes of a pool of fixed size are used like others", () => {
    expect(podsOnNodes(solved(problem().nodes(node("n1").pool("fixed")).pod(web)))).toEqual({ n1: ["p-0"] });
  });

  it("02:P-32 are none: every pod is refused, whatever nodes there are", () => {
    const built = problem().pools().nodes(node("n1")).pods(2, web).build();
    const decision = decisionWithoutPools(built);
    if (decision === undefined) throw new Error("there is a decision without pools");
    expect(messages(decision)).toEqual({ "p-0": "no dynamic nodepools found", "p-1": "no dynamic nodepools found" });
    expect([codes(decision), decision.placements]).toEqual([{ "p-0": "no-pools", "p-1": "no-pools" }, []]);
    expect(decisionWithoutPools(problem().pod(web).build())).toBeUndefined();
  });

  it("02:P-34 without types contribute nothing, and are told of", () => {
    const decision = solved(problem().pools(nodePool("empty").types(), nodePool("full")).pod(web));
    expect(decision.emptyPools).toEqual([{ pool: "empty", becauseOfMinValues: false }]);
    expect(decision.newNodes.map(({ pool: name }) => name)).toEqual(["full"]);
  });
});
