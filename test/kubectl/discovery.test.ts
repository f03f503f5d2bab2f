import { expect, it } from "vitest";
import { describeKubectl } from "./embedded.ts";

describeKubectl("discovery", ({ k }) => {
  it("05 §1 tells its version", async () => {
    expect(JSON.parse(await k.ok("version -o json"))).toMatchObject({ serverVersion: { major: "1", minor: "36" } });
    expect(await k.ok("version")).toContain("Server Version: v1.36.1");
  });

  it("05 §1 answers api-versions and cluster-info", async () => {
    const versions = (await k.ok("api-versions")).split("\n");
    expect(versions).toEqual(expect.arrayContaining(["v1", "apps/v1", "karpenter.sh/v1", "policy/v1", "batch/v1"]));
    expect(await k.ok("cluster-info")).toContain("control plane is running at");
  });

  it("05 §1 lists what it serves, short names and categories included", async () => {
    const all = await k.ok("api-resources");
    expect(all).toMatch(/^pods +po +v1 +true +Pod$/m);
    expect(all).toMatch(/^ec2nodeclasses +ec2nc,ec2ncs +karpenter.k8s.aws\/v1 +false +EC2NodeClass$/m);
    expect(await k.ok("api-resources --namespaced=false -o name")).toMatch(/^nodepools\.karpenter\.sh$/m);
    expect(await k.ok("api-resources --api-group=karpenter.sh -o wide")).toMatch(/nodepools .*NodePool .*watch/);
    expect(await k.ok("api-resources --categories=karpenter -o name")).toContain("nodeclaims.karpenter.sh");
    expect(await k.ok("api-resources --verbs=deletecollection -o name")).toContain("pods\n");
  });

  it("05 §1 answers whoever may do something, and who that is", async () => {
    expect(await k.ok("auth can-i create pods")).toBe("yes\n");
    expect(await k.ok("auth can-i delete nodepools --all-namespaces")).toBe("yes\n");
    expect(await k.ok("auth whoami -o json")).toContain('"username"');
  });

  it("05 §2 explains custom kinds in full", async () => {
    const disruption = await k.ok("explain nodepool.spec.disruption");
    expect(disruption).toContain("FIELD: disruption <Object>");
    expect(disruption).toMatch(/budgets\t<\[\]Object>/);
    expect(disruption).toContain("enum: WhenEmpty, WhenEmptyOrUnderutilized, Balanced");
    expect(await k.ok("explain nodepool --recursive")).toContain("consolidateAfter");
    expect(await k.ok("explain ec2nc.spec.amiSelectorTerms")).toContain("alias\t<string>");
    expect(await k.ok("explain nodeclaims.spec.taints.effect")).toMatch(/ENUM:\n +NoSchedule\n/);
  });

  it("05 §2 explains built-in kinds", async () => {
    expect(await k.ok("explain deployments")).toContain("KIND:       Deployment");
    expect(await k.ok("explain pod.metadata")).toContain("annotations\t<map[string]string>");
  });

  it("05 §2 has OpenAPI v2 of all kinds, which explain reads in its older form", async () => {
    const explain = (what: string) => k.ok(`explain ${what} --output=plaintext-openapiv2`);
    expect(await explain("deployment.spec.template.spec.containers")).toMatch(/resources\t<Object>/);
    expect(await explain("nodepool.spec.disruption")).toMatch(/consolidationPolicy\t<string>/);
    expect(await explain("pod.metadata.annotations")).toContain("map[string]string");
    expect(JSON.parse(await k.ok("get --raw /openapi/v2"))).toMatchObject({ swagger: "2.0" });
  });

  it("05 §1 answers raw paths", async () => {
    expect(await k.ok("get --raw /healthz")).toBe("ok");
    expect(await k.ok("get --raw /readyz")).toBe("ok");
    expect(await k.ok("get --raw /livez")).toBe("ok");
    const core = JSON.parse(await k.ok("get --raw /api/v1"));
    expect(core.resources).toContainEqual(
      expect.objectContaining({ name: "pods/eviction", group: "policy", version: "v1", kind: "Eviction" }),
    );
    expect(JSON.parse(await k.ok("get --raw /apis/apps"))).toMatchObject({ preferredVersion: { version: "v1" } });
    expect(JSON.parse(await k.ok("get --raw /openapi/v3")).paths["apis/apps/v1"]).toBeDefined();
  });

  it("05 §1 says so where it has nothing", async () => {
    expect(await k.fails("get unicorns")).toContain(`the server doesn't have a resource type "unicorns"`);
    expect(await k.fails("get --raw /apis/example.com/v1")).toContain(
      "the server could not find the requested resource",
    );
    expect(await k.fails("explain unicorns")).toContain("doesn't have a resource type");
  });

  it("05:CP-S2 lets nobody in without the token", async () => {
    expect(await k.fails("get pods --token=wrong")).toContain("You must be logged in to the server");
  });
});
