import { afterEach, expect, it } from "vitest";
import { labels } from "../../../src/api/labels.ts";
import { convertText, manifestText } from "../../conversion/convert-text.ts";
import { seedText } from "../../conversion/fixtures.ts";
import { describeOnMoto, type WireAccount } from "./shared.ts";
import {
  type Claim,
  deleteAll,
  deployment,
  interruptSpot,
  publishImages,
  publishPrices,
  releaseImages,
  type StoryFamily,
  scale,
  untilReady,
  untilReplaced,
  untilRunning,
  untilTagged,
} from "./story.ts";
import { type WireWorld, wireWorld } from "./wire-world.ts";

let open: WireWorld | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

async function opened(account: WireAccount, family: StoryFamily): Promise<WireWorld> {
  open = await wireWorld(account);
  publishImages(open, family);
  publishPrices(open);
  return open;
}

interface ConvertedStory {
  /** Of the pools, in the order their nodes are asked for. */
  readonly poolNames: readonly string[];
  /** More of the pods of a pool. */
  readonly podsOf?: Readonly<Record<string, { readonly limits?: object }>>;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Images differ by architecture, and those of GPUs are their own. */
function imageEnd({ metadata, status }: Claim): string {
  const isGpu = status?.capacity?.["nvidia.com/gpu"] !== undefined;
  return `0000000000000${isGpu ? 3 : metadata.labels?.[labels.arch] === "arm64" ? 2 : 1}`;
}

/** Classes get ready, each pool gets a node, images change, a spot instance is interrupted, a type is sold out, all goes. */
async function convertedStory(world: WireWorld, { poolNames, podsOf, tags }: ConvertedStory): Promise<void> {
  await untilReady(world);
  for (const name of poolNames) {
    const podSpec = { nodeSelector: { [labels.nodePool]: name }, tolerations: [{ operator: "Exists" }] };
    await world.create(deployment(1, name, podSpec, podsOf?.[name]?.limits));
  }
  const count = poolNames.length;
  const first = await untilRunning(world, count);
  const poolOf = (claim: Claim): string => claim.metadata.labels?.[labels.nodePool] ?? "";
  expect(first.map(poolOf).sort()).toEqual([...poolNames].sort());
  for (const claim of first) expect(claim.status?.imageID, poolOf(claim)).toBe(`ami-0a${imageEnd(claim)}`);
  await untilTagged(world, tags);

  await releaseImages(world);
  await untilReplaced(world, first);
  const drifted = await untilRunning(world, count);
  for (const claim of drifted) expect(claim.status?.imageID, poolOf(claim)).toBe(`ami-0b${imageEnd(claim)}`);

  const spot = drifted.find((claim) => claim.metadata.labels?.[labels.capacityType] === "spot");
  if (spot === undefined) throw new Error("no spot instance");
  await interruptSpot(world, spot);
  await untilReplaced(world, [spot]);
  const before = new Set((await untilRunning(world, count)).map(({ metadata }) => metadata.name));

  world.account.shim.tables.soldOut.push({ capacityType: "*", type: "m5.large", zone: "*" });
  await scale(world, 2, "default");
  // Nodes of other pools may be consolidated meanwhile, once prices have been read.
  const launched = (await untilRunning(world, count + 1)).filter(
    (claim) => poolOf(claim) === "default" && !before.has(claim.metadata.name),
  );
  expect(new Set(launched.map(({ metadata }) => metadata.labels?.[labels.instanceType]))).toEqual(
    new Set(["c5.large"]),
  );
  await deleteAll(world);
}

/** The seeds' whole AWS objects; the second of two with one name replaces the first, as it would with `kubectl apply`. */
const seedNames = ["M01", "M02", "M08", "M13", "M14", "M15", "M16"];

describeOnMoto(
  "01 §7.9 the seeds' NodePools and EC2NodeClasses",
  (account) => {
    it("04 §7.3 converted, run the story: AL2, a GPU pool, spot and batch pools", { timeout: 500_000 }, async () => {
      const world = await opened(account(), "al2");
      account().shim.tables.typesLike.set("p3.2xlarge", "g4dn.2xlarge"); // moto has retired it
      const text = seedNames.map(seedText).join("---\n");
      const { objects, code } = await convertText(text, "--cluster-name", account().cluster);
      expect(code).toBe(0);
      await world.create(...objects);
      await world.start();
      await convertedStory(world, {
        poolNames: ["default", "spot-nodes", "multi-zone", "batch-processing", "gpu-nodes"],
        podsOf: { "gpu-nodes": { limits: { "nvidia.com/gpu": "1" } } },
      });
    });
  },
  { cluster: "my-cluster", kubernetesVersion: "1.32" },
);

describeOnMoto("01 §7.6 a v1alpha5 Provisioner with its AWSNodeTemplate", (account) => {
  it("04 §7.3 converted, runs the story: Bottlerocket with its own instance profile", {
    timeout: 400_000,
  }, async () => {
    const world = await opened(account(), "bottlerocket");
    const { objects, code } = await convertText(manifestText("provisioner"));
    expect(code).toBe(0);
    await world.create(...objects);
    await world.start();
    await convertedStory(world, {
      poolNames: ["default"],
      tags: { team: "platform" },
    });
    const profiles = await account().api.iam.listInstanceProfiles({});
    expect(profiles.map(({ InstanceProfileName }) => InstanceProfileName)).toEqual(["KarpenterNodeInstanceProfile"]);
  });
});
