import { isRecord, type KubeObject } from "../../src/api/object.ts";
import { initialObjects } from "../../src/control-plane/initial-objects.ts";
import { defaultGates, defaultSettings } from "../../src/controllers/settings.ts";
import { applyOperations, type PatchOperation } from "../../src/core/explain/json-patch.ts";
import type { Patch, ResourceType } from "../../src/kube/client.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import { testWorld } from "../world/test-world.ts";
import type { TrialCluster } from "./cause-trial.ts";

/** What cases use beside the defaults. */
const gates = { ...defaultGates, NodeOverlay: true, StaticCapacity: true };

/** A whole cluster with the controller on the virtual clock; commands do what kubectl would. */
export async function virtualCluster(seed: string): Promise<TrialCluster> {
  const world = await testWorld({ seed, keepsCloudCalls: false });
  world.startCluster();
  world.startOperator("one", { settings: { ...defaultSettings, gates } });
  await world.create(...initialObjects.filter(({ kind }) => kind !== "Namespace"));
  const execute = async (command: string): Promise<void> => {
    let isDone = false;
    const running = run(command).finally(() => {
      isDone = true;
    });
    running.catch(() => {}); // it is thrown below
    for (let seconds = 0; seconds < 60 && !isDone; seconds++) await world.pass(1);
    return isDone ? running : Promise.reject(new Error(`${command} does not end`));
  };
  const run = async (command: string): Promise<void> => {
    const created = /^echo '(.*)' \| kubectl apply -f -$/.exec(command)?.[1];
    if (created !== undefined) {
      const object = JSON.parse(created) as KubeObject;
      await world.client.create(typeOf(object), object);
      return;
    }
    const [, job, from] = /^kubectl create job (\S+) -n default --from=cronjob\/(\S+)$/.exec(command) ?? [];
    if (job !== undefined && from !== undefined) return createJob(job, from);
    const [, verb, kind = "", name = "", namespace, rest = ""] =
      /^kubectl (patch|delete) (\S+) (\S+)(?: -n (\S+))?(.*)$/.exec(command) ?? [];
    const type = [...Object.values(builtInTypes), ...Object.values(karpenterTypes)].find(
      (one) => one.kind.toLowerCase() === kind,
    );
    if (type === undefined) throw new Error(`cannot run ${command}`);
    const key = { name, namespace };
    if (verb === "delete") return deleteObject(type, key);
    const [, patchType = "", body = ""] =
      /^ --type=(\w+) -p '(.*?)'(?: --dry-run=client -o json \| kubectl replace --force -f -)?$/.exec(rest) ?? [];
    const patch = { kind: patchType, body: JSON.parse(body) } as Patch;
    if (!rest.includes("--dry-run")) return void (await world.client.patch(type, key, patch));
    await replace(type, key, patch);
  };
  /** As kubectl does, which waits until it is gone. */
  const deleteObject = async (type: ResourceType, key: { name: string; namespace: string | undefined }) => {
    await world.client.delete(type, key, { propagation: "Background" });
    for (let tries = 0; tries < 500; tries++) {
      const uid = (await world.get(type, key.name, key.namespace))?.metadata.uid;
      if (uid === undefined) break;
      await world.clock.sleep(100);
    }
  };
  const createJob = async (name: string, from: string): Promise<void> => {
    const cronJob = await world.client.get<KubeObject>(builtInTypes.CronJob, { name: from, namespace: "default" });
    const { jobTemplate } = cronJob.spec as { readonly jobTemplate: object };
    const metadata = { name, namespace: "default" };
    await world.client.create(builtInTypes.Job, { apiVersion: "batch/v1", kind: "Job", ...jobTemplate, metadata });
  };
  const replace = async (
    type: ResourceType,
    key: { name: string; namespace: string | undefined },
    patch: Patch,
  ): Promise<void> => {
    const object = await world.client.get<KubeObject>(type, key);
    const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
    const changed =
      patch.kind === "json"
        ? applyOperations(object, patch.body as readonly PatchOperation[])
        : (merged(object, patch.body) as KubeObject);
    await deleteObject(type, key);
    await world.client.create(type, {
      ...changed,
      metadata: { ...metadata, ...(changed.metadata.labels && { labels: changed.metadata.labels }) },
    });
  };
  return {
    client: world.client,
    clock: world.clock,
    create: async (objects) => void (await world.create(...objects)),
    execute,
    until: async (holds) => {
      for (let passed = 0; passed < 120; passed += 5) {
        if (await holds()) return true;
        await world.pass(5);
      }
      return holds();
    },
    close: () => world.stop(),
  };
}

function typeOf(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`unknown kind ${object.kind}`);
  return type;
}

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const into: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key];
    else into[key] = merged(into[key], value);
  }
  return into;
}
