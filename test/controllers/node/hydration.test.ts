import { expect, it } from "vitest";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { nodeHydrationController } from "../../../src/controllers/node/hydration.ts";
import { claimNamed, foreignRef, kwokRef, nodeClaimWorld, nodeWithId } from "../node-claim/node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [nodeHydrationController(dependencies)];
const key = "karpenter.kwok.sh/kwoknodeclass";

const node = nodeWithId("kwok://old");

/** Claims and their Node, as an older version left them. */
async function hydrated(...claims: readonly (typeof foreignRef)[]) {
  const world = await nodeClaimWorld({ controllers });
  for (const [index, nodeClassRef] of claims.entries()) {
    const claim = await world.create(claimNamed(`claim-${index}`, { nodeClassRef }));
    await world.status(claim, { providerID: "kwok://old" });
  }
  await world.create(node);
  await world.pass(2);
  const { metadata } = (await world.node()) ?? {};
  return metadata?.labels ?? {};
}

it("03:H-1 a Node gets the label that says whose it is", async () => {
  expect((await hydrated(kwokRef))[key]).toBe("default");
});

it("03:H-1 also when its claim is known only later", async () => {
  const world = await nodeClaimWorld({ controllers });
  await world.create(node);
  await world.status(await world.create(claimNamed("late")), { providerID: "kwok://old" });
  await world.pass(2);
  expect((await world.node())?.metadata.labels?.[key]).toBe("default");
});

it("03:H-1 Nodes of others, of nobody and of two claims are left", async () => {
  const untouched = node.metadata.labels;
  expect(await hydrated(foreignRef)).toEqual(untouched);
  expect(await hydrated()).toEqual(untouched);
  expect(await hydrated(kwokRef, kwokRef)).toEqual(untouched);
});
