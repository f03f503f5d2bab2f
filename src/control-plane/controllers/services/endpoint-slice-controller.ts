import { isSameJson } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object.ts";
import { cacheKey, type ResourceType } from "../../../kube/client.ts";
import { type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import { recordAt, textAt } from "../../object-fields.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { changedObjectKey, debounced, deleteIfExists, ignoreNamespaceTerminating } from "../workloads/ownership.ts";
import { endpointSlicesOf, endpointsOf, isManagedEndpoints, serviceNameLabel } from "./endpoint-objects.ts";
import { endpointGroups } from "./service-endpoints.ts";

const serviceIndex = "service";
const { Service, Pod, Node, EndpointSlice, Endpoints } = builtInTypes;

/** Keeps EndpointSlices and Endpoints of Services: the pods a selector finds, and whether they are ready. (05:CP-L15) */
export const endpointSliceController = reconcileController({
  name: "endpoint-slice-controller",
  triggers: [
    triggerOn(Service, changedObjectKey),
    triggerOn<ApiPod>(Pod, serviceKeysOfPod, debounced),
    triggerOn(EndpointSlice, ({ object, old }) => {
      const { namespace, labels } = (object ?? old).metadata;
      const name = labels?.[serviceNameLabel];
      return name === undefined ? [] : [`${namespace}/${name}`];
    }),
    triggerOn(Endpoints, changedObjectKey),
  ],
  kinds: [Node],
  reads: [{ of: Node, because: "a pod's endpoint has the zone its Node had when the pod changed" }],
  start: ({ view }) => {
    view(EndpointSlice).addIndex(serviceIndex, ({ metadata }) => {
      const name = metadata.labels?.[serviceNameLabel];
      return name === undefined ? undefined : `${metadata.namespace}/${name}`;
    });
  },
  reconcile: async (key, context) => {
    await ignoreNamespaceTerminating(reconcileService(key, context));
    return undefined;
  },
});

function serviceKeysOfPod({ object, old }: ObjectChange<ApiPod>, { view }: ControllerContext): readonly string[] {
  const changed = [object, old].flatMap((pod) => pod ?? []);
  const services = view(Service).inNamespace(changed[0]?.metadata.namespace ?? "");
  return services
    .filter((service) => changed.some((pod) => selects(service, pod)))
    .map(({ metadata }) => cacheKey(metadata));
}

/** A Service without a selector selects nothing: its endpoints are the user's. */
function selects({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const selector = Object.entries(recordAt(spec, "selector") ?? {});
  return selector.length > 0 && selector.every(([key, value]) => metadata.labels?.[key] === value);
}

function hasEndpoints({ spec }: KubeObject): boolean {
  return textAt(spec, "type") !== "ExternalName" && Object.keys(recordAt(spec, "selector") ?? {}).length > 0;
}

async function reconcileService(key: string, context: ControllerContext): Promise<void> {
  const { view } = context;
  const service = view(Service).get(key);
  const isServed = service !== undefined && service.metadata.deletionTimestamp === undefined && hasEndpoints(service);
  const slices = view(EndpointSlice)
    .byIndex(serviceIndex, key)
    .filter(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === sliceManagerName);
  const endpoints = view(Endpoints).get(key);
  if (!isServed) {
    for (const slice of slices) await deleteIfExists(context, EndpointSlice, slice);
    if (endpoints !== undefined && isManagedEndpoints(endpoints)) await deleteIfExists(context, Endpoints, endpoints);
    return;
  }
  const pods = view<ApiPod>(Pod)
    .inNamespace(service.metadata.namespace ?? "")
    .filter((pod) => selects(service, pod));
  const groups = endpointGroups(service, pods, (name) => view<ApiNode>(Node).get(name));
  const wanted = endpointSlicesOf(service, groups);
  const known = new Map(slices.map((slice) => [slice.metadata.name ?? "", slice]));
  for (const slice of wanted) {
    await createOrUpdate(context, EndpointSlice, { wanted: slice, known: known.get(slice.metadata.name ?? "") });
    known.delete(slice.metadata.name ?? "");
  }
  for (const slice of known.values()) await deleteIfExists(context, EndpointSlice, slice);
  if (endpoints === undefined || isManagedEndpoints(endpoints))
    await createOrUpdate(context, Endpoints, { wanted: endpointsOf(service, groups), known: endpoints });
}

const sliceManagerName = "endpointslice-controller.k8s.io";

/** Everything but metadata that the server adds is replaced. */
async function createOrUpdate(
  { client }: ControllerContext,
  type: ResourceType,
  { wanted, known }: { readonly wanted: KubeObject; readonly known: KubeObject | undefined },
): Promise<void> {
  if (known === undefined) {
    await client.create(type, wanted);
    return;
  }
  if (isSameContent(wanted, known)) return;
  const metadata = { ...known.metadata, labels: wanted.metadata.labels };
  await client.update(type, { ...wanted, metadata });
}

function isSameContent(wanted: KubeObject, known: KubeObject): boolean {
  const content = ({ metadata, ...rest }: KubeObject) => ({ ...rest, labels: metadata.labels });
  return isSameJson(content(wanted), content(known));
}
