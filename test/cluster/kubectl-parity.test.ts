import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { type Embedded, startEmbedded } from "../kubectl/embedded.ts";
import { findKubectl, type Kubectl, kubectlFor } from "../kubectl/kubectl.ts";
import { configMap, deployment, nodePool, statefulSet } from "../kubectl/manifests.ts";
import { applyCrds } from "./kube.ts";
import { normalised } from "./normalise.ts";
import { describeOnCluster } from "./shared.ts";

/** A command line to run on both servers. */
interface Step {
  readonly line: string;
  readonly stdin?: string;
  /** Why ours may print something else. */
  readonly differs?: string;
}

const step = (line: string, stdin?: string): Step => ({ line, ...(stdin !== undefined && { stdin }) });
/** Refused by both, each in its own words. */
const worded = (line: string, stdin?: string): Step => ({ ...step(line, stdin), differs: "words" });
const paused = deployment().replace("replicas: 2", "replicas: 0"); // controllers of the real cluster have nothing to make
const strategic = `{"spec":{"template":{"spec":{"containers":[{"name":"api","image":"nginx:3"}]}}}}`;
const node = `
apiVersion: v1
kind: Node
metadata: {name: parity-node, labels: {kubernetes.io/hostname: parity-node}}
spec: {providerID: "parity:///1"}
`;
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.parity.example.com}
spec:
  group: parity.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
      additionalPrinterColumns:
        - {name: Size, type: integer, jsonPath: .spec.size}
        - {name: Colours, type: string, jsonPath: ".spec.colours[*]", priority: 1}
        - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              x-kubernetes-validations: [{rule: "self.size >= oldSelf.size", message: widgets only grow}]
              properties:
                size: {type: integer, minimum: 1, description: How large it is.}
                colours: {type: array, items: {type: string, enum: [red, blue]}}
                label: {type: string, default: plain}
            status: {type: object, properties: {size: {type: integer}}}
