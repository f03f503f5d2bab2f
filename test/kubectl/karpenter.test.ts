import { expect, it } from "vitest";
import { describeKubectl } from "./embedded.ts";
import { configMap, deployment, nodePool, provisioner, v1beta1NodePool } from "./manifests.ts";

describeKubectl("Karpenter's kinds", ({ k }) => {
  it("05 §1 applies a NodePool: created, unchanged, configured", async () => {
    const path = k.file("pool.yaml", nodePool());
    expect(await k.ok(`apply -f ${path}`)).toBe("nodepool.karpenter.sh/general created\n");
    expect(await k.ok(`apply -f ${path}`)).toBe("nodepool.karpenter.sh/general unchanged\n");
    expect(await k.ok("apply -f -", { stdin: nodePool({ cpu: 2000 }) })).toBe(
      "nodepool.karpenter.sh/general configured\n",
    );
    expect(await k.ok("get nodepool general -o jsonpath={.spec.limits.cpu}")).toBe("2000");
    expect(await k.ok("get nodepool general -o jsonpath={.metadata.generation}")).toBe("2");
  });

  it("01 §1.1 shows the columns its definition declares", async () => {
    expect(await k.ok("get nodepools")).toMatch(/^NAME +NODECLASS +NODES +READY +AGE\ngeneral +default +\S* *\d+s\n$/);
    expect(await k.ok("get nodepools -o wide")).toMatch(/WEIGHT +CPU +MEMORY\n/);
    expect(await k.ok("get karpenter -o name")).toContain("nodepool.karpenter.sh/general");
    expect(await k.ok("get nodepools.karpenter.sh -o name")).toBe("nodepool.karpenter.sh/general\n");
    expect(await k.ok("get nodepools.v1.karpenter.sh -o name")).toBe("nodepool.karpenter.sh/general\n");
  });

  it("05 §3 fills in defaults and prunes nothing that is declared", async () => {
    expect(await k.ok("get nodepool general -o jsonpath={.spec.disruption.budgets[0].nodes}")).toBe("10%");
    expect(await k.ok("describe nodepool general")).toMatch(/Consolidate After: +1m/);
  });

  it("05 §3 refuses what its rules forbid, naming the field", async () => {
    const bad = nodePool().replace("consolidateAfter: 1m", "consolidateAfter: soon");
    expect(await k.fails("apply -f -", { stdin: bad })).toMatch(/is invalid: spec.disruption.consolidateAfter/);
    const typo = nodePool().replace("limits:", "limitz:");
    expect(await k.fails("apply -f -", { stdin: typo })).toContain('unknown field "spec.limitz"');
  });

  it("05 §1 shows a difference", async () => {
    const path = k.file("next.yaml", nodePool({ cpu: 3000 }));
    const { code, stdout } = await k.run(`diff -f ${path}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/-\s+cpu: 2000\n\+\s+cpu: 3000/);
    expect(await k.ok(`apply -f ${path} --dry-run=server`)).toBe(
      "nodepool.karpenter.sh/general configured (server dry run)\n",
    );
  });

  it("05 §1 patches by merge and by JSON, and refuses a strategic patch", async () => {
    expect(await k.ok(`patch nodepool general --type=merge -p '{"spec":{"weight":7}}'`)).toContain("patched");
    expect(
      await k.ok(`patch nodepool general --type=json -p '[{"op":"replace","path":"/spec/weight","value":8}]'`),
    ).toContain("patched");
    expect(await k.ok("get nodepool general -o jsonpath={.spec.weight}")).toBe("8");
    expect(await k.fails(`patch nodepool general --type=strategic -p '{"spec":{"weight":9}}'`)).toContain(
      "unknown format",
    );
  });

  it("05 §3 keeps a status to its subresource", async () => {
    const status = JSON.stringify({
      status: {
        conditions: [
          { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
        ],
      },
    });
    await k.ok(`patch nodepool general --type=merge -p '${status}'`);
    expect(await k.ok("get nodepool general -o jsonpath={.status.conditions}")).toBe("");
    await k.ok(`patch nodepool general --subresource=status --type=merge -p '${status}'`);
    expect(await k.ok("get nodepool general --no-headers")).toMatch(/general +default +0 +True/);
    expect(await k.ok("wait --for=condition=Ready nodepool/general --timeout=5s")).toContain("condition met");
  });

  it("05 §3 applies on the server, with conflicts and force", async () => {
    expect(await k.ok("apply --server-side -f -", { stdin: configMap() })).toBe(
      "configmap/settings serverside-applied\n",
    );
    const conflict = await k.fails("apply --server-side --field-manager=other -f -", { stdin: configMap({ a: "9" }) });
    expect(conflict).toMatch(/Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/);
    expect(
      await k.ok("apply --server-side --field-manager=other --force-conflicts -f -", { stdin: configMap({ a: "9" }) }),
    ).toContain("serverside-applied");
    expect(await k.ok("get cm settings -o jsonpath={.data.a}")).toBe("9");
    const managed = await k.ok("get cm settings -o yaml --show-managed-fields");
    expect(managed).toContain("manager: other");
    expect(managed).toContain("f:a: {}");
    expect(await k.ok("apply --server-side -f -", { stdin: deployment() })).toBe(
      "deployment.apps/api serverside-applied\n",
    );
    expect(await k.ok("apply --server-side --force-conflicts -f -", { stdin: nodePool({ cpu: 4000 }) })).toContain(
      "serverside-applied",
    );
    expect((await k.run("apply --server-side --dry-run=server -f -", { stdin: deployment() })).stdout).toContain(
      "(server dry run)",
    );
  });

  it("05 §5 takes v1beta1, keeps v1, warns, and reads back both", async () => {
    const applied = await k.run("apply -f -", { stdin: v1beta1NodePool });
    expect(applied.code).toBe(0);
    expect(applied.stderr).toContain("Warning:");
    expect(
      await k.ok(
        "get nodepools.v1.karpenter.sh elder -o jsonpath={.apiVersion}:{.spec.template.spec.nodeClassRef.group}",
      ),
    ).toBe("karpenter.sh/v1:karpenter.k8s.aws");
    expect(await k.ok("get nodepools.v1beta1.karpenter.sh elder -o jsonpath={.apiVersion}")).toBe(
      "karpenter.sh/v1beta1",
    );
  });

  it("05 §5 writes the oldest kinds through, and says where they are", async () => {
    const applied = await k.run("apply -f -", { stdin: provisioner });
    expect(applied.stdout + applied.stderr).toContain("provisioner.karpenter.sh/old");
    expect((await k.run("apply -f -", { stdin: provisioner })).code).toBe(0);
    expect(await k.ok("get nodepool old -o name")).toBe("nodepool.karpenter.sh/old\n");
    expect(await k.fails("get provisioner old")).toContain("NodePool");
    expect(await k.ok("delete provisioner old")).toContain("deleted");
    expect(await k.fails("get nodepool old")).toContain("not found");
  });

  it("05 §3 registers and forgets kinds while it runs", async () => {
    const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
      additionalPrinterColumns:
        - {name: Size, type: integer, jsonPath: .spec.size}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              x-kubernetes-validations: [{rule: "self.size >= oldSelf.size", message: widgets only grow}]
              properties: {size: {type: integer, minimum: 1, description: How large it is.}}
            status: {type: object, properties: {size: {type: integer}}}
`;
    expect(await k.ok("apply -f -", { stdin: crd })).toContain("created");
    expect(await k.ok("wait --for=condition=Established crd/widgets.example.com --timeout=5s")).toContain(
      "condition met",
    );
    const widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n";
    expect(await k.ok("apply -f -", { stdin: widget })).toBe("widget.example.com/w created\n");
    expect(await k.ok("get wd")).toMatch(/NAME +SIZE\nw +3\n/);
    expect(await k.ok("explain widget.spec.size")).toContain("How large it is.");
    expect(await k.fails(`patch widget w --type=merge -p '{"spec":{"size":2}}'`)).toContain("widgets only grow");
    expect(await k.ok("scale widget w --replicas=4")).toContain("scaled");
    expect(await k.ok("get crd widgets.example.com")).toMatch(/NAME +CREATED AT\nwidgets.example.com +\d{4}-/);
    expect(await k.ok("delete crd widgets.example.com --timeout=10s")).toContain("deleted");
    expect(await k.fails("get widgets")).toContain("the server could not find the requested resource");
  });

  it("05 §1 deletes", async () => {
    expect(await k.ok("delete nodepool general --cascade=foreground --wait=false")).toContain('"general" deleted');
    expect(await k.ok("delete nodepools --all")).toContain("deleted");
  });
});
