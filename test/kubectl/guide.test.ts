import { expect, it } from "vitest";
import { describeSandbox } from "./embedded.ts";
import { block, poolWith, spreadPod } from "./guide-manifests.ts";
import type { Kubectl } from "./kubectl.ts";

/**
 * A tutorial for EKS and Karpenter 0.32 (`test/fixtures/seeds`, its YAML blocks in document order), followed word for
 * word in the sandbox: at each step, what its reader would see.
 */
describeSandbox("a guide written for AWS, word for word", ({ k }) => {
  it("verifies the installation", async () => {
    await seen(k, "get pods -n karpenter", /^karpenter-0 +1\/1 +Running/m);
  });

  it("01 §7 creates its first NodePool, which waits for its class", async () => {
    const { stdout, warnings } = await applied(k, block("M01"));
    expect(stdout).toBe("nodepool.karpenter.sh/default created\n");
    expect(warnings).toEqual([
      "karpenter.sh/v1beta1 NodePool is deprecated; use karpenter.sh/v1 NodePool",
      expect.stringMatching(/^spec.disruption.consolidationPolicy: WhenIdle is not a Karpenter policy; treating it as/),
    ]);
    await seen(k, "get nodepool", /^default +default +0 +False/m);
    await seen(k, "describe nodepool default", /Reason: +NodeClassNotFound/);
  });

  it("04 §1 creates its EC2NodeClass, which is ready without an account", async () => {
    const { stdout, warnings } = await applied(k, block("M02"));
    expect(stdout).toBe("ec2nodeclass.karpenter.k8s.aws/default created\n");
    expect(warnings.map((text) => text.split(/[:;]/)[0])).toEqual([
      "karpenter.k8s.aws/v1beta1 EC2NodeClass is deprecated",
      "spec.amiFamily",
      "spec.instanceProfile",
      "spec.metadataOptions",
      "spec.userData",
    ]);
    await seen(k, "get ec2nodeclass", /^default +True/m);
    await seen(k, "get nodepool", /^default +default +0 +True/m);
  });

  it("02:L-20 my-app tolerates no taint, and says so: its NodePool has one", async () => {
    expect((await applied(k, block("M03"))).warnings).toEqual([]);
    await refused(k, "my-app", "did not tolerate taint (taint=example.com/special-taint=true:NoSchedule)");
  });

  it("02:L-20 no pool serves gpu-workload and compute-heavy yet, and they say so", async () => {
    await applied(k, block("M04"));
    await applied(k, block("M05"));
    await refused(k, "gpu-workload", "did not tolerate taint (taint=example.com/special-taint=true:NoSchedule)");
    await refused(k, "compute-heavy", "did not tolerate taint (taint=example.com/special-taint=true:NoSchedule)");
    expect(await k.ok("get nodeclaims")).toBe("");
  });

  it("02 §5.5 the tainted GPU pool serves gpu-pod, which tolerates it, and not gpu-workload, which does not", async () => {
    const { stdout, warnings } = await applied(k, block("M06"));
    expect(stdout).toBe("nodepool.karpenter.sh/gpu-nodes created\n");
    expect(warnings[1]).toMatch(/^spec.template.spec.nodeClassRef: no nodeClassRef; assumed EC2NodeClass\/default/);
    await applied(k, block("M07"));
    const node = await running(k, "gpu-pod");
    expect(node).toMatchObject({
      pool: "gpu-nodes",
      type: expect.stringMatching(/^p3\.(2|8)xlarge$/),
      retired: "true",
    });
    await refused(k, "gpu-workload", "did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)");
  });

  it("02 §5.5 the spot pool serves my-app on the cheapest of its types", async () => {
    const { warnings } = await applied(k, block("M08"));
    expect(warnings.map((text) => text.split(/[:;]/)[0])).toEqual([
      "karpenter.sh/v1beta1 NodePool is deprecated",
      "spec.template.spec.nodeClassRef",
      "spec.disruption.consolidateAfter",
    ]);
    const node = await running(k, "my-app");
    expect(node).toMatchObject({ pool: "spot-nodes", capacity: "spot", type: "m5.large", arch: "amd64", retired: "" });
  });

  it("02:L-20 compute-heavy and gpu-workload ask for types the spot pool does not have, and say so", async () => {
    await refused(k, "compute-heavy", /instance-type In \[c5.2xlarge c5.4xlarge c5.9xlarge\] not in .*m4.large/);
    await refused(
      k,
      "compute-heavy",
      "karpenter.sh/capacity-type In [on-demand] not in karpenter.sh/capacity-type In [spot]",
    );
    await refused(k, "gpu-workload", /instance-type In \[p3.2xlarge\] not in .*m4.large/);
  });

  it("01 §7 takes its fragments about types and consolidation as changes of the first pool", async () => {
    expect((await applied(k, poolWith("M01", ["M09"]))).stdout).toBe("nodepool.karpenter.sh/default configured\n");
    const types =
      'get nodepool default -o jsonpath={.spec.template.spec.requirements[?(@.key=="node.kubernetes.io/instance-type")].values}';
    expect(await k.ok(types)).toBe('["m5.large","m5.xlarge","m4.large","m4.xlarge","c5.large","c5.xlarge"]');
    expect((await applied(k, poolWith("M01", ["M09", "M10"]))).stdout).toContain("configured");
    expect(await k.ok("get nodepool default -o jsonpath={.spec.template.spec.expireAfter}")).toBe("2160h");
  });

  it("troubleshooting: pods stuck in Pending state", async () => {
    const pending = await k.ok("get pods --field-selector=status.phase=Pending");
    expect(pending.match(/^\S+/gm)).toEqual(["NAME", "compute-heavy", "gpu-workload"]);
    for (const name of ["compute-heavy", "gpu-workload"])
      expect(await k.ok(`describe pod ${name}`)).toMatch(/Events:[\s\S]* karpenter +Failed to schedule pod, /);
    const log = (await k.ok("logs -n karpenter -l app.kubernetes.io/name=karpenter")).trimEnd().split("\n");
    expect(log).toHaveLength(10); // as many as kubectl shows of each pod it selects by label
    for (const line of log)
      expect(JSON.parse(line)).toMatchObject({ logger: "controller", message: expect.any(String) });
    const all = await k.ok("logs -n karpenter -l app.kubernetes.io/name=karpenter --tail=-1");
    expect(all).toMatch(/"message":"could not schedule pod".*"Pod":\{"name":"compute-heavy","namespace":"default"\}/);
  });

  it("troubleshooting: nodes not being created", async () => {
    expect(await k.ok("get nodepool")).toMatch(
      /^NAME +NODECLASS +NODES +READY +AGE\ndefault .*\ngpu-nodes .*\nspot-nodes /,
    );
    for (const name of ["default", "gpu-nodes", "spot-nodes"])
      expect(await k.ok(`describe nodepool ${name}`)).toMatch(/Reason: +Ready\n +Status: +True\n +Type: +Ready/);
    expect(await k.ok("get ec2nodeclass")).toMatch(/^NAME +READY +AGE\ndefault +True/);
    const described = await k.ok("describe ec2nodeclass default");
    expect(described).toMatch(/Zone: +us-west-2a/);
    expect(described).toMatch(/Type: +ValidationSucceeded/);
  });

  it("troubleshooting: high costs", async () => {
    const nodes = await k.ok("get nodes --show-labels");
    expect(nodes).toMatch(
      /^ip-\S+ +Ready .*karpenter.sh\/capacity-type=spot.*node.kubernetes.io\/instance-type=m5.large/m,
    );
    expect(nodes).toMatch(/^ip-\S+ +Ready .*node.kubernetes.io\/instance-type=p3.2xlarge/m);
    const cheaper = ["M09", "M10", "M11"];
    expect((await applied(k, poolWith("M01", cheaper))).stdout).toContain("configured");
    expect((await applied(k, poolWith("M01", [...cheaper, "M12"]))).stdout).toContain("configured");
    const disruption =
      "get nodepool default -o jsonpath={.spec.disruption.consolidationPolicy}:{.spec.disruption.consolidateAfter}";
    expect(await k.ok(disruption)).toBe("WhenEmpty:15s");
  });

  it("02 §5.5 the multi-zone pool takes any type, so the pods that waited get theirs", async () => {
    expect((await applied(k, block("M13"))).stdout).toBe("nodepool.karpenter.sh/multi-zone created\n");
    expect(await running(k, "gpu-workload")).toMatchObject({
      pool: "multi-zone",
      type: "p3.2xlarge",
      arch: "amd64",
      zone: expect.stringMatching(/^us-west-2[abc]$/),
      retired: "true",
    });
    expect(await running(k, "compute-heavy")).toMatchObject({
      pool: "multi-zone",
      type: expect.stringMatching(/^c5\.(2|4|9)xlarge$/),
      capacity: "on-demand",
      zone: expect.stringMatching(/^us-west-2[abc]$/),
    });
    expect(await k.ok("get pods --field-selector=status.phase=Pending")).toBe("");
  });

  it("01 §7 GPU workloads: a class of their own, named in the wrong place; what runs goes on", async () => {
    const before = await running(k, "gpu-pod");
    const { stdout, warnings } = await applied(k, `${block("M14")}---\n${block("M15")}`);
    expect(stdout).toBe(
      "nodepool.karpenter.sh/gpu-nodes configured\nec2nodeclass.karpenter.k8s.aws/gpu-nodeclass created\n",
    );
    expect(warnings.join("\n")).toContain("spec.nodeClassRef: ");
    expect(warnings.join("\n")).toContain("spec.subnetSelectorTerms: ");
    expect((await applied(k, block("M14"))).stdout).toMatch(/gpu-nodes (unchanged|configured)/); // again, and no harm
    await seen(k, "get nodepool gpu-nodes", /^gpu-nodes +gpu-nodeclass +1 +True/m);
    await seen(k, "get ec2nodeclass gpu-nodeclass", /^gpu-nodeclass +True/m);
    expect(await running(k, "gpu-pod")).toEqual(before);
  });

  it("01 §7 batch workloads and limits", async () => {
    expect((await applied(k, block("M16"))).stdout).toBe("nodepool.karpenter.sh/batch-processing created\n");
    await seen(k, "get nodepool batch-processing", /^batch-processing +default +0 +True/m);
    expect((await applied(k, poolWith("M01", ["M09", "M10", "M11", "M12", "M17"]))).stdout).toContain("configured");
    expect(await k.ok("get nodepool default -o jsonpath={.spec.limits}")).toBe('{"cpu":1000,"memory":"1000Gi"}');
  });

  it("02 §5.10 a pod that wants to be spread over zones runs in one", async () => {
    await applied(k, spreadPod());
    expect((await running(k, "spread")).zone).toMatch(/^us-west-2[a-d]$/);
  });

  it("03 §1 every node has its NodeClaim, and all are ready", async () => {
    const claims = (await k.ok("get nodeclaims --no-headers")).trimEnd().split("\n");
    expect(claims.map((line) => line.split(/ +/)[5])).toEqual(claims.map(() => "True"));
    const nodes = (await k.ok("get nodes -l karpenter.sh/nodepool -o name")).trimEnd().split("\n");
    expect(nodes).toHaveLength(claims.length);
  });
});

