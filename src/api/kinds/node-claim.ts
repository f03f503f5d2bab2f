import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { looseConditions } from "./condition.ts";
import { dateTime, meta, resource, resourceList, rules, type Stored, text } from "./fields.ts";
import { expireAfter, nodeClassRef, requirementList, taintList, terminationGracePeriod } from "./node-template.ts";

const spec = (provider: Provider) =>
  meta(
    z.object({
      taints: taintList("Taints the node keeps; pods must tolerate them.").optional(),
      startupTaints: taintList("Taints the node boots with and something else removes.").optional(),
      requirements: requirementList(provider, "claim-requirement"),
      resources: meta(
        z.object({ requests: resourceList("The least the node must offer to the pods planned for it.").optional() }),
        { description: "What the node is needed for." },
      ).optional(),
      nodeClassRef: nodeClassRef([]),
      terminationGracePeriod: terminationGracePeriod.optional(),
      expireAfter,
    }),
    {
      description: "What kind of node is asked for.",
      ...rules({ id: "NC1", rule: "self == oldSelf", message: "spec is immutable" }),
    },
  );

const status = meta(
  z.object({
    nodeName: text("The Node object this claim became.").optional(),
    providerID: text("The machine behind it, as the provider names it.").optional(),
    imageID: text("The image the machine runs.").optional(),
    capacity: resourceList("All the machine has.").optional(),
    allocatable: resourceList("What pods may use of it.").optional(),
    lastPodEventTime: meta(dateTime, { description: "When a pod last came or went.", format: "date-time" }).optional(),
    conditions: looseConditions.optional(),
  }),
  { description: "What is known of the node." },
);

/** `karpenter.sh/v1` NodeClaim. (01 §1.3) */
export const nodeClaim = (provider: Provider) =>
  resource(
    {
      spec: spec(provider),
      status: status.optional(),
    },
    { description: "A NodeClaim is one node asked of the cloud, from the request to its end." },
  );

export type NodeClaim = Stored<z.output<ReturnType<typeof nodeClaim>>>;
