import { describe, expect, it } from "vitest";
import { ApiServer } from "../control-plane/api/server.ts";
import { InProcessClient } from "../control-plane/in-process-client.ts";
import { ignoreKubeErrors, isKubeError } from "../kube/kube-error.ts";
import { builtInTypes } from "../kube/resources.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { deleteExisting, mergePatchObject } from "./writes.ts";

const volume = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "a" } };

async function stored() {
  const api = new ApiServer({ clock: new VirtualClock(), random: new Random("writes") });
  const client = new InProcessClient(api);
  const object = await client.create(builtInTypes.PersistentVolume, { ...volume, spec });
  return { client, object };
}

const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } };
const volumes = builtInTypes.PersistentVolume;

describe("what controllers write", () => {
  it("03:S-11 deleting is harmless to repeat", async () => {
    const { client, object } = await stored();
    await deleteExisting(client, volumes, object);
    await deleteExisting(client, volumes, object);
    expect((await client.list(volumes)).items).toEqual([]);
  });

  it("03:S-11 deleting never hits another object that has taken the name", async () => {
    const { client, object } = await stored();
    await deleteExisting(client, volumes, object);
    await client.create(volumes, { ...volume, spec });
    await expect(deleteExisting(client, volumes, object)).rejects.toSatisfy((error) => isKubeError(error, "conflict"));
    expect((await client.list(volumes)).items).toHaveLength(1);
  });

  it("03:S-10 a patch with an optimistic lock is refused after another write, one without is not", async () => {
    const { client, object } = await stored();
    await mergePatchObject(client, volumes, object, { body: { metadata: { labels: { by: "somebody" } } } });
    const body = { metadata: { labels: { by: "us" } } };
    expect(
      await ignoreKubeErrors(mergePatchObject(client, volumes, object, { body, hasOptimisticLock: true }), "conflict"),
    ).toBeUndefined();
    expect((await mergePatchObject(client, volumes, object, { body })).metadata.labels).toEqual({ by: "us" });
  });
});
