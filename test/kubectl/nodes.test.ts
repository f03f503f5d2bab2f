import { expect, it } from "vitest";
import { describeKubectl } from "./embedded.ts";
import { pod } from "./manifests.ts";

describeKubectl("nodes", ({ k, server }) => {
  it("05 §1 shows nodes", async () => {
    const table = await k.ok("get nodes");
    expect(table).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION\nnode-1 +Ready +<none> +\d+s +v1.36.1\n/);
    expect(await k.ok("get nodes -o wide")).toMatch(/node-3 .* simulated:\/\/1.0.0\n/);
    expect(await k.ok("get nodes -L topology.kubernetes.io/zone")).toMatch(/node-2 .*simulated-b/);
  });

  it("05 §1 describes a node with its pods", async () => {
    await k.ok("apply -f -", { stdin: pod({ name: "a", node: "node-1" }) });
    const text = await k.ok("describe node node-1");
    expect(text).toContain("Non-terminated Pods:          (1 in total)");
    expect(text).toMatch(/Capacity:\n +cpu: +4/);
    expect(text).toContain("Allocated resources:");
  });

  it("05 §1 cordons, taints and labels", async () => {
    expect(await k.ok("cordon node-1")).toBe("node/node-1 cordoned\n");
    expect(await k.ok("get node node-1 --no-headers")).toContain("Ready,SchedulingDisabled");
    expect(await k.ok("uncordon node-1")).toBe("node/node-1 uncordoned\n");
    expect(await k.ok("uncordon node-2")).toBe("node/node-2 already uncordoned\n");
    expect(await k.ok("taint node node-1 team=blue:NoSchedule")).toBe("node/node-1 tainted\n");
    expect(await k.ok("get node node-1 -o jsonpath={.spec.taints[0].key}")).toBe("team");
    expect(await k.fails("taint node node-1 team=red:NoSchedule")).toContain("already has team taint");
    expect(await k.ok("taint node node-1 team=red:NoSchedule --overwrite")).toBe("node/node-1 modified\n");
    expect(await k.ok("taint node node-1 team-")).toBe("node/node-1 untainted\n");
    expect(await k.ok("label node node-1 disk=ssd")).toBe("node/node-1 labeled\n");
    expect(await k.ok("get nodes -l disk=ssd -o name")).toBe("node/node-1\n");
    expect(await k.ok("annotate node node-1 karpenter.sh/do-not-disrupt=true")).toBe("node/node-1 annotated\n");
  });

  it("05 §1 tries a drain", async () => {
    expect(await k.ok("drain node-3 --dry-run=server")).toContain("drained (server dry run)");
    expect(await k.ok("get node node-3 --no-headers")).not.toContain("SchedulingDisabled");
  });

  it("05 §1 waits", async () => {
    expect(await k.ok("wait --for=condition=Ready node/node-1 --timeout=5s")).toBe("node/node-1 condition met\n");
    expect(await k.ok("wait --for=condition=Ready nodes --all --timeout=5s")).toContain("node/node-3 condition met");
    expect(await k.fails("wait --for=condition=Ready pod/a --timeout=1s")).toContain("timed out waiting");
    const waiting = k.ok("wait --for=delete pod/a --timeout=20s");
    await k.ok("delete pod a --grace-period=0 --force");
    await waiting;
    const created = k.ok("wait --for=create pod/late --timeout=20s");
    await k.ok("apply -f -", { stdin: pod({ name: "late" }) });
    expect(await created).toContain("pod/late condition met");
  });

  it("05 §1 watches as tables", async () => {
    const watch = k.start("get pods -w");
    await watch.until((text) => text.includes("late"));
    await k.ok("run soon --image=nginx:1");
    await k.ok("label pod soon x=y");
    await k.ok("delete pod soon --now");
    const text = await watch.until((all) => all.split("\n").filter((line) => line.startsWith("soon")).length >= 3);
    await watch.stop();
    expect(text.match(/^NAME/gm)).toHaveLength(1); // columns are defined once
    const events = k.start("get pods -w --output-watch-events -o jsonpath={.type}:{.object.metadata.name}:");
    await events.until((all) => all.includes("ADDED:late"));
    await k.ok("label pod late z=1");
    expect(await events.until((all) => all.includes("MODIFIED:late"))).not.toBe("");
    await events.stop();
  });

  it("05 §1 shows events", async () => {
    const { api } = server();
    const kind = api.kinds.get({ group: "", version: "v1", plural: "events" });
    const { object: late } = await api.get(api.kinds.get({ group: "", version: "v1", plural: "pods" }), {
      name: "late",
      namespace: "default",
    });
    const time = new Date().toISOString();
    await api.create(
      kind,
      {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "late.1", namespace: "default" },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "late", namespace: "default", uid: late.metadata.uid },
        reason: "FailedScheduling",
        message: "no room",
        type: "Warning",
        count: 2,
        firstTimestamp: time,
        lastTimestamp: time,
        source: { component: "default-scheduler" },
      },
      { namespace: "default" },
    );
    expect(await k.ok("get events")).toMatch(
      /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\d+s +Warning +FailedScheduling +pod\/late +no room/,
    );
    expect(await k.ok("events --for=pod/late")).toContain("FailedScheduling");
    expect(await k.ok("get events -o wide --field-selector=involvedObject.name=late,type=Warning")).toContain(
      "default-scheduler",
    );
    expect(await k.ok("get events.events.k8s.io -o name")).toBe("event.events.k8s.io/late.1\n");
    expect(await k.ok("describe pod late")).toMatch(/Warning +FailedScheduling .*no room/);
  });

  it("05 §1 reads the log of a container", async () => {
    expect(await k.ok("logs late")).toBe("");
    expect(await k.ok("logs late -c c --tail=5")).toBe("");
    expect(await k.fails("logs late -c other")).toContain("container other is not valid for pod late");
  });

  it("05 §1 says what needs a second protocol", async () => {
    const running = '{"status":{"phase":"Running"}}';
    await k.ok(`patch pod late --subresource=status --type=merge -p '${running}'`);
    expect(await k.fails("exec late -- ls")).toContain("exec is not supported: pods are simulated");
    expect(await k.fails("attach late")).toContain("attach is not supported");
    expect(await k.fails("port-forward pod/late :80")).toContain("portforward is not supported");
    expect(await k.fails("cp late:/etc/hosts ./hosts")).toContain("exec is not supported");
  });

  it("05 §1 says that there is no usage yet", async () => {
    expect(await k.fails("top nodes")).toContain("metrics not available yet");
  });

  it("05 §3 deletes a node that finalizers hold when they are gone", async () => {
    await k.ok(`patch node node-3 --type=merge -p '{"metadata":{"finalizers":["karpenter.sh/termination"]}}'`);
    expect(await k.ok("delete node node-3 --wait=false")).toBe('node "node-3" deleted\n');
    expect(await k.ok("get node node-3 -o jsonpath={.metadata.deletionTimestamp}")).not.toBe("");
    await k.ok(`patch node node-3 --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
    expect(await k.fails("get node node-3")).toContain('nodes "node-3" not found');
  });
});
