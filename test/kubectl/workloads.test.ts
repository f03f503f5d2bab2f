import { expect, it } from "vitest";
import { describeRunning } from "./embedded.ts";
import { daemonSet, statefulSet, storageClass } from "./manifests.ts";

describeRunning("stateful sets, daemons and jobs", ({ k }) => {
  it("05:CP-L3 starts the pods of a StatefulSet in order, each with its volume", async () => {
    await k.ok("apply -f -", { stdin: storageClass });
    expect(await k.ok("get storageclass")).toMatch(/disk \(default\) +disk.example.com +Delete +WaitForFirstConsumer/);
    const watch = k.start("get pods -w -l app=db --no-headers");
    await k.ok("apply -f -", { stdin: statefulSet });
    expect(await k.ok("rollout status statefulset/db --timeout=20s")).toContain("complete: 2 new pods");
    const order = await watch.until((text) => /db-1 .*Running/.test(text));
    await watch.stop();
    expect(order.search(/db-0 .*1\/1 +Running|db-0 +1\/1/)).toBeLessThan(order.indexOf("db-1"));
    expect(await k.ok("get sts db")).toMatch(/db +2\/2/);
  });

  it("05:CP-L12 binds and attaches where the pod is", async () => {
    expect(await k.ok("get pvc")).toMatch(/data-db-0 +Bound +pvc-\S+ +1Gi +RWO +disk[\s\S]*data-db-1 +Bound/);
    expect(await k.ok("get pv --no-headers")).toMatch(/1Gi +RWO +Delete +Bound +default\/data-db-0 +disk/);
    expect(await k.ok("describe pvc data-db-0")).toMatch(/Used By: +db-0/);
    const node = await k.ok("get pod db-0 -o jsonpath={.spec.nodeName}");
    const volume = await k.ok("get pvc data-db-0 -o jsonpath={.spec.volumeName}");
    expect(await k.ok("get volumeattachments --no-headers")).toMatch(new RegExp(`${volume} +${node} +true`));
  });

  it("05:CP-L3 scales, restarts and keeps the claims", async () => {
    await k.ok("scale statefulset db --replicas=3");
    await k.ok("wait --for=condition=Ready pod/db-2 --timeout=10s");
    await k.ok("rollout restart statefulset/db");
    expect(await k.ok("rollout status sts/db --timeout=20s")).toContain("complete: 3 new pods");
    expect(await k.ok("rollout history sts/db")).toMatch(/1 +<none>\n2 +<none>/);
    await k.ok("delete sts db");
    await k.ok("wait --for=delete pod -l app=db --timeout=10s");
    expect(await k.ok("get pvc -o name")).toMatch(/data-db-0\n.*data-db-1\n.*data-db-2\n/);
    await k.ok("delete pvc --all --timeout=10s");
    await k.ok("wait --for=delete pv --all --timeout=10s");
    expect(await k.ok("get pv -o name")).toBe("");
  });

  it("05:CP-L4 runs a daemon on every node, cordoned ones too", async () => {
    await k.ok("cordon node-2");
    await k.ok("apply -f -", { stdin: daemonSet });
    expect(await k.ok("rollout status daemonset/agent --timeout=20s")).toContain("successfully rolled out");
    expect(await k.ok("get ds agent")).toMatch(/agent +3 +3 +3 +3 +3 +<none>/);
    const nodes = await k.ok("get pods -l app=agent -o jsonpath={.items[*].spec.nodeName}");
    expect(nodes.split(" ").sort()).toEqual(["node-1", "node-2", "node-3"]);
    await k.ok("uncordon node-2");
  });

  it("05:CP-L4 rolls daemons, back too", async () => {
    await k.ok("set image daemonset/agent agent=agent:2");
    expect(await k.ok("rollout status ds/agent --timeout=20s")).toContain("successfully rolled out");
    expect(await k.ok("get pods -l app=agent -o jsonpath={.items[*].spec.containers[0].image}")).toBe(
      "agent:2 agent:2 agent:2",
    );
    expect(await k.ok("rollout undo ds/agent")).toContain("rolled back");
    expect(await k.ok("rollout history ds/agent")).toMatch(/2 +<none>\n3 +<none>/);
    expect(await k.ok("get controllerrevisions")).toMatch(/agent-\w+ +daemonset.apps\/agent +3/);
  });

  it("05:CP-L5 runs a Job to its end", async () => {
    await k.ok("create job sum --image=busybox -- true");
    expect(await k.ok("wait --for=condition=complete job/sum --timeout=20s")).toBe("job.batch/sum condition met\n");
    expect(await k.ok("get job sum")).toMatch(/sum +Complete +1\/1 +\d+s/);
    expect(await k.ok("get pods -l job-name=sum --no-headers")).toMatch(/sum-\w+ +0\/1 +Completed +0/);
    expect(await k.ok("describe job sum")).toMatch(
      /0 Active \(0 Ready\) \/ 1 Succeeded \/ 0 Failed[\s\S]*Job completed/,
    );
    expect(await k.ok("logs job/sum")).toMatch(
      /^container sum \(busybox\) started on .*\ncontainer sum exited with code 0 /,
    );
    await k.ok("delete job sum");
    await k.ok("wait --for=delete pod -l job-name=sum --timeout=10s");
  });

  it("05:CP-L5 starts the Jobs of a CronJob as the minutes pass", async () => {
    await k.ok("create cronjob tick --image=busybox --schedule='* * * * *' -- true");
    await k.ok("wait --for=jsonpath={.status.lastScheduleTime} cronjob/tick --timeout=10s"); // a minute is three seconds
    expect(await k.ok("get jobs -o name")).toMatch(/job.batch\/tick-\d+/);
    expect(await k.ok("get cronjob tick")).toMatch(/tick +\* \* \* \* \* +<none> +False +\d/);
    expect(await k.ok("create job now --from=cronjob/tick")).toBe("job.batch/now created\n");
    await k.ok('patch cronjob tick -p \'{"spec":{"suspend":true}}\'');
    expect(await k.ok("describe cronjob tick")).toMatch(/Suspend: +True[\s\S]*SuccessfulCreate/);
    await k.ok("delete cronjob tick --cascade=foreground --timeout=20s");
    expect(await k.ok("get jobs -o name")).toBe("");
  });
});
