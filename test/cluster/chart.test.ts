import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { stories } from "../stories/stories.ts";
import { type Helm, openHelm } from "./helm.ts";
import { connect } from "./kube.ts";
import { realClient } from "./real-client.ts";
import { realCluster } from "./real-cluster.ts";
import { describeOnCluster } from "./shared.ts";
import { createNamespace, installCrds, sweep } from "./sweep.ts";

const allOptions = fileURLToPath(new URL("../deploy/all-options.yaml", import.meta.url));
const minimal = ["--set", "settings.clusterName=my-cluster"];
const serviceMonitors = ["--api-versions", "monitoring.coreos.com/v1"];

/** One of each kind; the virtual clock has them all (test/deploy). */
const told =
  /a deployment gets nodes and runs|became empty go|waits for a disruption budget|lost from a static pool|keeps nodes warm|one acts, and the other/;
const selected = stories.filter(({ title, isSmoke }) => isSmoke && told.test(title));

type Env = readonly { readonly name: string; readonly value?: string }[];
type Workload = KubeObject & {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly env: Env }[] } } };
};

function envOf(objects: readonly KubeObject[]): Readonly<Record<string, string | undefined>> {
  const deployment = objects.find(({ kind }) => kind === "Deployment") as Workload;
  return Object.fromEntries(
    (deployment.spec.template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]),
  );
}

