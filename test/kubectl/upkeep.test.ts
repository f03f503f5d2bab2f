import { expect, it } from "vitest";
import { describeRunning } from "./embedded.ts";
import { daemonSet } from "./manifests.ts";

describeRunning("upkeep of nodes", ({ k }) => {
  const podsOn = (node: string) =>
    k.ok(`get pods -l app=web --field-selector=spec.nodeName=${node} -o jsonpath={.items[*].metadata.name}`);

  it("05:CP-L6 counts what a budget allows", async () => {
    await k.ok("create deployment web --image=nginx:1 --replicas=3");
    await k.ok("create pdb web --selector=app=web --min-available=3");
    await k.ok("rollout status deployment/web --timeout=20s");
    await k.ok("wait --for=jsonpath={.status.currentHealthy}=3 pdb/web --timeout=10s");
    expect(await k.ok("get pdb web")).toMatch(/web +3 +N\/A +0 +\d+/);
    expect(await k.ok("describe pdb web")).toMatch(/disruptions: +0\n +Current: +3\n +Desired: +3\n +Total: +3/);
  });

  it("05 §1 drains: a budget holds it up until it allows more", async () => {
    expect(await podsOn("node-1")).toMatch(/^web-\S+$/);
    const held = await k.fails("drain node-1 --timeout=2s");
    expect(held).toContain("Cannot evict pod as it would violate the pod's disruption budget");
    expect(await podsOn("node-1")).toMatch(/^web-\S+$/);
    expect(await k.ok("get node node-1 --no-headers")).toContain("Ready,SchedulingDisabled");
    await k.ok('patch pdb web -p \'{"spec":{"minAvailable":2}}\'');
    await k.ok("wait --for=jsonpath={.status.disruptionsAllowed}=1 pdb/web --timeout=10s");
    const drained = await k.ok("drain node-1 --timeout=20s");
    expect(drained).toMatch(/pod\/web-\S+ evicted\nnode\/node-1 drained\n$/);
    expect(await podsOn("node-1")).toBe("");
    await k.ok("rollout status deployment/web --timeout=20s");
  });

  it("05:CP-L9 places nothing on a cordoned node, and does again once uncordoned", async () => {
    await k.ok("scale deployment web --replicas=6");
    await k.ok("rollout status deployment/web --timeout=20s");
    expect(await podsOn("node-1")).toBe("");
    expect(await k.ok("uncordon node-1")).toBe("node/node-1 uncordoned\n");
    await k.ok("scale deployment web --replicas=9");
    await k.ok("rollout status deployment/web --timeout=20s");
    expect(await podsOn("node-1")).not.toBe("");
  });

  it("05 §1 drains around daemons and lone pods only when told", async () => {
    await k.ok("apply -f -", { stdin: daemonSet });
    await k.ok("rollout status ds/agent --timeout=20s");
    expect(await k.fails("drain node-3")).toContain("cannot delete DaemonSet-managed Pods");
    await k.ok("uncordon node-3");
    await k.ok('run alone --image=nginx:1 --overrides=\'{"spec":{"nodeName":"node-3"}}\'');
    await k.ok("wait --for=condition=Ready pod/alone --timeout=10s");
    expect(await k.fails("drain node-3 --ignore-daemonsets --pod-selector=run=alone")).toContain(
      "declare no controller",
    );
    expect(await k.ok("drain node-3 --ignore-daemonsets --force --pod-selector=run=alone --timeout=20s")).toContain(
      "pod/alone evicted",
    );
    await k.ok("uncordon node-3");
  });

  it("05:CP-L11 evicts what does not tolerate a NoExecute taint", async () => {
    await k.ok("delete pdb web");
    const before = (await podsOn("node-2")).split(" ");
    expect(before[0]).toMatch(/^web-/);
    await k.ok("taint node node-2 maintenance=now:NoExecute");
    for (const name of before) await k.ok(`wait --for=delete pod/${name} --timeout=10s`);
    await k.ok("rollout status deployment/web --timeout=20s");
    expect(await podsOn("node-2")).toBe("");
    await k.ok("wait --for=jsonpath={.status.desiredNumberScheduled}=2 ds/agent --timeout=10s");
    await k.ok("taint node node-2 maintenance-");
    await k.ok("wait --for=jsonpath={.status.numberReady}=3 ds/agent --timeout=10s");
  });

  it("05:CP-L13 tells usage", async () => {
    expect(await k.ok("top nodes")).toMatch(/^NAME +CPU.*\nnode-1 +\d+m +\d+% +\d+Mi +\d+% *\nnode-2 .*\nnode-3 .*\n$/);
    const pods = await k.ok("top pods -l app=web");
    expect(pods.match(/^web-\S+ +\d+m +\d+Mi *$/gm)).toHaveLength(9);
    expect(await k.ok("top pod --containers -l app=agent --no-headers")).toMatch(/^agent-\S+ +agent +\d+m +\d+Mi/);
    expect(await k.ok("top nodes --sort-by=cpu --no-headers")).toMatch(/node-\d/);
  });

  it("05 §1 describes a node at work, its lease and its pods", async () => {
    const text = await k.ok("describe node node-1");
    expect(text).toMatch(/HolderIdentity: +node-1/);
    expect(text).toMatch(/Ready +True .*KubeletReady/);
    expect(text).toMatch(/default +agent-\w+ +0 \(0%\)/);
    expect(await k.ok("get leases -n kube-node-lease")).toMatch(/node-1 +node-1 [\s\S]*node-3 +node-3 /);
    const pod = await k.ok("describe pod -l app=agent");
    expect(pod).toMatch(/Controlled By: +DaemonSet\/agent/);
    expect(pod).toMatch(/PodReadyToStartContainers +True[\s\S]*PodScheduled +True/);
    expect(pod).toMatch(/Normal +Started .*kubelet +Started container agent/);
  });

  it("05 §1 tells what happened", async () => {
    await k.ok("run witness --image=nginx:1");
    await k.ok("wait --for=condition=Ready pod/witness --timeout=10s");
    const events = await k.ok("events --for=pod/witness");
    expect(events).toMatch(/Normal +Scheduled +Pod\/witness +Successfully assigned default\/witness to node-/);
    expect(events).toMatch(/Normal +Started +Pod\/witness +Started container witness/);
    expect(await k.ok("get events --field-selector=involvedObject.name=witness,reason=Scheduled")).toMatch(
      /Normal +Scheduled +pod\/witness/,
    );
  });

  it("05:CP-L11 removes the pods of a node that was deleted", async () => {
    expect(await k.ok("delete node node-3")).toBe('node "node-3" deleted\n');
    await k.ok("wait --for=jsonpath={.status.desiredNumberScheduled}=2 ds/agent --timeout=10s");
    await k.ok("rollout status deployment/web --timeout=20s");
    await k.ok("wait --for=delete pod --field-selector=spec.nodeName=node-3 --timeout=20s");
  });
});
