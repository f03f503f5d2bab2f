import type { KubeObject } from "../../../api/object.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";

type EventObject = KubeObject & {
  readonly eventTime?: string | null | undefined;
  readonly lastTimestamp?: string | null | undefined;
  readonly series?: { readonly lastObservedTime?: string | undefined } | null | undefined;
};

/** As a kube-apiserver keeps Events by default (`--event-ttl`). */
const eventTtlMs = 60 * 60_000;

/** Deletes Events an hour after they were last seen: otherwise a cluster that runs for weeks would be made of them. */
export const eventExpiryController: Controller = reconcileController({
  name: "event-expiry",
  triggers: [triggerOn<EventObject>(builtInTypes.Event, ({ object }) => (object ? [cacheKey(object.metadata)] : []))],
  concurrency: 10,
  reconcile: async (key, { view, clock, client }) => {
    const event = view<EventObject>(builtInTypes.Event).get(key);
    if (event === undefined) return undefined;
    const leftMs = lastSeenAt(event) + eventTtlMs - clock.now();
    if (leftMs > 0) return { afterMs: leftMs };
    const { name = "", namespace, uid } = event.metadata;
    const options = uid === undefined ? {} : { preconditions: { uid } };
    await ignoreKubeErrors(client.delete(builtInTypes.Event, { name, namespace }, options), "not-found", "conflict");
    return undefined;
  },
});

/** An Event without times has the time of its creation. */
function lastSeenAt({ metadata, eventTime, lastTimestamp, series }: EventObject): number {
  const times = [metadata.creationTimestamp, eventTime, lastTimestamp, series?.lastObservedTime];
  return Math.max(0, ...times.map((time) => Date.parse(time ?? "")).filter((time) => !Number.isNaN(time)));
}
