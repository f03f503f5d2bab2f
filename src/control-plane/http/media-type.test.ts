import { describe, expect, it } from "vitest";
import { acceptedRepresentation } from "./media-type.ts";

describe("Accept", () => {
  it.each([
    [undefined, { kind: "json" }],
    ["*/*", { kind: "json" }],
    ["application/vnd.kubernetes.protobuf,application/json", { kind: "json" }],
    ["application/vnd.kubernetes.protobuf", undefined],
    ["text/html", undefined],
    [
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
      { kind: "table", apiVersion: "meta.k8s.io/v1" },
    ],
    ["application/json;as=Table;v=v9;g=meta.k8s.io,application/json", { kind: "json" }],
    [
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
      { kind: "discovery", version: "v2" },
    ],
    [
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
      { kind: "metadata", apiVersion: "meta.k8s.io/v1" },
    ],
  ])("05 §1 answers %s", (accept, expected) => {
    expect(acceptedRepresentation(accept)).toEqual(expected);
  });
});
