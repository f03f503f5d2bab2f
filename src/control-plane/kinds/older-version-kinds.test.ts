import { describe, expect, it } from "vitest";
import { refusal, types } from "../../../test/contracts/api-objects.ts";
import { apiWorld } from "../../../test/world/api-world.ts";
import type { KubeObject } from "../../api/object.ts";
import { installCrds } from "../install-crds.ts";

const beta = {
  apiVersion: "karpenter.sh/v1beta1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
        nodeClassRef: { name: "default" },
        kubelet: { maxPods: 20 },
      },
    },
    disruption: { consolidationPolicy: "WhenUnderutilized", expireAfter: "720h" },
  },
} satisfies KubeObject;

const provisioner = {
  apiVersion: "karpenter.sh/v1alpha5",
  kind: "Provisioner",
  metadata: { name: "old" },
  spec: {
    requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }],
    ttlSecondsAfterEmpty: 30,
    providerRef: { name: "old" },
  },
} satisfies KubeObject;

async function world() {
  const made = apiWorld();
  await installCrds(made.api, "all");
  return made;
}

describe("older versions of our kinds (01 §7)", () => {
  it("01 §7.3 v1beta1 is kept as v1 and reads back as it was written", async () => {
    const { client, api } = await world();
    const made = await client.create(types.nodePoolsBeta, beta);
    expect(made.apiVersion).toBe("karpenter.sh/v1beta1");
    const stored = await client.get(types.nodePools, { name: "default" });
    expect(stored.spec).toMatchObject({ disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized" } });
    const back = await client.get(types.nodePoolsBeta, { name: "default" });
    expect(back.spec).toMatchObject({
      template: { spec: { kubelet: { maxPods: 20 }, nodeClassRef: { name: "default" } } },
      disruption: { consolidationPolicy: "WhenUnderutilized", expireAfter: "720h" },
    });
    const { items } = await client.list(types.nodePoolsBeta);
    expect(items.map(({ apiVersion }) => apiVersion)).toEqual(["karpenter.sh/v1beta1"]);
    expect(api.watch(api.kinds.get(types.nodePoolsBeta)).poll()).toMatchObject({
      type: "ADDED",
      object: { apiVersion: "karpenter.sh/v1beta1" },
    });
  });

  it("01 §7.3 v1beta1 is updated, patched and applied", async () => {
    const { client } = await world();
    const made = await client.create(types.nodePoolsBeta, beta);
    await client.update(types.nodePoolsBeta, { ...made, spec: { ...beta.spec, weight: 5 } });
    const key = { name: "default" };
    await client.patch(types.nodePoolsBeta, key, { kind: "merge", body: { spec: { limits: { cpu: 10 } } } });
    const stored = await client.get(types.nodePools, key);
    expect(stored.spec).toMatchObject({ weight: 5, limits: { cpu: 10 } });
  });

  it("answers with warnings", async () => {
    const { api: server } = await world();
    const kind = server.kinds.get(types.nodePoolsBeta);
    const { warnings } = await server.create(kind, beta);
    expect(warnings[0]).toBe("karpenter.sh/v1beta1 NodePool is deprecated; use karpenter.sh/v1 NodePool");
    const kubelet = { ...provisioner.spec, kubeletConfiguration: { maxPods: 20 } };
    const alpha = await server.create(server.kinds.get(types.provisioners), { ...provisioner, spec: kubelet });
    expect(alpha.warnings[0]).toContain("it is stored as karpenter.sh/v1 NodePool of the same name");
    expect(alpha.warnings.length).toBeGreaterThan(1);
  });

  it("01 §7.6 alpha kinds are written through, again and again", async () => {
    const { client } = await world();
    await client.create(types.provisioners, provisioner);
    const first = await client.get(types.nodePools, { name: "old" });
    expect(first.spec).toMatchObject({ disruption: { consolidateAfter: "30s" } });
    await client.create(types.provisioners, {
      ...provisioner,
      spec: { ...provisioner.spec, ttlSecondsAfterEmpty: 60 },
    });
    const second = await client.get(types.nodePools, { name: "old" });
    expect(second.spec).toMatchObject({ disruption: { consolidateAfter: "60s" } });
    expect(second.metadata.uid).toBe(first.metadata.uid);
    const apply = { kind: "apply", body: provisioner, fieldManager: "kubectl", force: true } as const;
    await client.patch(types.provisioners, { name: "old" }, apply);
    expect((await client.get(types.nodePools, { name: "old" })).spec).toMatchObject({
      disruption: { consolidateAfter: "30s" },
    });
    await client.delete(types.provisioners, { name: "old" });
    expect((await refusal(client.get(types.nodePools, { name: "old" }))).code).toBe("not-found");
  });

  it("01 §7.6 alpha kinds cannot be read: the answer names the new kind", async () => {
    const { client } = await world();
    await client.create(types.provisioners, provisioner);
    for (const answer of [client.get(types.provisioners, { name: "old" }), client.list(types.provisioners)]) {
      const error = await refusal(answer);
      expect(error.status?.code).toBe(404);
      expect(error.message).toContain("nodepools.karpenter.sh");
    }
  });

  it("01 §7.6 a provider written inline becomes a class beside the pool", async () => {
    const { client } = await world();
    const { providerRef: _, ...spec } = provisioner.spec;
    const provider = { subnetSelector: { a: "b" }, securityGroupSelector: { a: "b" }, instanceProfile: "p" };
    await client.create(types.provisioners, { ...provisioner, spec: { ...spec, provider } });
    expect((await client.get(types.nodeClasses, { name: "old" })).spec).toMatchObject({ instanceProfile: "p" });
  });

  it("refuses what cannot be converted", async () => {
    const { client } = await world();
    const error = await refusal(client.create(types.provisioners, { ...provisioner, spec: { requirements: 7 } }));
    expect(error.code).toBe("invalid");
  });
});
