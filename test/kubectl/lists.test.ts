import { expect, it } from "vitest";
import { describeKubectl } from "./embedded.ts";
import { configMap, deployment, list, nodePool } from "./manifests.ts";

const service = `
apiVersion: v1
kind: Service
metadata: {name: api}
spec:
  selector: {app: api}
  ports: [{port: 80, targetPort: 8080}, {port: 81, targetPort: http, name: named}]
`;
const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: api}
spec: {minAvailable: 50%, selector: {matchLabels: {app: api}}}
`;

describeKubectl("lists", ({ k }) => {
  it("05 §2 applies a List, which kubectl validates itself by OpenAPI v2", async () => {
    const everything = list(configMap(), deployment(), service, budget, nodePool());
    expect(await k.ok(`apply -f ${k.file("list.yaml", everything)}`)).toBe(
      "configmap/settings created\n" +
        "deployment.apps/api created\n" +
        "service/api created\n" +
        "poddisruptionbudget.policy/api created\n" +
        "nodepool.karpenter.sh/general created\n",
    );
    const changed = list(configMap({ a: "2" }), deployment({ image: "nginx:2" }), nodePool({ cpu: 5 }));
    expect(await k.ok(`apply -f ${k.file("list.yaml", changed)}`)).toBe(
      "configmap/settings configured\ndeployment.apps/api configured\nnodepool.karpenter.sh/general configured\n",
    );
    expect(await k.ok("get deployment api -o jsonpath={.spec.template.spec.containers[*].image}")).toBe("nginx:2");
    expect(await k.ok(`apply -f ${k.file("list.yaml", changed)}`)).toBe(
      "configmap/settings unchanged\ndeployment.apps/api unchanged\nnodepool.karpenter.sh/general unchanged\n",
    );
    expect(await k.ok(`apply --server-side --force-conflicts -f ${k.file("list.yaml", changed)}`)).toContain(
      "serverside-applied",
    );
  });

  it("05 §2 takes back what get printed, and deletes by it", async () => {
    const printed = await k.ok("get configmap/settings deployment/api nodepool/general -o yaml");
    expect(printed).toContain("kind: List");
    expect(await k.ok("replace -f -", { stdin: printed })).toBe(
      "configmap/settings replaced\ndeployment.apps/api replaced\nnodepool.karpenter.sh/general replaced\n",
    );
    expect(await k.ok("delete -f -", { stdin: printed })).toContain('nodepool.karpenter.sh "general" deleted');
  });

  it("05 §2 finds typos in the items of a List before anything is sent", async () => {
    const wrong = list(configMap({ name: "early" }), deployment().replace("replicas:", "replcas:"));
    const file = k.file("wrong.yaml", wrong);
    expect(await k.fails(`create --validate=true -f ${file}`)).toContain('unknown field "replcas"');
    expect(await k.fails(`apply -f ${file}`)).toContain('unknown field "replcas"');
    expect(await k.fails("get configmap early")).toContain("not found");
    const pool = list(nodePool().replace("expireAfter:", "expireAfer:"));
    expect(await k.fails(`apply -f ${k.file("pool.yaml", pool)}`)).toContain('unknown field "expireAfer"');
    expect(await k.ok(`apply --validate=false -f ${k.file("fine.yaml", list(configMap()))}`)).toContain("created");
  });
});
