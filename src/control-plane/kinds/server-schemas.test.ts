import { expect, it } from "vitest";
import { Random } from "../../util/random.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { ApiServer } from "../api/server.ts";
import { installCrds } from "../install-crds.ts";
import { ServerSchemas } from "./server-schemas.ts";

it("05:CP-S3 servers that share schemas have definitions and objects of their own", async () => {
  const schemas = new ServerSchemas();
  const server = () => new ApiServer({ clock: new VirtualClock(), random: new Random("schemas"), schemas });
  const [one, two] = [server(), server()];
  await installCrds(one, "kwok");
  const pools = { group: "karpenter.sh", version: "v1", plural: "nodepools" };
  const claim = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "c" }, spec: {} };
  const claims = one.kinds.get({ ...pools, plural: "nodeclaims" });
  await expect(one.create(claims, claim, {})).rejects.toMatchObject({ code: "invalid" });
  expect([one, two].map(({ kinds }) => kinds.find(pools)?.kind)).toEqual(["NodePool", undefined]);
  const namespaces = two.kinds.get({ group: "", version: "v1", plural: "namespaces" });
  await two.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "own" } }, {});
  const [ofOne, ofTwo] = [await one.list(namespaces), await two.list(namespaces)];
  expect(ofTwo.items.length - ofOne.items.length).toBe(1);
});
