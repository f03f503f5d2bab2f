import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { CloudError } from "./cloud-error.ts";
import type { CloudProvider } from "./cloud-provider.ts";
import { measuredProvider } from "./measured-provider.ts";

function bench(refusal?: unknown) {
  const told: unknown[] = [];
  let time = 0;
  const call = async (): Promise<never> => {
    time += 250;
    if (refusal !== undefined) throw refusal;
    return undefined as never;
  };
  const provider = {
    name: "kwok",
    nodeClasses: [],
    create: call,
    delete: call,
    get: call,
    list: call,
    instanceTypes: call,
    driftReason: call,
  } as unknown as CloudProvider;
  const cloud = measuredProvider(provider, {
    controller: "nodeclaim",
    clock: { now: () => time },
    meter: { observe: (...call) => told.push(call), count: (...call) => told.push(call) },
  });
  return { cloud, told };
}

const claim = {} as NodeClaim;

describe("a provider whose calls are counted", () => {
  it("02:C-5 times every method under upstream's name for it", async () => {
    const { cloud, told } = bench();
    await cloud.create(claim);
    await cloud.delete(claim);
    await cloud.get("id");
    await cloud.list();
    await cloud.instanceTypes({} as never);
    await cloud.driftReason(claim);
    const methods = ["Create", "Delete", "Get", "List", "GetInstanceTypes", "IsDrifted"];
    expect(told).toEqual(
      methods.map((method) => [
        "cloudprovider_duration_seconds",
        { controller: "nodeclaim", method, provider: "kwok" },
        0.25,
      ]),
    );
  });

  it.each([
    [new CloudError("insufficient-capacity", "none"), "InsufficientCapacityError"],
    [new CloudError("node-class-not-ready", "no"), "NodeClassNotReadyError"],
    [new Error("wrapped", { cause: new CloudError("not-found", "gone") }), "NodeClaimNotFoundError"],
    [new Error("no answer"), ""],
  ])("02:C-5 counts %s as %j, and throws it on", async (refusal, error) => {
    const { cloud, told } = bench(refusal);
    await expect(cloud.create(claim)).rejects.toBe(refusal);
    const labels = { controller: "nodeclaim", method: "Create", provider: "kwok" };
    expect(told).toEqual([
      ["cloudprovider_errors_total", { ...labels, error }],
      ["cloudprovider_duration_seconds", labels, 0.25],
    ]);
  });
});
