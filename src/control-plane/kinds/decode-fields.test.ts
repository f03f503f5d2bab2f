import { describe, expect, it } from "vitest";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { decodeFields } from "./decode-fields.ts";
import { ServerSchemas } from "./server-schemas.ts";

const fields = new BuiltInFields();
const decode = (definition: string, value: unknown) => decodeFields(value, fields.definition(definition), "it");

describe("reading built-in kinds (05 §3)", () => {
  it("drops what is unknown, null or empty, and says what was unknown", () => {
    const { value, unknown } = decode("core.v1.PodSpec", {
      containers: [{ name: "a", colour: 1, resources: {}, env: [] }],
      nodeSelector: {},
      nodeName: null,
      volumes: [{ name: "v", emptyDir: {} }],
      shape: "round",
    });
    expect(value).toEqual({
      containers: [{ name: "a", resources: {} }],
      volumes: [{ name: "v", emptyDir: {} }],
    });
    expect(unknown).toEqual(["containers[0].colour", "shape"]);
  });

  it("writes quantities and times as Kubernetes does", () => {
    const resources = { limits: { cpu: "1000m", memory: "1024Mi" }, requests: { cpu: 0.5 } };
    expect(decode("core.v1.ResourceRequirements", resources).value).toEqual({
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: "500m" },
    });
    const meta = { creationTimestamp: "2026-01-01T02:00:00.123+02:00" };
    expect(decode("meta.v1.ObjectMeta", meta).value).toEqual({ creationTimestamp: "2026-01-01T00:00:00Z" });
    const lease = { renewTime: "2026-01-01T00:00:00.123456Z" };
    expect(decode("coordination.v1.LeaseSpec", lease).value).toEqual(lease);
  });

  it.each([
    ["core.v1.PodSpec", { priority: "1" }, "priority: expected a 32-bit integer"],
    ["core.v1.PodSpec", { priority: 2 ** 31 }, "priority: expected a 32-bit integer"],
    ["core.v1.PodSpec", { containers: {} }, "containers: expected a list"],
    ["core.v1.PodSpec", { hostNetwork: "yes" }, "hostNetwork: expected true or false"],
    ["core.v1.PodSpec", { overhead: { cpu: "much" } }, "overhead.cpu: expected a quantity"],
    ["core.v1.Secret", { data: { a: "é" } }, "data.a: expected base64 text"],
    ["meta.v1.ObjectMeta", { labels: { a: 1 } }, "labels.a: expected text"],
    ["meta.v1.ObjectMeta", { creationTimestamp: "yesterday" }, "creationTimestamp: expected a time"],
    ["coordination.v1.LeaseSpec", { renewTime: "2026-01-01T00:00:00Z" }, "renewTime: expected a time"],
  ])("05:CP-S3 %s %j is a bad request", (definition, value, message) => {
    expect(() => decode(definition, value)).toThrow(message);
  });

  it("05 §5 has a table for every kind", () => {
    const kinds = new ServerSchemas().builtInKinds;
    expect(kinds.length).toBeGreaterThan(50);
    for (const kind of kinds) {
      const isMetered = kind.group === "metrics.k8s.io";
      expect(kind.fields.is, kind.kind).toBe(isMetered ? "any" : "object");
      const status = kind.fields.is === "object" ? kind.fields.field("status") : undefined;
      if (kind.behaviour.hasStatus) expect(status, kind.kind).toBeDefined();
      expect(kind.subresources.includes("status") || !kind.behaviour.hasStatus, kind.kind).toBe(true);
    }
    expect(new Set(kinds.map(({ group, version, plural }) => `${plural}.${version}.${group}`)).size).toBe(kinds.length);
  });
});