async function applied(k: Kubectl, text: string) {
  const { code, stdout, stderr } = await k.run("apply -f -", { stdin: text });
  expect(`${code} ${stderr.replace(/^Warning: .*\n/gm, "")}`).toBe("0 ");
  // The guide's pods have no owner: what is disrupted is lost, and later steps look at it.
  const held = JSON.stringify({ spec: { disruption: { budgets: [{ nodes: "0" }] } } });
  for (const [, pool = ""] of stdout.matchAll(/^nodepool.karpenter.sh\/(\S+) /gm))
    await k.ok(`patch nodepool ${pool} --type=merge -p '${held}'`);
  return { stdout, warnings: [...stderr.matchAll(/^Warning: (.*)$/gm)].map(([, warning = ""]) => warning) };
}

/** What a command prints once it prints that. */
async function seen(k: Kubectl, line: string, wanted: RegExp | string): Promise<string> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const text = await k.ok(line);
    if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return text;
    if (performance.now() > deadline) throw new Error(`kubectl ${line} never showed ${String(wanted)}:\n${text}`);
  }
}

/** The pod waits, and its events say why. */
async function refused(k: Kubectl, pod: string, why: RegExp | string): Promise<void> {
  const text = await seen(k, `describe pod ${pod}`, why);
  expect(text).toMatch(/^Status: +Pending$/m);
  expect(text).toMatch(/Warning +FailedScheduling .* karpenter +Failed to schedule pod, /);
}

/** The node a pod runs on. */
async function running(k: Kubectl, pod: string) {
  await seen(k, `get pod ${pod} --no-headers`, / 1\/1 +Running /);
  const node = await k.ok(`get pod ${pod} -o jsonpath={.spec.nodeName}`);
  const { metadata } = JSON.parse(await k.ok(`get node ${node} -o json`)) as {
    metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  };
  const { labels, annotations } = metadata;
  return {
    name: metadata.name,
    pool: labels["karpenter.sh/nodepool"],
    type: labels["node.kubernetes.io/instance-type"],
    capacity: labels["karpenter.sh/capacity-type"],
    zone: labels["topology.kubernetes.io/zone"],
    arch: labels["kubernetes.io/arch"],
    /** Whether the type is sold here alone: EC2 has retired it. */
    retired: annotations["sim.karpenter.sh/retired-type"] ?? "",
  };
}
