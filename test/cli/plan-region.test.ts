import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const zoneKey = "topology.kubernetes.io/zone";

const poolWith = (requirements = "", name = "default") => `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ${name}}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}${requirements}]
---`;
const inZones = (...zones: readonly string[]) => `, {key: ${zoneKey}, operator: In, values: [${zones.join(", ")}]}`;

const podWith = (spec = "") => `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {${spec}containers: [{name: web, resources: {requests: {cpu: "1"}}}]}
---`;

const nodeClassWith = (spec: string, status = "") => `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
${spec}${status}
---`;

const nodeWith = (fields: string) => `
apiVersion: v1
kind: Node
${fields}
---`;

async function plan(texts: readonly string[], ...args: readonly string[]) {
  const io = fakeIo({ files: { "in.yaml": texts.join("\n") } });
  const code = await main(["plan", "-f", "in.yaml", "-o", "json", ...args], io);
  const report = io.out() === "" ? undefined : (JSON.parse(io.out()) as PlanReport);
  return { code, err: io.err(), report };
}

const regionOf = async (...texts: readonly string[]) => (await plan(texts)).report?.region;

describe("the region of a plan", () => {
  it.each([
    ["a zone of a pool", [poolWith(inZones("us-east-1a")), podWith()]],
    ["a zone a pool excludes", [poolWith(inZones("us-east-1a").replace("In", "NotIn")), podWith()]],
    ["the id of a zone", [poolWith(", {key: topology.k8s.aws/zone-id, operator: In, values: [use1-az4]}"), podWith()]],
    ["a region", [poolWith(", {key: topology.kubernetes.io/region, operator: In, values: [us-east-1]}"), podWith()]],
    ["a selector of a pod", [poolWith(), podWith(`nodeSelector: {${zoneKey}: us-east-1b}, `)]],
    [
      "an affinity of a pod",
      [
        poolWith(),
        podWith(
          `affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: ${zoneKey}, operator: In, values: [us-east-1c]}]}}]}}, `,
        ),
      ],
    ],
    [
      "a volume",
      [
        poolWith(),
        podWith(),
        `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [us-east-1a]}]}]}}
---`,
      ],
    ],
    [
      "a node's label",
      [poolWith(), podWith(), nodeWith("metadata: {name: node-1, labels: {topology.kubernetes.io/region: us-east-1}}")],
    ],
    [
      "a node's provider id",
      [
        poolWith(),
        podWith(),
        nodeWith("metadata: {name: node-1}\nspec: {providerID: aws:///us-east-1a/i-0123456789abcdef0}"),
      ],
    ],
    [
      "a subnet of the node class",
      [
        poolWith(),
        podWith(),
        nodeClassWith("", "status: {subnets: [{id: subnet-1, zone: us-east-1a, zoneID: use1-az1}]}"),
      ],
    ],
    [
      "an ARN of the node class",
      [
        poolWith(),
        podWith(),
        nodeClassWith(
          "  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi, encrypted: true, kmsKeyID: 'arn:aws:kms:us-east-1:111122223333:key/k'}}]\n",
        ),
      ],
    ],
  ])("is read from %s", async (_, texts) => {
    expect(await regionOf(...texts)).toBe("us-east-1");
  });

  it("is that of the nodes, whatever pools and pods name", async () => {
    const node = nodeWith("metadata: {name: node-1, labels: {topology.kubernetes.io/zone: us-west-2a}}");
    expect(await regionOf(poolWith(inZones("us-east-1a")), podWith(), node)).toBe("us-west-2");
    const east = podWith(`nodeSelector: {${zoneKey}: us-west-2b}, `);
    expect(await regionOf(poolWith(inZones("us-east-1a")), east)).toBe("us-east-1");
  });

  it("is asked for where nothing names it: an error of the command line", async () => {
    const { code, err, report } = await plan([poolWith(), podWith()]);
    expect({ code, report }).toEqual({ code: 2, report: undefined });
    expect(err).toBe(
      "error: the region of the EC2 instance types is not known: no zone, node or node class in the input names one; give it with --region, for example --region us-east-1\n",
    );
    expect((await plan([poolWith(), podWith()], "--region", "us-west-2")).report?.region).toBe("us-west-2");
    expect((await plan([podWith()], "--provider", "aws")).code).toBe(2);
  });

  it("is not asked for before everything could be read", async () => {
    const io = fakeIo({ files: { "in.yaml": poolWith() } });
    expect(await main(["plan", "-f", "in.yaml", "-f", "nodes.yaml"], io)).toBe(1);
    expect(io.err()).toMatch(/^nodes\.yaml:1:1: error: no such file/);
  });

  it("is asked for where several are named", async () => {
    const { code, err } = await plan([poolWith(inZones("us-east-1a", "eu-west-1a")), podWith()]);
    expect(code).toBe(2);
    expect(err).toMatch(
      /^error: the input names several regions: us-east-1 \(us-east-1a in NodePool default\), eu-west-1 \(eu-west-1a in NodePool default\); give it with --region/,
    );
  });

  it("may be one without embedded prices: they are estimates then, in zones a to c and those that are named", async () => {
    const { code, report } = await plan([poolWith(inZones("ap-northeast-1d")), podWith()]);
    expect(code).toBe(0);
    expect(report?.newNodes[0]).toMatchObject({
      zones: ["ap-northeast-1d"],
      priceSource: { kind: "estimate", basis: "other-region", region: "us-east-1", date: "2026-07-20" },
    });
    expect(report?.region).toBe("ap-northeast-1");
    expect(report?.notes.join()).toContain("ap-northeast-1 are not part of this program");
  });

  it("has to be one of AWS", async () => {
    const { code, err } = await plan([poolWith(), podWith()], "--region", "us-est-1");
    expect(code).toBe(2);
    expect(err).toMatch(/^error: --region us-est-1: .*us-east-1, /);
  });

  it("is none with KWOK's instance types", async () => {
    const { report } = await plan([podWith()]);
    expect(report).toBeDefined();
    expect(report).not.toHaveProperty("region");
  });
});
