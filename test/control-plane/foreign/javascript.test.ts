import { CustomObjectsApi, KubeConfig, KubernetesObjectApi } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ApiServer } from "../../../src/control-plane/api/server.ts";
import { makeCertificate } from "../../../src/control-plane/certificate.ts";
import { type ServedApi, serveApi } from "../../../src/control-plane/http/serve-api.ts";
import { installCrds } from "../../../src/control-plane/install-crds.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { Random } from "../../../src/util/random.ts";
import { javascriptClientScenario } from "./javascript-client.ts";

const config = new KubeConfig();
const faults: unknown[] = [];
let served: ServedApi | undefined;

beforeAll(async () => {
  const clock = systemClock();
  const api = new ApiServer({ clock, random: new Random("foreign") });
  const certificate = await makeCertificate({ hosts: ["127.0.0.1"], now: clock.now() });
  served = await serveApi(api, {
    token: "token",
    host: "127.0.0.1",
    port: 0,
    certificate,
    onInternalError: (error) => faults.push(error),
  });
  await installCrds(api, "all");
  config.loadFromString(served.kubeconfig);
});
afterAll(() => served?.close());

javascriptClientScenario(() => served?.kubeconfig ?? "");

it("05 §5 it finds our kinds by discovery", async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  const requirements = [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }];
  const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "js" } };
  await objects.create({ ...pool, spec: { template: { spec: { nodeClassRef, requirements } } } } as typeof pool);
  const custom = config.makeApiClient(CustomObjectsApi);
  const read = (await custom.getClusterCustomObject({
    group: "karpenter.sh",
    version: "v1",
    plural: "nodepools",
    name: "js",
  })) as { spec: { disruption: { consolidationPolicy: string } } };
  expect(read.spec.disruption.consolidationPolicy).toBe("WhenEmptyOrUnderutilized");
  expect(faults).toEqual([]);
});
