import { expect, it } from "vitest";
import { describeRunning } from "./embedded.ts";

describeRunning("rollouts", ({ k }) => {
  const imageOfPods = () => k.ok("get pods -l app=web -o jsonpath={.items[*].spec.containers[0].image}");
  const rolledOut = async (what = "deployment/web") => {
    expect(await k.ok(`rollout status ${what} --timeout=20s`)).toContain("successfully rolled out");
  };

  it("05:CP-L1 makes pods of a new Deployment, and tells when they run", async () => {
    await k.ok("create deployment web --image=nginx:1 --replicas=3");
    await rolledOut();
    expect(await k.ok("wait --for=condition=Available deploy/web --timeout=10s")).toBe(
      "deployment.apps/web condition met\n",
    );
    expect(await k.ok("get deployment web")).toMatch(/web +3\/3 +3 +3 +\d+/);
    const pods = await k.ok("get pods -l app=web -o wide --no-headers");
    expect(pods.match(/^web-\w+-\w+ +1\/1 +Running +0 +\S+ +10\.\S+ +node-[123] /gm)).toHaveLength(3);
  });

  it("05:CP-L1 rolls out a new image, step by step", async () => {
    await k.ok("set image deployment/web nginx=nginx:2");
    await k.ok("annotate deployment/web kubernetes.io/change-cause='second image'");
    await rolledOut();
    expect(await k.ok("get rs -o wide")).toMatch(/web-\w+ +3 +3 +3 +\S+ +nginx +nginx:2/);
    const history = await k.ok("rollout history deployment/web");
    expect(history).toMatch(/REVISION +CHANGE-CAUSE\n1 +<none>\n2 +second image\n/);
    expect(await k.ok("rollout history deployment/web --revision=1")).toContain("nginx:1");
  });

  it("05:CP-L1 goes back", async () => {
    expect(await k.ok("rollout undo deployment/web")).toBe("deployment.apps/web rolled back\n");
    await rolledOut();
    expect(await k.ok("get deploy web -o jsonpath={.spec.template.spec.containers[0].image}")).toBe("nginx:1");
    expect(await k.ok("rollout history deploy/web")).toMatch(/\n2 .*\n3 /); // the first became the third
    expect(await k.ok("rollout undo deployment/web --to-revision=2")).toContain("rolled back");
    await rolledOut();
    expect(await k.fails("rollout undo deployment/web --to-revision=9")).toContain("unable to find specified revision");
  });

  it("05:CP-L1 holds a paused rollout back until it is resumed", async () => {
    expect(await k.ok("rollout pause deployment/web")).toBe("deployment.apps/web paused\n");
    await k.ok("set image deployment/web nginx=nginx:5");
    const generation = await k.ok("get deploy web -o jsonpath={.metadata.generation}");
    await k.ok(`wait --for=jsonpath={.status.observedGeneration}=${generation} deploy/web --timeout=10s`);
    expect(await imageOfPods()).not.toContain("nginx:5");
    expect(await k.fails("rollout restart deployment/web")).toContain("can't restart paused deployment");
    expect(await k.ok("rollout resume deployment/web")).toBe("deployment.apps/web resumed\n");
    await rolledOut();
    expect(await k.ok("get rs -l app=web -o wide")).toMatch(/web-\w+ +3 +3 +3 +\S+ +nginx +nginx:5/);
  });

  it("05:CP-L1 replaces every pod on a restart", async () => {
    const before = (await k.ok("get pods -l app=web -o name")).split("\n");
    expect(await k.ok("rollout restart deployment/web")).toBe("deployment.apps/web restarted\n");
    await rolledOut();
    const running = await k.ok("get rs -l app=web -o jsonpath={.items[?(@.status.readyReplicas==3)].metadata.name}");
    expect(before.join()).not.toContain(running);
  });

  it("05:CP-L2 scales while one watches", async () => {
    const watch = k.start("get deployment web -w");
    const pods = k.start("get pods -w -l app=web");
    await watch.until((text) => text.includes("3/3"));
    expect(await k.ok("scale deployment/web --replicas=5")).toBe("deployment.apps/web scaled\n");
    const text = await watch.until((all) => all.includes("5/5"));
    expect(text).toMatch(/3\/5/);
    await k.ok("scale deployment/web --current-replicas=5 --replicas=1");
    const seen = await pods.until((all) => (all.match(/Terminating/g) ?? []).length >= 4);
    expect(seen).toMatch(/ Pending [\s\S]* ContainerCreating [\s\S]* Running /);
    await Promise.all([watch.stop(), pods.stop()]);
    expect(await k.ok("wait --for=jsonpath={.status.readyReplicas}=1 deploy/web --timeout=10s")).toContain("met");
  });

  it("05:CP-L1 says why a rollout does not come to its end", async () => {
    await k.ok("create deployment huge --image=x");
    await rolledOut("deployment/huge");
    await k.ok("set resources deployment/huge --requests=cpu=64");
    const waiting = await k.run("rollout status deployment/huge --timeout=1s");
    expect(waiting.code).not.toBe(0);
    expect(waiting.stdout).toContain("1 old replicas are pending termination");
    expect(await k.ok("events --types=Warning")).toMatch(
      /FailedScheduling +Pod\/huge-\S+ +0\/3 nodes are available: 3 Insufficient cpu/,
    );
    expect(await k.ok("get deploy huge")).toMatch(/huge +1\/1 +1 +1/); // the old pod serves on
    await k.ok("rollout undo deployment/huge");
    await rolledOut("deployment/huge");
  });

  it("05 §1 describes what came of it", async () => {
    const text = await k.ok("describe deployment web");
    expect(text).toContain("1 desired | 1 updated | 1 total | 1 available | 0 unavailable");
    expect(text).toMatch(/Available +True +MinimumReplicasAvailable/);
    expect(text).toMatch(/ScalingReplicaSet .*deployment-controller +Scaled up replica set web-\w+ from 0 to 3/);
    expect(await k.ok("describe rs -l app=web")).toMatch(/SuccessfulCreate .*Created pod: web-/);
    const all = await k.ok("get all");
    for (const kind of ["pod/web-", "service/kubernetes", "deployment.apps/web", "replicaset.apps/web-"]) {
      expect(all).toContain(kind);
    }
  });

  it("05 §1 exposes it", async () => {
    expect(await k.ok("expose deployment web --port=80 --target-port=8080")).toBe("service/web exposed\n");
    expect(await k.ok("get service web")).toMatch(/web +ClusterIP +10\.\d+\.\d+\.\d+ +<none> +80\/TCP/);
    expect(await k.ok("get svc web -o jsonpath={.spec.selector}")).toBe('{"app":"web"}');
  });

  it("05:CP-L16 scales it to what its pods use; the autoscaler is there in two versions", async () => {
    await k.ok("set resources deployment web --requests=cpu=100m");
    await k.ok("annotate deployment web sim.karpenter.sh/cpu-load=200m");
    const made = await k.ok("autoscale deployment web --min=1 --max=5 --cpu-percent=50");
    expect(made).toBe("horizontalpodautoscaler.autoscaling/web autoscaled\n");
    expect(await k.ok("get hpa web")).toMatch(/web +Deployment\/web +\S.* +1 +5 +\d/);
    await k.ok("wait --for=jsonpath={.spec.replicas}=4 deployment/web --timeout=30s"); // half of 100m each
    expect(await k.ok("get hpa web -o jsonpath={.apiVersion}:{.spec.metrics[0].resource.target}")).toBe(
      'autoscaling/v2:{"averageUtilization":50,"type":"Utilization"}',
    );
    expect(
      await k.ok("get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}"),
    ).toBe("50");
    expect(await k.ok("delete hpa web")).toContain('"web" deleted');
  });

  it("05 §1 finds the logs of what runs", async () => {
    expect(await k.ok("logs deployment/web")).toContain("it is simulated: no process runs in it\n");
    expect(await k.ok("logs -l app=web --tail=3 --prefix")).toMatch(/^\[pod\/web-[\w-]+\/\w+\] container \w+ /);
    expect(await k.fails("logs deployment/nosuch")).toContain('deployments.apps "nosuch" not found');
  });
});
