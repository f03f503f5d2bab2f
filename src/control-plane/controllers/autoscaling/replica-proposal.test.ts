import { describe, expect, it } from "vitest";
import { type PodAmount, proposeReplicas } from "./replica-proposal.ts";

const target = { kind: "utilization", percent: 50 } as const;
const pod = (used: number | undefined, isReady = true): PodAmount => ({ requested: 1000, used, isReady });
const propose = (...pods: readonly PodAmount[]) =>
  proposeReplicas(pods, { target, currentReplicas: pods.length, tolerances: { up: 0.1, down: 0.1 } })?.replicas;

describe("05:CP-L16 how many replicas usage asks for", () => {
  it.each([
    ["twice the target asks for twice the pods", 4, [pod(1000), pod(1000)]],
    ["a tenth more or less changes nothing", 2, [pod(550), pod(450)]],
    ["half the target asks for half the pods", 2, [pod(250), pod(250), pod(250), pod(250)]],
    ["pods that are not ready count as idle where there would be more", 3, [pod(1000), pod(500, false), pod(500)]],
    [
      "pods that are not ready do not turn more into fewer",
      3,
      [pod(600), pod(undefined, false), pod(undefined, false)],
    ],
    ["pods without a measurement use what they ask for where there would be fewer", 2, [pod(200), pod(undefined)]],
  ] as const)("05:CP-L16 %s", (_title, replicas, pods) => {
    expect(propose(...pods)).toBe(replicas);
  });

  it("05:CP-L16 nothing is proposed before a ready pod is measured", () => {
    expect(propose(pod(undefined), pod(900, false))).toBeUndefined();
  });

  it("05:CP-L16 an average amount is a target too", () => {
    const options = {
      target: { kind: "average", amount: 200 } as const,
      currentReplicas: 2,
      tolerances: { up: 0.1, down: 0.1 },
    };
    expect(proposeReplicas([pod(400), pod(400)], options)?.replicas).toBe(4);
  });
});
