import { expect, it } from "vitest";
import { describeRunning } from "./embedded.ts";
import { lingering } from "./manifests.ts";

describeRunning("deletion to the end", ({ k }) => {
  const run = async (name: string, rest = "") => {
    await k.ok(`create deployment ${name} --image=x --replicas=2${rest}`);
    await k.ok(`rollout status deployment/${name} --timeout=20s${rest}`);
  };

  it("05:CP-L7 leaves orphans as they are", async () => {
    await run("orphan");
    const pods = await k.ok("get pods -l app=orphan -o name");
    expect(await k.ok("delete deployment orphan --cascade=orphan")).toBe('deployment.apps "orphan" deleted\n');
    expect(await k.ok("get rs -l app=orphan -o jsonpath={.items[0].metadata.ownerReferences}")).toBe("");
    expect(await k.ok("delete rs -l app=orphan --cascade=orphan")).toContain("deleted");
    expect(await k.ok("get pods -l app=orphan -o name")).toBe(pods);
    expect(await k.ok("get pods -l app=orphan --no-headers")).toMatch(/1\/1 +Running/);
  });

  it("05:CP-L7 adopts orphans that a new owner selects", async () => {
    const pods = await k.ok("get pods -l app=orphan -o name");
    const hash = await k.ok("get pods -l app=orphan -o jsonpath={.items[0].metadata.labels.pod-template-hash}");
    await k.ok("create deployment orphan --image=x --replicas=2");
    await k.ok("rollout status deployment/orphan --timeout=20s");
    expect(await k.ok(`get pods -l pod-template-hash=${hash} -o name`)).toBe(pods);
    await k.ok("delete deployment orphan");
  });

  it("05:CP-L7 deletes the owner last in the foreground", async () => {
    await k.ok("apply -f -", { stdin: lingering });
    await k.ok("rollout status deployment/lingering --timeout=20s");
    const deleting = k.ok("delete deployment lingering --cascade=foreground --timeout=20s");
    await k.ok("wait --for=jsonpath={.metadata.deletionTimestamp} pod -l app=lingering --timeout=10s");
    expect(await k.ok("get deployment lingering -o jsonpath={.metadata.finalizers}")).toBe('["foregroundDeletion"]');
    expect(await k.ok("get pods -l app=lingering --no-headers")).toMatch(/Terminating/);
    expect(await deleting).toBe('deployment.apps "lingering" deleted\n');
    expect(await k.ok("get deploy,rs,pods -l app=lingering -o name")).toBe("");
  });

  it("05:CP-L7 deletes the owner first in the background", async () => {
    await run("behind");
    const gone = k.ok("wait --for=delete pod -l app=behind --timeout=20s");
    expect(await k.ok("delete deployment behind --cascade=background")).toBe('deployment.apps "behind" deleted\n');
    await gone;
    expect(await k.ok("get rs,pods -l app=behind -o name")).toBe("");
  });

  it("05:CP-L10 lets a pod go when its containers have stopped, or at once", async () => {
    await k.ok("run slow --image=x");
    expect(await k.ok("wait --for=condition=Ready pod/slow --timeout=10s")).toBe("pod/slow condition met\n");
    expect(await k.ok("delete pod slow --grace-period=5")).toContain('pod "slow" deleted');
    await k.ok("run quick --image=x");
    await k.ok("wait --for=jsonpath={.status.phase}=Running pod/quick --timeout=10s");
    expect(await k.ok("delete pod quick --grace-period=0 --force")).toContain("force deleted");
    expect(await k.fails("logs quick")).toContain('pods "quick" not found');
  });

  it("05:CP-L8 empties a namespace, then lets it go", async () => {
    await k.ok("create namespace shop");
    await k.ok("create configmap settings --from-literal=a=b -n shop");
    await run("web", " -n shop");
    const watch = k.start("get namespace shop -w");
    await watch.until((text) => text.includes("Active"));
    expect(await k.ok("delete namespace shop --timeout=20s")).toBe('namespace "shop" deleted\n');
    expect(await watch.until((text) => text.includes("Terminating"))).not.toBe("");
    await watch.stop();
    expect(await k.fails("get namespace shop")).toContain('namespaces "shop" not found');
    expect(await k.ok("get deploy,rs,pods,cm -n shop -o name")).toBe("");
  });
});
