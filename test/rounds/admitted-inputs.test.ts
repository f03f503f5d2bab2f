import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { differenceFromPlans } from "./compare-inputs.ts";

const kwok = readFileSync(join(import.meta.dirname, "..", "..", "examples", "kwok.yaml"), "utf8");
const never = "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: '0'}]}";
/** Of one architecture: machines of both cost the same. */
const pool = kwok
  .replace("spec:\n", `spec:\n  ${never}\n`)
  .replace("requirements:\n", "requirements:\n        - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n");

const podSpec = (more = "", resources = '{requests: {cpu: "1"}}') =>
  `{${more}containers: [{name: app, image: app, resources: ${resources}}]}`;
const deployment = (name: string, spec: string, replicas = 3) => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: default}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template: {metadata: {labels: {app: ${name}}}, spec: ${spec}}`;
const pod = (name: string, claim: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: default, labels: {app: ${name}}}
spec: ${podSpec(`volumes: [{name: d, persistentVolumeClaim: {claimName: ${claim}}}], `)}`;
const claim = (name: string, spec: string) => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, ${spec}}`;
const volume = (name: string, zone: string, more = "") => `
apiVersion: v1
kind: PersistentVolume
metadata: {name: ${name}}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: csi.example.com, volumeHandle: ${name}}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [${zone}]}]}]}}
  ${more}`;
const storageClass = (mode: string, zone: string) => `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: own, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: csi.example.com
volumeBindingMode: ${mode}
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [${zone}]}]}]`;
const statefulSet = (more = "") => `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  podManagementPolicy: Parallel
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: ${podSpec()}}
  volumeClaimTemplates:
    - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}${more}}}`;

const runtimeClass = `
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: vm}
handler: vm
overhead: {podFixed: {cpu: 1500m}}
scheduling: {nodeSelector: {topology.kubernetes.io/zone: test-zone-d}}`;
const limits = `
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: default}
spec: {limits: [{type: Container, default: {cpu: "2"}, defaultRequest: {cpu: 1700m}}]}`;

describe("what a cluster adds to pods and claims before they are scheduled", () => {
  it.each<readonly [string, readonly string[]]>([
    [
      "the overhead and selector of a RuntimeClass",
      [runtimeClass, deployment("web", podSpec("runtimeClassName: vm, "))],
    ],
    ["requests by a LimitRange", [limits, deployment("web", podSpec("", "{}"))]],
    ["the default StorageClass", [storageClass("WaitForFirstConsumer", "test-zone-b"), statefulSet()]],
    ["volumes of a class that binds at once", [storageClass("Immediate", "test-zone-c"), statefulSet()]],
    [
      "the volume a claim names",
      [volume("pv", "test-zone-c"), claim("disk", "volumeName: pv, storageClassName: ''"), pod("user", "disk")],
    ],
    [
      "the volume that is reserved for a claim",
      [
        volume("pv", "test-zone-c", "claimRef: {namespace: default, name: disk}"),
        volume("aa", "test-zone-d"),
        claim("disk", "storageClassName: ''"),
        pod("user", "disk"),
      ],
    ],
    [
      "a volume that fits, for one claim",
      [
        volume("pv", "test-zone-b"),
        claim("disk", "storageClassName: ''"),
        claim("late", "storageClassName: ''"),
        pod("user", "disk"),
        pod("other", "late"),
      ],
    ],
    [
      "the claims of ephemeral volumes",
      [
        storageClass("WaitForFirstConsumer", "test-zone-b"),
        deployment(
          "web",
          podSpec(
            "volumes: [{name: d, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}], ",
          ),
        ),
      ],
    ],
  ])("02:P-30 %s: plan and sandbox agree", { timeout: 60_000 }, async (title, texts) => {
    const objects = parseAllDocuments([pool, ...texts].join("\n---\n")).map((one) => one.toJS() as KubeObject);
    expect(await differenceFromPlans(objects, { seed: title })).toBeUndefined();
  });
});
