import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";

/** Whether a Node is one of ours. */
export function isManagedNode({ metadata }: Pick<Node, "metadata">): boolean {
  return metadata.labels?.[labels.nodePool] !== undefined;
}

/** What the cloud sells: enough to choose from, and no more, for every pass goes over all of it. */
export function fuzzInstanceTypes(): readonly InstanceType[] {
  return kwokInstanceTypes().filter(({ name }) =>
    /^[csm]-(1|2|4|8|16|32)x-amd64-linux$|^s-[248]x-arm64-linux$/.test(name),
  );
}

/** What an operator's process does with the cloud. */
const calls = ["launch", "terminate", "describe", "describeAll"] as const;

export interface ProcessCloudHooks {
  /** Before a call leaves; throws where there is nobody to make it. */
  readonly beforeCall: (call: (typeof calls)[number], about: unknown) => void;
  /** Before an answer arrives; throws where there is nobody to hear it. */
  readonly beforeAnswer: () => void;
}

/** The cloud as one process sees it: a process that died neither asks nor hears anything. */
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
