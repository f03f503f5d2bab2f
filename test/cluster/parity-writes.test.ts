import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../../src/api/object.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import type { KubeClient, Patch } from "../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { runs } from "../runs.ts";
import { describeOnCluster } from "./shared.ts";

const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
/** Has every list a pod has, and no controller of a real cluster touches it. */
const templates = { group: "", version: "v1", kind: "PodTemplate", plural: "podtemplates", namespaced: true };
const namespace = "parity-writes";

/** Patches and applies do to an object what a real server does, and leave the same owners. (05 §3) */
describeOnCluster("parity of writes", ({ url: server, ca, token }) => {
  const clock = systemClock();
  const credentials = fixedCredentials({ headers: bearerHeaders(token) });
  const transport = socketTransport({ server, tls: { ca }, credentials, namespace: "default" });
  const real = httpClient({ transport, clock, userAgent: "parity" });
  const ours = new InProcessClient(new ApiServer({ clock, random: new Random("parity") }));

  beforeAll(async () => {
    for (const client of [real, ours]) {
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    }
  });
  afterAll(async () => {
    await real.delete(namespaces, { name: namespace });
    transport.close();
  });

  it("sequences of writes end alike", async () => {
    let count = 0;
    const property = fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 6 }), async (writes) => {
      const name = `t${count++}`;
      for (const step of writes) {
        const [mine, theirs] = [await perform(ours, name, step), await perform(real, name, step)];
        expect(mine).toEqual(theirs);
      }
    });
    await fc.assert(property, { numRuns: runs(20_000), endOnFailure: true });
  }, 900_000);
});

interface Write {
  readonly manager: string;
  readonly op: "apply" | "force" | "strategic" | "merge" | "json";
  readonly template: Readonly<Record<string, unknown>>;
  readonly directive: "none" | "delete" | "replace" | "order";
}

const variable = fc.record({ name: fc.constantFrom("A", "B", "C"), value: fc.constantFrom("1", "2") });
/** One protocol a port: a list in which a port stands twice is merged by strategic patches as no one could want. */
const port = fc
  .record({ containerPort: fc.constantFrom(80, 81), isNamed: fc.boolean() })
  .map(({ containerPort, isNamed }) => ({
    containerPort,
    protocol: containerPort === 80 ? "TCP" : "UDP",
    ...(isNamed ? { name: `p${containerPort}` } : {}),
  }));
const container = fc.record(
  {
    name: fc.constantFrom("a", "b", "c"),
    image: fc.constantFrom("i:1", "i:2"),
    env: fc.uniqueArray(variable, { selector: ({ name }) => name, minLength: 1, maxLength: 3 }),
    ports: fc.uniqueArray(port, { selector: ({ containerPort }) => containerPort, minLength: 1, maxLength: 2 }),
    args: fc.array(fc.constantFrom("x", "y"), { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["name", "image"] },
);
const template = fc.record(
  {
    metadata: fc.record({
      labels: fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2"), { minKeys: 1 }),
    }),
    spec: fc.record(
      {
        containers: fc.uniqueArray(container, { selector: ({ name }) => name, minLength: 1, maxLength: 3 }),
        nodeSelector: fc.dictionary(fc.constantFrom("z"), fc.constantFrom("1", "2"), { minKeys: 1 }),
        tolerations: fc.array(fc.record({ key: fc.constantFrom("t", "u"), operator: fc.constant("Exists") }), {
          minLength: 1,
          maxLength: 2,
        }),
        priorityClassName: fc.constantFrom("p", "q"),
      },
      { requiredKeys: ["containers"] },
    ),
  },
  { requiredKeys: ["spec"] },
);
const write: fc.Arbitrary<Write> = fc.record({
  manager: fc.constantFrom("alice", "bob"),
  op: fc.constantFrom("apply", "apply", "force", "strategic", "merge", "json"),
  template,
  directive: fc.constantFrom("none", "none", "delete", "replace", "order"),
});

async function perform(client: KubeClient, name: string, step: Write): Promise<unknown> {
  try {
    const made = await client.patch(templates, { name, namespace }, patchOf(name, step), {
      fieldManager: step.manager,
    });
    return { spec: (made as unknown as Record<string, unknown>)["template"], owners: ownersOf(made) };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const causes = error.status?.details?.causes?.map(
      ({ field, message }) => `${field} ${message?.replace(/ at .*/, "")}`,
    );
    return { refused: error.status?.code, causes: causes?.sort() };
  }
}

function patchOf(name: string, { op, template: written, manager, directive }: Write): Patch {
  const metadata = { name, namespace };
  switch (op) {
    case "apply":
    case "force": {
      const body = { apiVersion: "v1", kind: "PodTemplate", metadata, template: written };
      return { kind: "apply", body, fieldManager: manager, force: op === "force" };
    }
    case "strategic":
      return { kind: "strategic", body: { template: directed(written, directive) } };
    case "merge":
      return { kind: "merge", body: { template: written } };
    case "json":
      return { kind: "json", body: [{ op: "replace", path: "/template", value: written }] };
  }
}

/** The first container with a directive, or all of them with an order. */
function directed(written: Write["template"], directive: Write["directive"]): unknown {
  const spec = written["spec"] as { containers: { name: string }[] };
  const [first, ...rest] = spec.containers;
  if (directive === "none" || first === undefined) return written;
  if (directive === "order") {
    // The items of the patch have to stand in that order themselves.
    const order = ["c", "a", "b"].map((name) => ({ name }));
    const items = order.flatMap(({ name }) => spec.containers.filter((one) => one.name === name));
    return { ...written, spec: { ...spec, "$setElementOrder/containers": order, containers: items } };
  }
  const item = directive === "delete" ? { name: first.name, $patch: "delete" } : { ...first, $patch: "replace" };
  return { ...written, spec: { ...spec, containers: [item, ...rest] } };
}

/** Who owns which leaves. */
function ownersOf({ metadata }: KubeObject): unknown {
  const { managedFields = [] } = metadata as { managedFields?: readonly Record<string, unknown>[] };
  return managedFields
    .map(({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${leavesOf(fieldsV1, "").sort().join(" ")}`)
    .filter((entry) => entry.includes("/"))
    .sort();
}

function leavesOf(fields: unknown, path: string): string[] {
  if (!isRecord(fields)) return [];
  const steps = Object.keys(fields).filter((step) => step !== ".");
  if (steps.length === 0) return [path];
  return steps.flatMap((step) => leavesOf(fields[step], `${path}/${step}`));
}
