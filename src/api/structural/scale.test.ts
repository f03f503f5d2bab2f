import { expect, it } from "vitest";
import { scaleProblems } from "./scale.ts";

const paths = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" };

it.each<[object: unknown, found: readonly string[]]>([
  [{}, []],
  [{ spec: { replicas: 0 }, status: { nodes: 2147483647 } }, []],
  [{ spec: { replicas: 2147483648 }, status: { nodes: -1 } }, ["spec.replicas: too-large", "status.nodes: too-small"]],
  [{ spec: { replicas: "many" }, status: "odd" }, []], // the schema's business
])("01 §1.1 the scale subresource of %j", (object, found) => {
  expect(scaleProblems(object, paths).map(({ path, code }) => `${path.join(".")}: ${code}`)).toEqual(found);
  expect(scaleProblems(object, undefined)).toEqual([]);
});
