import { afterAll, beforeAll, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { accepted, refused } from "./parity-objects.ts";
import { describeOnCluster } from "./shared.ts";

/** What the embedded server makes of an object is what a real one makes of it. (05 §5) */
describeOnCluster("parity of the embedded server", ({ url: server, ca, token }) => {
  const clock = systemClock();
  const credentials = fixedCredentials({ headers: bearerHeaders(token) });
  const transport = socketTransport({ server, tls: { ca }, credentials, namespace: "default" });
  const real = httpClient({ transport, clock, userAgent: "parity" });
  const api = new ApiServer({ clock, random: new Random("parity") });
  const ours = new InProcessClient(api);
  const namespace = "parity";

  beforeAll(async () => {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    for (const client of [real, ours]) {
      await client.create(typeOf(object), object);
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "pods", namespace } };
      await client.create(typeOf(account), account);
    }
  });
  afterAll(async () => {
    await real.delete(typeOf({ apiVersion: "v1", kind: "Namespace", metadata: {} }), { name: namespace });
    transport.close();
  });

  function typeOf({ apiVersion, kind }: KubeObject): ResourceType {
    const found = api.kinds.findByApiVersion({ apiVersion, kind });
    if (found === undefined) throw new Error(`no kind ${apiVersion} ${kind}`);
    return found;
  }

  const placed = (object: KubeObject): KubeObject =>
    typeOf(object).namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;

  it.each(accepted.map((object, index) => [`${object.kind} ${object.metadata.name}`, index] as const))(
    "%s is stored alike",
    async (_, index) => {
      const object = placed(accepted[index] as KubeObject);
      const create = (client: KubeClient) =>
        client.create(typeOf(object), object, { dryRun: true, fieldManager: "parity", fieldValidation: "Strict" });
      expect(comparable(await create(ours))).toEqual(comparable(await create(real)));
    },
  );

  it.each(refused.map(([title], index) => [title, index] as const))("%s is refused alike", async (_, index) => {
    const object = placed((refused[index] as (typeof refused)[number])[1]);
    const create = (client: KubeClient) =>
      client
        .create(typeOf(object), object, { dryRun: true, fieldValidation: "Strict" })
        .then((made) => ({ made: comparable(made) }), statusOf);
    expect(await create(ours)).toEqual(await create(real));
  });
});

/** What other components add and take off again is theirs: here the kubelet loop taints nodes, and volumes are not held. */
const left = ["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"];
const notReady = "node.kubernetes.io/not-ready";

/** Without what differs from server to server and moment to moment. */
function comparable(object: KubeObject): unknown {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (key === "finalizers" && Array.isArray(value) && value.every((one) => left.includes(one))) return undefined;
    if (key === "taints" && Array.isArray(value)) return value.filter((one) => one.key !== notReady);
    if (key === "lastPhaseTransitionTime") return "now";
    if (["uid", "resourceVersion", "creationTimestamp", "managedFields", "lastTransitionTime"].includes(key))
      return undefined;
    if (key.endsWith("controller-uid")) return "uid";
    if (["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"].includes(key) && value !== "None")
      return "drawn";
    return value;
  });
  return JSON.parse(text) as unknown;
}

function statusOf(error: unknown): unknown {
  if (!isKubeError(error)) throw error;
  const { code, reason, details } = error.status ?? {};
  const causes = details?.causes?.map(({ field, reason: why }) => `${field} ${why}`).sort();
  return { code, reason, name: details?.name, kind: details?.kind, causes };
}
