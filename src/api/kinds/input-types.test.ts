import { expect, it } from "vitest";
import { Admission } from "../admission.ts";
import type { NodePool, NodePoolInput } from "./node-pool.ts";

const ref = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

it("01 §1.2 a NodePool is written without the fields that have defaults, and admission fills them in", () => {
  const written = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "a" },
    spec: { template: { spec: { nodeClassRef: ref, requirements: [] } } },
  } satisfies NodePoolInput;
  // @ts-expect-error -- a stored pool always has its defaults
  const stored: NodePool = written;
  const admitted = new Admission("all").admit(stored);
  expect(admitted).toMatchObject({
    object: {
      spec: {
        disruption: { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized" },
        template: { spec: { expireAfter: "720h" } },
      },
    },
  });
});