describeOnCluster("03 §7 the Helm charts", (connection) => {
  let helm: Helm;
  const { client, close } = realClient(connection);
  const kubectl = (args: readonly string[], input: string): string =>
    execFileSync("kubectl", ["--kubeconfig", connection.kubeconfigPath, ...args], { input, encoding: "utf8" });
  const apply = (objects: readonly KubeObject[], ...args: readonly string[]) =>
    kubectl(
      ["apply", "--server-side", "--force-conflicts", "-f", "-", ...args],
      objects.map((one) => JSON.stringify(one)).join("\n"),
    );

  beforeAll(async () => {
    helm = await openHelm(connection);
    await createNamespace(client, "karpenter");
  });
  afterAll(close);

  it("are accepted by helm lint", async () => {
    expect(await helm.lint("deploy/chart", ...minimal, "--strict")).toContain("0 chart(s) failed");
    expect(await helm.lint("deploy/chart", "--values", allOptions, "--strict")).toContain("0 chart(s) failed");
    expect(await helm.lint("deploy/chart-crd", "--strict")).toContain("0 chart(s) failed");
  });

  it("§7.3 apply to an API server as they come", async () => {
    apply(await helm.template("deploy/chart-crd"));
    apply(await helm.template("deploy/chart", ...minimal), "--dry-run=server");
    apply(await helm.template("deploy/chart", "--values", allOptions), "--dry-run=server");
  });

  it("are what deploy/manifests has", async () => {
    const written = (provider: string): readonly unknown[] =>
      parseAllDocuments(readFileSync(new URL(`../../deploy/manifests/${provider}.yaml`, import.meta.url), "utf8")).map(
        (document) => document.toJS() as unknown,
      );
    expect(written("aws")).toEqual(await helm.template("deploy/chart", "--set", "settings.clusterName=CLUSTER_NAME"));
    expect(written("kwok")).toEqual(await helm.template("deploy/chart", "--set", "settings.provider=kwok"));
  });

  it("§7.1 booleans are rendered whatever they are, and every setting reaches its variable", async () => {
    const defaults = envOf(await helm.template("deploy/chart", ...minimal));
    expect(defaults).toMatchObject({ IGNORE_DRA_REQUESTS: "true", CLUSTER_NAME: "my-cluster", ISOLATED_VPC: "false" });
    const all = envOf(await helm.template("deploy/chart", "--values", allOptions));
    expect(all).toMatchObject({
      IGNORE_DRA_REQUESTS: "false",
      NOMINATE_PODS: "false",
      VM_MEMORY_OVERHEAD_PERCENT: "0.1",
      RESERVED_ENIS: "1",
      INTERRUPTION_QUEUE: "queue",
      AMI_REFRESH_INTERVAL: "5m",
      FEATURE_GATES:
        "CapacityBuffer=true,MultiReplacement=true,NodeOverlay=true,NodeRepair=true,ReservedCapacity=false,SpotToSpotConsolidation=true,StaticCapacity=true",
    });
  });

  it("§7.3 a ServiceMonitor comes only where the cluster has the kind", async () => {
    const kinds = async (...args: readonly string[]) =>
      (await helm.template("deploy/chart", "--values", allOptions, ...args)).map(({ kind }) => kind);
    expect(await kinds()).not.toContain("ServiceMonitor");
    expect(await kinds(...serviceMonitors)).toContain("ServiceMonitor");
  });

  it("§7.1 selectors that the values leave out are filled in, others stay", async () => {
    const objects = await helm.template("deploy/chart", "--values", allOptions);
    const { affinity, topologySpreadConstraints } = (objects.find(({ kind }) => kind === "Deployment") as Workload).spec
      .template.spec as unknown as { affinity: unknown; topologySpreadConstraints: unknown };
    const own = { matchLabels: { "app.kubernetes.io/name": "kp", "app.kubernetes.io/instance": "karpenter" } };
    expect(affinity).toMatchObject({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { own: "selector" } } },
          { labelSelector: own },
        ],
      },
    });
    expect(topologySpreadConstraints).toMatchObject([{ maxSkew: 2, labelSelector: own }]);
  });

  it("the flags of old guides render, and the notes say what to write instead", async () => {
    const old = [
      ...[
        "--set",
        "serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::111122223333:role/karpenter",
      ],
      ...["--set", "settings.aws.clusterName=old-cluster"],
      ...["--set", "settings.aws.defaultInstanceProfile=KarpenterNodeInstanceProfile"],
      ...["--set", "settings.aws.interruptionQueueName=old-queue"],
    ];
    expect(envOf(await helm.template("deploy/chart", ...old))).toMatchObject({
      CLUSTER_NAME: "old-cluster",
      INTERRUPTION_QUEUE: "old-queue",
    });
    const notes = await helm.notes(...old);
    expect(notes).toContain("settings.aws.clusterName: taken over for now; rename it to settings.clusterName.");
    expect(notes).toContain("settings.aws.defaultInstanceProfile: ignored; set spec.instanceProfile");
  });

  it("values that mean nothing are refused in words", async () => {
    expect(await helm.refusal()).toContain("settings.clusterName is required");
    expect(await helm.refusal(...minimal, "--set", "settings.clustername=typo")).toContain("clustername");
    expect(await helm.refusal(...minimal, "--set", "settings.batchIdleDuration=fast")).toContain("batchIdleDuration");
  });

  it("§7.2 the controller works with the permissions of its service account alone", { timeout: 400_000 }, async () => {
    expect(selected).toHaveLength(6);
    await installCrds(connection);
    await sweep(connection, { client });
    // The simulated cloud serves the node classes of both providers.
    const rolesOf = async (...args: readonly string[]) =>
      (await helm.template("deploy/chart", ...args)).filter(({ kind = "" }) => /Role|ServiceAccount/.test(kind));
    const account = await rolesOf(...minimal);
    apply(account);
    apply(
      await rolesOf(
        "--set",
        "settings.provider=kwok",
        "--set",
        "fullnameOverride=karpenter-kwok",
        "--set",
        "serviceAccount.name=karpenter",
      ),
    );
    const asController = realClient({ ...connection, token: await tokenOf("karpenter", connection) });
    for (const [at, { title, settings, volumes, run }] of selected.entries()) {
      const namespace = `chart-${at + 1}`;
      const cluster = await realCluster({
        connection,
        namespace,
        settings,
        asController: () => asController.client,
        ...(volumes && { volumes }),
      });
      try {
        await run(cluster);
        expect(
          cluster.log().filter(({ message, error }) => /forbidden/i.test(`${message} ${error}`)),
          title,
        ).toEqual([]);
      } finally {
        await cluster.close();
        await sweep(connection, { client, namespace });
      }
    }
    asController.close();
  });
});

/** A token of a service account in namespace karpenter. */
async function tokenOf(account: string, connection: Parameters<typeof connect>[0]): Promise<string> {
  const kube = connect(connection);
  const { body } = await kube.request("POST", `/api/v1/namespaces/karpenter/serviceaccounts/${account}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  kube.close();
  return (body as { status: { token: string } }).status.token;
}
