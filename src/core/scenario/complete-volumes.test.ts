import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { completeVolumes } from "./complete-volumes.ts";

const claim = (name: string, spec: object = {}, more: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, uid: name }, spec, ...more }) as KubeObject;
const volume = (name: string, spec: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec }) as KubeObject;
const storageClass = (
  name: string,
  fields: object = {},
  annotations: Readonly<Record<string, string>> = {},
): KubeObject =>
  ({ apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name, annotations }, ...fields }) as KubeObject;

interface Seen {
  /** The class and volume of each claim. */
  readonly claims: Readonly<Record<string, string>>;
  readonly added: readonly string[];
  readonly notes: readonly unknown[];
}

function completed(objects: readonly KubeObject[], { assumes = true } = {}): Seen {
  const { objects: all, notes } = completeVolumes(objects, { assumes });
  const claims = all.filter(({ kind }) => kind === "PersistentVolumeClaim");
  const shown = claims.map(({ metadata, spec }) => {
    const { storageClassName = "-", volumeName = "-" } = spec as Readonly<Record<string, string | undefined>>;
    return [metadata.name, `${storageClassName} ${volumeName}`];
  });
  const added = all.slice(objects.length).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return { claims: Object.fromEntries(shown), added, notes };
}

describe("completing volumes", () => {
  it("02 §5.8 a volume that claims name and that is not given is assumed once, and only from files", () => {
    const objects = [claim("a", { volumeName: "v" }), claim("b", { volumeName: "v" })];
    expect(completed(objects)).toEqual({
      claims: { a: "- v", b: "- v" },
      added: ["PersistentVolume v"],
      notes: [{ code: "volume-assumed", volume: "v", claims: ["default/a"] }],
    });
    expect(completed(objects, { assumes: false })).toEqual({ claims: { a: "- v", b: "- v" }, added: [], notes: [] });
  });

  it("02 §5.8 a volume serves one claim: the smallest that is large enough, or the one that is reserved for it", () => {
    const wants = (storage: string) => ({ storageClassName: "", resources: { requests: { storage } } });
    const offers = (storage: string, more: object = {}) => ({ capacity: { storage }, ...more });
    const reserved = offers("50Gi", { claimRef: { namespace: "default", name: "c" } });
    const { claims, added } = completed([
      ...[volume("large", offers("20Gi")), volume("small", offers("10Gi")), volume("kept", reserved)],
      ...[claim("a", wants("5Gi")), claim("b", wants("5Gi")), claim("c", wants("5Gi")), claim("d", wants("5Gi"))],
    ]);
    expect(claims).toEqual({ a: " small", b: " large", c: " kept", d: " -" });
    expect(added).toEqual([]);
  });

  it("02 §5.8 a claim of a class that does not wait gets a volume where the class allows, in a zone nobody knows", () => {
    const allowedTopologies = [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }] }];
    const objects = [
      storageClass("fast", { provisioner: "ebs.csi.aws.com", allowedTopologies }),
      storageClass("by-hand", { provisioner: "kubernetes.io/no-provisioner" }),
      storageClass("later", { provisioner: "ebs.csi.aws.com", volumeBindingMode: "WaitForFirstConsumer" }),
      ...["fast", "by-hand", "later"].map((name) => claim(name, { storageClassName: name })),
    ];
    const seen = completed(objects);
    expect(seen).toEqual({
      claims: { fast: "fast pvc-fast", "by-hand": "by-hand -", later: "later -" },
      added: ["PersistentVolume pvc-fast"],
      notes: [{ code: "zone-unknown", claims: ["default/fast"] }],
    });
    expect(completeVolumes(objects, { assumes: true }).objects.at(-1)?.spec).toEqual({
      csi: { driver: "ebs.csi.aws.com" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", values: ["a"], operator: "In" }] }],
        },
      },
      claimRef: { namespace: "default", name: "fast" },
    });
  });

  it("02 §5.8 claims without a class get the default one; one that is not given is assumed, with a note", () => {
    const isDefault = { "storageclass.kubernetes.io/is-default-class": "true" };
    const waits = { provisioner: "p", volumeBindingMode: "WaitForFirstConsumer" };
    expect(completed([storageClass("gp3", waits, isDefault), claim("a")])).toEqual({
      claims: { a: "gp3 -" },
      added: [],
      notes: [],
    });
    expect(completed([claim("a"), claim("b"), claim("c", { storageClassName: "odd" })])).toEqual({
      claims: { a: "assumed-default -", b: "assumed-default -", c: "odd -" },
      added: ["StorageClass assumed-default", "StorageClass odd"],
      notes: [
        { code: "class-assumed", storageClass: undefined, claims: ["default/a", "default/b"] },
        { code: "class-assumed", storageClass: "odd", claims: ["default/c"] },
      ],
    });
    expect(completed([claim("a")], { assumes: false })).toEqual({ claims: { a: "- -" }, added: [], notes: [] });
  });

  it("02 §5.8 a claim that is lost or on its way out stays as it is", () => {
    const lost = claim("lost", { volumeName: "v" }, { status: { phase: "Lost" } });
    const going = claim("going", { volumeName: "v" });
    const objects = [lost, { ...going, metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }];
    expect(completeVolumes(objects, { assumes: true })).toEqual({ objects, notes: [] });
  });
});
