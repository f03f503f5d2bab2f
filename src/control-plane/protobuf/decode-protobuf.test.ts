import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { decodeProtobuf } from "./decode-protobuf.ts";
import { ProtobufMessages } from "./protobuf-messages.ts";

const messages = new ProtobufMessages(new BuiltInFields());
const utf8 = new TextEncoder();

function varint(value: bigint): readonly number[] {
  const low = Number(value & 0x7fn);
  return value < 0x80n ? [low] : [low | 0x80, ...varint(value >> 7n)];
}

type Wire = readonly number[];
const bytes = (number: number, body: Wire): Wire => [
  ...varint(BigInt((number << 3) | 2)),
  ...varint(BigInt(body.length)),
  ...body,
];
const text = (number: number, value: string): Wire => bytes(number, [...utf8.encode(value)]);
const whole = (number: number, value: number | bigint): Wire => [
  ...varint(BigInt(number << 3)),
  ...varint(BigInt.asUintN(64, BigInt(value))),
];

function envelope(apiVersion: string, kind: string, raw: Wire): Uint8Array {
  const typeMeta = [...text(1, apiVersion), ...text(2, kind)];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0, ...bytes(1, typeMeta), ...bytes(2, raw)]);
}

function decoded(apiVersion: string, kind: string, raw: Wire): unknown {
  const result = decodeProtobuf(envelope(apiVersion, kind, raw), messages);
  return result.kind === "object" ? result.object : result;
}

const metadata = (name: string) => bytes(1, [...text(1, name), ...text(3, "")]);

describe("protobuf bodies", () => {
  it("05 §3 reads a budget, with its number or text", () => {
    const budget = (value: Wire) => [...metadata("b"), ...bytes(2, bytes(1, value))];
    expect(decoded("policy/v1", "PodDisruptionBudget", budget([...whole(1, 0), ...whole(2, 2)]))).toEqual({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "b" },
      spec: { minAvailable: 2 },
    });
    expect(decoded("policy/v1", "PodDisruptionBudget", budget([...whole(1, 1), ...text(3, "50%")]))).toMatchObject({
      spec: { minAvailable: "50%" },
    });
  });

  it("05 §3 omits zero values with omitempty and keeps the others", () => {
    const spec = [...whole(1, 0), ...whole(5, 0), ...whole(7, 0)]; // replicas, minReadySeconds, paused
    expect(decoded("apps/v1", "Deployment", [...metadata("d"), ...bytes(2, spec)])).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { replicas: 0 },
    });
  });

  it("05 §3 reads quantities, maps and inlined sources", () => {
    const limits = bytes(1, [...text(1, "cpu"), ...bytes(2, text(1, "250m"))]);
    const container = [...text(1, "c"), ...bytes(8, limits)];
    const volume = [...text(1, "v"), ...bytes(2, bytes(2, text(1, "Memory")))];
    const selector = bytes(7, [...text(1, "disk"), ...text(2, "ssd")]);
    const pod = [...metadata("p"), ...bytes(2, [...bytes(1, volume), ...bytes(2, container), ...selector])];
    expect(decoded("v1", "Pod", pod)).toMatchObject({
      spec: {
        volumes: [{ name: "v", emptyDir: { medium: "Memory" } }],
        containers: [{ name: "c", resources: { limits: { cpu: "250m" } } }],
        nodeSelector: { disk: "ssd" },
      },
    });
  });

  it("05 §3 reads times, and omits the zero time", () => {
    const lease = [
      ...bytes(1, [...text(1, "l"), ...bytes(8, [])]),
      ...bytes(2, [...whole(2, 40), ...bytes(4, [...whole(1, 1_700_000_000), ...whole(2, 5_000)])]),
    ];
    expect(decoded("coordination.k8s.io/v1", "Lease", lease)).toEqual({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec: { leaseDurationSeconds: 40, renewTime: "2023-11-14T22:13:20.000005Z" },
    });
  });

  it("05 §3 reads negative numbers and binary data", () => {
    const secret = [...metadata("s"), ...bytes(2, [...text(1, "k"), ...bytes(2, [0, 255])])];
    expect(decoded("v1", "Secret", secret)).toMatchObject({ data: { k: "AP8=" } });
    const priority = [...metadata("c"), ...whole(2, -10)];
    expect(decoded("scheduling.k8s.io/v1", "PriorityClass", priority)).toMatchObject({ value: -10 });
  });

  it("05 §1 reads DeleteOptions of any group", () => {
    const options = [...whole(1, 0), ...text(4, "Foreground")];
    expect(decoded("apps/v1", "DeleteOptions", options)).toMatchObject({
      gracePeriodSeconds: 0,
      propagationPolicy: "Foreground",
    });
  });

  it("05 §3 skips unknown fields", () => {
    const pod = [...metadata("p"), ...text(500, "new"), ...whole(501, 1)];
    expect(decoded("v1", "Pod", pod)).toEqual({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" } });
  });

  it("05:CP-S3 keeps keys such as __proto__ as ordinary data", () => {
    const labels = bytes(11, [...text(1, "__proto__"), ...text(2, "x")]);
    const pod = decoded("v1", "Pod", bytes(1, labels)) as { metadata: { labels: object } };
    expect(Object.entries(pod.metadata.labels)).toEqual([["__proto__", "x"]]);
  });

  it("05 §2 reports an unknown kind", () => {
    expect(decoded("example.com/v1", "Thing", [])).toEqual({
      kind: "unknown-kind",
      apiVersion: "example.com/v1",
      name: "Thing",
    });
  });

  it("05:CP-S3 refuses any bytes that are not a message, without other failures", () => {
    const good = [...envelope("v1", "Pod", [...metadata("p"), ...bytes(2, bytes(2, text(1, "c")))])];
    const damage = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255), cut: fc.nat(good.length) });
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 4 }), fc.uint8Array({ maxLength: 20 }), (damages, tail) => {
        const body = [...good];
        for (const { at, byte, cut } of damages) {
          body[at] = byte;
          if (cut > 4) body.length = Math.min(body.length, cut);
        }
        const kinds = ["object", "malformed", "unknown-kind"];
        expect(kinds).toContain(
          decodeProtobuf(Uint8Array.from([...body, ...tail].map((one) => one ?? 0)), messages).kind,
        );
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("05:CP-S3 refuses bodies without the protobuf prefix", () => {
    expect(decodeProtobuf(utf8.encode("{}"), messages)).toMatchObject({ kind: "malformed" });
  });
});
