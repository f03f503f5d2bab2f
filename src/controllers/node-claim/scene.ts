import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import type { Logger } from "../../util/logger.ts";
import type { Parts } from "../parts.ts";

/** What a step over a claim has to work with. */
export interface Scene {
  readonly world: LoopWorld;
  readonly parts: Parts;
  /** Names the claim in every line. */
  readonly log: Logger;
}

export interface SceneOptions {
  readonly controller: string;
  readonly world: LoopWorld;
  readonly parts: Parts;
}

export function sceneOf({ metadata, status }: NodeClaim, { controller, world, parts }: SceneOptions): Scene {
  const log = parts.log.with({
    controller,
    NodeClaim: { name: metadata.name ?? "" },
    ...(status?.providerID && { "provider-id": status.providerID }),
    ...(status?.nodeName && { Node: { name: status.nodeName } }),
  });
  return { world, parts, log };
}
