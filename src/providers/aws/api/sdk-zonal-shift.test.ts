import { describe, expect, it } from "vitest";
import { shiftedZonesIn, signedZonalShift } from "./sdk-zonal-shift.ts";

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const arn = "arn:aws:eks:us-west-2:123456789012:cluster/demo";

function answering(status: number, body: unknown) {
  const requests: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const api = signedZonalShift({
    region: "us-west-2",
    credentials: async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "session" }),
    now: () => nowMs,
    fetch: async (url, { headers }) => {
      requests.push({ url, headers });
      return { ok: status < 300, status, text: async () => JSON.stringify(body) };
    },
  });
  return { api, requests };
}

describe("zonal shift", () => {
  it("04 §2.9 the call is signed for the service, at the time of the clock", async () => {
    const { api, requests } = answering(200, { zonalShifts: [{ appliedStatus: "APPLIED", awayFrom: "usw2-az1" }] });
    expect(await api.shiftedZoneIds(arn)).toEqual(["usw2-az1"]);
    const [{ url, headers } = { url: "", headers: {} }] = requests;
    expect(url).toBe(
      "https://arc-zonal-shift.us-west-2.amazonaws.com/managedresources/arn%3Aaws%3Aeks%3Aus-west-2%3A123456789012%3Acluster%2Fdemo",
    );
    expect(headers["x-amz-date"]).toBe("20260102T030405Z");
    expect(headers["x-amz-security-token"]).toBe("session");
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/us-west-2\/arc-zonal-shift\/aws4_request, SignedHeaders=host;[^,]*, Signature=[0-9a-f]{64}$/,
    );
  });

  it("04 §2.9 only shifts that are applied and have not expired count", () => {
    const nowSeconds = nowMs / 1_000;
    const zonalShifts = [
      { appliedStatus: "APPLIED", awayFrom: "usw2-az2", expiryTime: nowSeconds + 1 },
      { appliedStatus: "APPLIED", awayFrom: "usw2-az3", expiryTime: nowSeconds },
      { appliedStatus: "NOT_APPLIED", awayFrom: "usw2-az4", expiryTime: nowSeconds + 1 },
    ];
    const autoshifts = [{ appliedStatus: "APPLIED", awayFrom: "usw2-az1" }];
    expect(shiftedZonesIn(JSON.stringify({ zonalShifts, autoshifts }), nowMs)).toEqual(["usw2-az1", "usw2-az2"]);
    expect(shiftedZonesIn("{}", nowMs)).toEqual([]);
  });

  it("a refusal has the code of AWS and not the account", async () => {
    const { api } = answering(404, { __type: "a#ResourceNotFoundException", message: `no ${arn}` });
    await expect(api.shiftedZoneIds(arn)).rejects.toMatchObject({
      code: "ResourceNotFoundException",
      status: 404,
      message: "no arn:aws:eks:us-west-2:<account>:cluster/demo",
    });
  });
});
