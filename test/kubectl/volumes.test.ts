import { expect, it } from "vitest";
import { describeRunning } from "./embedded.ts";
import { statefulSet } from "./manifests.ts";

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}
`;

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  nodeSelector: {kubernetes.io/hostname: node-2}
  containers: [{name: c, image: nginx, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`;

describeRunning("volumes", ({ k }) => {
  it("05:CP-L12 has a default StorageClass, and a claim that names none waits for its first pod", async () => {
    expect(await k.ok("get storageclass")).toMatch(
      /^standard \(default\) +disk\.sim\.karpenter\.sh +Delete +WaitForFirstConsumer +false/m,
    );
    await k.ok("apply -f -", { stdin: claim });
    expect(await k.ok("get pvc data --no-headers")).toMatch(/^data +Pending +standard /);
    await k.ok("apply -f -", { stdin: pod });
    await k.ok("wait pod/reader --for=condition=Ready --timeout=20s");
    expect(await k.ok("get pvc data --no-headers")).toMatch(/^data +Bound +pvc-\S+ +3Gi +RWO +standard /);
    const volume = await k.ok("get pvc data -o jsonpath={.spec.volumeName}");
    const zone = await k.ok("get node node-2 -o jsonpath={.metadata.labels.topology\\.kubernetes\\.io/zone}");
    expect(await k.ok(`get pv ${volume} -o jsonpath={.spec.nodeAffinity}`)).toContain(zone);
  });

  it("05:CP-L12 gives each pod of a StatefulSet its volume", async () => {
    await k.ok("apply -f -", { stdin: statefulSet });
    await k.ok("rollout status statefulset db --timeout=30s");
    expect(await k.ok("get pvc data-db-0 data-db-1 -o jsonpath={.items[*].status.phase}")).toBe("Bound Bound");
  });
});
