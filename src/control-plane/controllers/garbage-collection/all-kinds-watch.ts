import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import {
  type CustomResourceDefinitionObject,
  customResourceType,
  groupKindName,
  isEstablished,
  watchedKinds,
} from "./watched-kinds.ts";

/** A watch over all kinds, including those defined by CRDs at runtime. */
export interface AllKindsWatch {
  types(): readonly ResourceType[];
  typeNamed(name: string): ResourceType | undefined;
  /** Whether every watched kind has been listed. */
  hasSynced(): boolean;
  stop(): void;
}

/** Watches every kind and follows CustomResourceDefinitions as they are added and removed. */
export function watchAllKinds(
  context: ControllerContext,
  onChange: (type: ResourceType, change: ObjectChange<KubeObject>) => void,
): AllKindsWatch {
  const types = new Map<string, ResourceType>();
  const stops = new Map<string, () => void>();
  const watchKind = (type: ResourceType): void => {
    const name = groupKindName(type);
    if (types.has(name)) return;
    types.set(name, type);
    stops.set(
      name,
      context.view(type).subscribe((change) => onChange(type, change)),
    );
  };
  const unwatchKind = (type: ResourceType): void => {
    stops.get(groupKindName(type))?.();
    stops.delete(groupKindName(type));
    types.delete(groupKindName(type));
    context.stopWatching(type);
  };
  for (const type of watchedKinds) watchKind(type);
  const definitions = context.view<CustomResourceDefinitionObject>(builtInTypes.CustomResourceDefinition);
  const unsubscribe = definitions.subscribe(({ object, old }) => {
    const before = old === undefined ? undefined : customResourceType(old);
    const now = object !== undefined && isEstablished(object) ? customResourceType(object) : undefined;
    const known = before && types.get(groupKindName(before));
    if (known !== undefined && known.version !== now?.version) unwatchKind(known);
    if (now !== undefined) watchKind(now);
  });
  return {
    types: () => [...types.values()],
    typeNamed: (name) => types.get(name),
    hasSynced: () => [...types.values()].every((type) => context.view(type).hasSynced),
    stop: () => {
      unsubscribe();
      for (const stop of stops.values()) stop();
    },
  };
}
