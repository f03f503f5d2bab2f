import type { InstanceSource } from "./instance-source.ts";

/** Several instance sources as one. */
export function combinedInstanceSource(...sources: readonly InstanceSource[]): InstanceSource {
  return {
    list: () => sources.flatMap((source) => source.list()),
    subscribe: (handler) => {
      const stops = sources.map((source) => source.subscribe(handler));
      return () => {
        for (const stop of stops) stop();
      };
    },
    owns: (providerId) => sources.some((source) => source.owns(providerId)),
  };
}
