import { readFileSync } from "node:fs";
import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { builtInTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import type { StoryStart } from "../stories/controller-processes.ts";
import { deployment } from "../stories/workloads.ts";

/**
 * What `sigs.k8s.io/karpenter` v1.14.1 with its KWOK provider left on a cluster when it was killed: three pools with a
 * claim and a Node each, and its lease. One claim had drifted under a budget of zero, one had its minimum values relaxed.
 */
const recorded: readonly KubeObject[] = JSON.parse(
  readFileSync(new URL("../fixtures/left-by-v1.14.json", import.meta.url), "utf8"),
);

/** Who led, when it died, by its lease. */
export const predecessor = (recorded.find(({ kind }) => kind === "Lease")?.spec ?? {}) as {
  readonly holderIdentity: string;
  readonly renewTime: string;
};

const onPool = (name: string) => ({ pod: { nodeSelector: { "karpenter.sh/nodepool": name } } });

/** What ran there meanwhile. */
const workloads = [
  deployment("plain", { replicas: 3, cpu: "500m", ...onPool("plain") }),
  deployment("drifted", onPool("drifted")),
  deployment("relaxed", { cpu: "3", ...onPool("relaxed") }),
];

/** Puts it all onto another cluster: owners are found by name, times are moved. */
export async function leaveBehind(client: KubeClient, { now, namespace }: StoryStart): Promise<void> {
  const uids = new Map<string, string>();
  for (const object of atTime(now)) {
    const made = await put(client, withOwners(object, uids));
    uids.set(object.metadata.uid ?? "", made.metadata.uid ?? "");
  }
  for (const { metadata, ...rest } of workloads) {
    await client.create(builtInTypes.Deployment, { ...rest, metadata: { ...metadata, namespace } });
  }
}

/** Moved so that the predecessor renewed its lease the last time just now. */
function atTime(now: number): readonly KubeObject[] {
  const byMs = now - Date.parse(predecessor.renewTime);
  const moved = (time: string, fraction = "") => {
    const text = new Date(Date.parse(time) + byMs).toISOString();
    return fraction === "" ? text.replace(/\.\d+Z$/, "Z") : text.replace("Z", "000Z");
  };
  const text = JSON.stringify(recorded).replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z/g, moved);
  return JSON.parse(text) as readonly KubeObject[];
}

function withOwners({ metadata, ...rest }: KubeObject, uids: ReadonlyMap<string, string>): KubeObject {
  const { uid: _, ownerReferences = [], ...kept } = metadata;
  const owners = ownerReferences.map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }));
  return { ...rest, metadata: { ...kept, ...(owners.length > 0 && { ownerReferences: owners }) } };
}

async function put(client: KubeClient, object: KubeObject): Promise<KubeObject> {
  const type = resourceTypeOf(object) as ResourceType;
  const made = await client.create(type, object);
  const { status, metadata } = object;
  if (status === undefined || type === builtInTypes.Node) return made; // a Node is created with its status
  const body = { status: ofGeneration(status, made.metadata.generation) };
  await client.patch(type, { name: metadata.name ?? "" }, { kind: "merge", body }, { subresource: "status" });
  return made;
}

/** A pool that was changed over there is new here. */
function ofGeneration(status: unknown, generation: number | undefined): unknown {
  return JSON.parse(JSON.stringify(status), (key, value) => (key === "observedGeneration" ? generation : value));
}
