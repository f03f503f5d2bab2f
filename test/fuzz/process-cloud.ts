import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";

/** Whether a Node belongs to a NodePool. */
export function isManagedNode({ metadata }: Pick<Node, "metadata">): boolean {
  return metadata.labels?.[labels.nodePool] !== undefined;
}

/** Enough types to choose from, but few: every pass goes over all of them. */
export function fuzzInstanceTypes(): readonly InstanceType[] {
  return kwokInstanceTypes().filter(({ name }) =>
    /^[csm]-(1|2|4|8|16|32)x-amd64-linux$|^s-[248]x-arm64-linux$/.test(name),
  );
}

/** The calls an operator makes. */
const calls = ["launch", "terminate", "describe", "describeAll"] as const;

export interface ProcessCloudHooks {
  /** Before a call; throws if the process is dead. */
  readonly beforeCall: (call: (typeof calls)[number], about: unknown) => void;
  /** Before its answer arrives; throws if the process has died meanwhile. */
  readonly beforeAnswer: () => void;
}

/** The cloud as one process sees it: a process that died makes no calls and gets no answers. */
export function processCloud(cloud: SimulatedCloud, { beforeCall, beforeAnswer }: ProcessCloudHooks): SimulatedCloud {
  return new Proxy(cloud, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = calls.find((one) => one === name);
      if (call === undefined) return value.bind(target);
      return async (about: unknown) => {
        beforeCall(call, about);
        const answer: unknown = await value.call(target, about);
        beforeAnswer();
        return answer;
      };
    },
  });
}
