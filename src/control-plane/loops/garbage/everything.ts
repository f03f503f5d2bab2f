import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { LoopWorld } from "../../../kube/loop.ts";
import { builtIn } from "../../../kube/resources.ts";
import type { Change } from "../../../kube/view.ts";
import { customType, isEstablished, kindName, watchedKinds } from "./kinds.ts";

/** All objects of all kinds, those that are defined at runtime included. */
export interface Everything {
  /** Kinds that are watched now. */
  types(): readonly ResourceType[];
  typeNamed(name: string): ResourceType | undefined;
  /** No kind has objects we have not seen yet. */
  hasSynced(): boolean;
  stop(): void;
}

/** Watches every kind and follows definitions as they come and go. */
export function watchEverything(
  world: LoopWorld,
  onChange: (type: ResourceType, change: Change<KubeObject>) => void,
): Everything {
  const types = new Map<string, ResourceType>();
  const stops = new Map<string, () => void>();
  const follow = (type: ResourceType): void => {
    const name = kindName(type);
    if (types.has(name)) return;
    types.set(name, type);
    stops.set(
      name,
      world.view(type).subscribe((change) => onChange(type, change)),
    );
  };
  const unfollow = (type: ResourceType): void => {
    stops.get(kindName(type))?.();
    stops.delete(kindName(type));
    types.delete(kindName(type));
    world.forget(type);
  };
  for (const type of watchedKinds) follow(type);
  const definitions = world.view(builtIn.CustomResourceDefinition).subscribe(({ object, old }) => {
    const before = old === undefined ? undefined : customType(old);
    const now = object !== undefined && isEstablished(object) ? customType(object) : undefined;
    const known = before && types.get(kindName(before));
    if (known !== undefined && known.version !== now?.version) unfollow(known);
    if (now !== undefined) follow(now);
  });
  return {
    types: () => [...types.values()],
    typeNamed: (name) => types.get(name),
    hasSynced: () => [...types.values()].every((type) => world.view(type).hasSynced),
    stop: () => {
      definitions();
      for (const stop of stops.values()) stop();
    },
  };
}