`;
const widget = (size: string) =>
  `apiVersion: parity.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: ${size}, colours: [red, blue]}\n`;

/** In order: later lines speak of what earlier ones made. */
const steps: readonly Step[] = [
  step("create namespace parity"),
  step("get namespace parity -o jsonpath={.status.phase}"),
  step("create configmap c --from-literal=a=b"),
  step("create configmap c --from-literal=a=b"),
  step("get configmap c"),
  step("get configmap c -o yaml"),
  step("get configmap nosuch"),
  step("describe configmap c"),
  step("apply -f -", configMap()),
  step("apply -f -", configMap()),
  step("apply -f -", configMap({ a: "5" })),
  step("get cm settings -o json"),
  worded("apply -f -", `${configMap()}dota: {}\n`),
  step("apply --validate=warn -f -", `${configMap()}dota: {}\n`),
  step('patch configmap settings --type=merge -p \'{"data":{"a":null}}\''),
  step(`patch configmap settings --type=json -p '[{"op":"add","path":"/data/z","value":"26"}]'`),
  worded(`patch configmap settings --type=json -p '[{"op":"remove","path":"/data/none"}]'`),
  step("replace -f -", configMap({ a: "8" })),
  step("replace -f -", configMap({ name: "absent" })),
  step("label configmap settings tier=web"),
  step("label configmap settings tier=db"),
  step("label configmap settings tier=db --overwrite"),
  step("get cm -l tier=db --show-labels"),
  step("get cm -l 'tier in (db,web),!other' -o name"),
  worded("get cm -l 'tier in ('"),
  step("annotate configmap settings note=hello"),
  step("get cm --field-selector=metadata.name=settings -o name"),
  worded("get cm --field-selector=data.a=1"),
  step("apply --server-side -f -", configMap({ name: "ssa" })),
  step("apply --server-side --field-manager=other -f -", configMap({ name: "ssa", a: "9" })),
  step("apply --server-side --field-manager=other --force-conflicts -f -", configMap({ name: "ssa", a: "9" })),
  step("get cm ssa -o yaml --show-managed-fields"),
  step("create secret generic s --from-literal=password=x"),
  step("get secret s"),
  step("get secret s -o yaml"),
  step("create priorityclass parity-high --value=1000"),
  step("get priorityclass parity-high"),
  step("get priorityclass parity-high -o yaml"),
  step("create pdb web --selector=app=web --min-available=50%"),
  step("get pdb web -o jsonpath={.spec}"),
  step("create role r --verb=get --resource=pods"),
  step("get role r -o yaml"),
  step("create rolebinding rb --role=r --user=ann"),
  step("get rolebinding rb -o wide"),
  step("create ingress i --rule=example.com/=web:80"),
  step("get ingress i"),
  step("create quota q --hard=pods=10"),
  step("get quota q -o jsonpath={.spec}"),
  step("create cronjob cj --image=busybox --schedule='0 0 1 1 *' -- true"),
  step("get cronjob cj -o wide"),
  step("get cronjob cj -o yaml"),
  worded("create deployment Bad_Name --image=x"),
  step("apply -f -", paused),
  step("apply -f -", paused),
  step("set image deployment/api api=nginx:2"),
  step(`patch deployment api -p '${strategic}'`),
  step("get deployment api -o jsonpath={.spec.template}"),
  step("get deployment api -o jsonpath={.spec.strategy}{.spec.revisionHistoryLimit}{.spec.progressDeadlineSeconds}"),
  step("scale deployment api --current-replicas=4 --replicas=1"),
  worded('patch deployment api -p \'{"spec":{"selector":{"matchLabels":{"app":"other"}}}}\''),
  { line: "get --raw /apis/apps/v1/namespaces/parity/deployments/api/scale", differs: "order of fields" },
  step("rollout pause deployment/api"),
  step("rollout pause deployment/api"),
  step("rollout restart deployment/api"),
  step("rollout resume deployment/api"),
  step("rollout restart deployment/api"),
  step("rollout undo deployment/api --to-revision=99"),
  step("expose deployment api --port=80 --target-port=8080"),
  step("get service api -o jsonpath={.spec.ports}{.spec.selector}"),
  step("autoscale deployment api --min=1 --max=5 --cpu-percent=50"),
  step("get hpa api -o jsonpath={.apiVersion}{.spec}"),
  step("get horizontalpodautoscalers.v1.autoscaling api -o jsonpath={.apiVersion}{.spec}"),
  step("api-resources --api-group=autoscaling"),
  step("delete hpa api"),
  step("apply -f -", statefulSet.replace("replicas: 2", "replicas: 0")),
  step("get statefulset db -o jsonpath={.spec}"),
  worded("apply -f -", statefulSet.replace("name: data, mountPath", "name: other, mountPath")),
  step("delete statefulset db"),
  step("get nosuch"),
  step("get --raw /apis/nosuch.example.com/v1/things"),
  step("create -f -", node),
  step("get node parity-node -o jsonpath={.spec.providerID}"),
  step("label node parity-node disk=ssd"),
  step("cordon parity-node"),
  step("get node parity-node"),
  step("uncordon parity-node"),
  step("taint node parity-node team=blue:NoSchedule"),
  step("taint node parity-node team=red:NoSchedule"),
  step("taint node parity-node team-"),
  step("delete node parity-node"),
  step("apply -f -", widgets),
  step("wait --for=condition=Established crd/widgets.parity.example.com --timeout=20s"),
  step("get crd widgets.parity.example.com -o jsonpath={.status.acceptedNames}"),
  step("apply -f -", widget("3")),
  step("get wd"),
  step("get wd -o wide"),
  step("get widget w -o yaml"),
  step("explain widget.spec.size"),
  step("explain widget.spec"),
  worded(`patch widget w --type=merge -p '{"spec":{"size":2}}'`),
  worded("apply -f -", widget("0")),
  worded("apply -f -", widget("lots")),
  worded(`patch widget w --type=merge -p '{"spec":{"colours":["green"]}}'`),
  step('patch widget w --type=strategic -p \'{"spec":{"size":9}}\''),
  step("scale widget w --replicas=4"),
  step("get widget w -o jsonpath={.spec.size}/{.metadata.generation}"),
  step("delete widget w"),
  step("apply -f -", nodePool()),
  step("apply -f -", nodePool()),
  step("apply -f -", nodePool({ cpu: 2000 })),
  step("get nodepools"),
  step("get nodepool general -o wide"),
  step("get nodepool general -o yaml"),
  step("describe nodepool general"),
  step("explain nodepool.spec.disruption"),
  step("explain nodepool.spec.template.spec.taints"),
  worded("apply -f -", nodePool().replace("limits:", "limitz:")),
  worded("apply -f -", nodePool().replace("consolidateAfter: 1m", "consolidateAfter: soon")),
  step("apply --dry-run=server -f -", nodePool({ cpu: 3000 })),
  step("diff -f -", nodePool({ cpu: 3000 })),
  step("delete nodepool general"),
  step("auth can-i create pods"),
  { line: "api-resources --api-group=karpenter.sh", differs: "ours also takes the kinds of v1alpha5" },
  step("api-resources --api-group=policy"),
  step("api-resources --api-group=apps -o wide"),
  step("delete configmap c"),
  step("delete configmap c"),
  step("delete configmap c --ignore-not-found"),
  step("delete secret --all"),
  step("delete cm -l none=such"),
];

describeOnCluster("kubectl against the real API server and ours", (cluster) => {
  const program = findKubectl(process.env);
  let embedded: Embedded | undefined;
  let ours: Kubectl | undefined;
  let theirs: Kubectl | undefined;
  beforeAll(async () => {
    if (program === undefined) throw new Error("these tests need kubectl on PATH");
    await applyCrds(
      cluster,
      karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, "all")),
    );
    embedded = await startEmbedded({ nodes: 0 });
    ours = kubectlFor({ program, kubeconfig: embedded.kubeconfig });
    theirs = kubectlFor({ program, kubeconfig: readFileSync(cluster.kubeconfigPath, "utf8") });
    for (const kubectl of [ours, theirs]) await kubectl.ok("config set-context --current --namespace=parity");
  });
  afterAll(async () => {
    await theirs?.run("delete namespace parity --wait=false");
    ours?.close();
    theirs?.close();
    await embedded?.close();
  });

  it("05 prints the same for the same command lines", async () => {
    const unexpected: string[] = [];
    let equal = 0;
    for (const { line, stdin, differs } of steps) {
      const options = stdin === undefined ? {} : { stdin };
      const [mine, real] = await Promise.all([ours?.run(line, options), theirs?.run(line, options)]);
      const [left, right] = [normalised(mine), normalised(real)];
      if (left === right) equal += 1;
      else if (differs === undefined) unexpected.push(`$ kubectl ${line}\n--- ours\n${left}\n--- real\n${right}\n`);
      expect(mine?.code, line).toBe(real?.code);
    }
    console.log(`${equal} of ${steps.length} kubectl invocations print the same on both`);
    expect(embedded?.faults).toEqual([]);
    expect(unexpected).toEqual([]);
    expect(equal).toBeGreaterThanOrEqual(40);
  }, 300_000);
});
