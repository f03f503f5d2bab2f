import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Controller } from "../../src/kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { kwokNodes } from "../../src/providers/kwok/kwok-nodes.ts";
import { kwokProvider } from "../../src/providers/kwok/kwok-provider.ts";
import { awsWorld } from "../aws/aws-world.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { typeFor } from "../world/api-world.ts";
import { interceptCalls } from "../world/intercept-calls.ts";
import { type TestWorld, testWorld } from "../world/test-world.ts";
import { cloudProviderContract, type ProviderUnderTest } from "./cloud-provider.ts";

const kwokTypes = ["c-2x-amd64-linux", "s-4x-amd64-linux"] as const;

cloudProviderContract("KWOK on Nodes", () =>
  open(kwokNodeClass(), ({ client, clock }) => {
    const flaky = flakyLists(client);
    const fleet = kwokNodes({ client: flaky.client, clock });
    const provider = kwokProvider({ client: flaky.client, clock, kwokNodes: fleet, catalogue: kwokInstanceTypes() });
    return { provider, types: kwokTypes, breakList: flaky.breakNext };
  }),
);

cloudProviderContract("simulated, KWOK types", () => open(kwokNodeClass(), simulated(kwokTypes)));
cloudProviderContract("simulated, EC2 types", () => open(ec2NodeClass(), simulated(["c5.large", "c5.xlarge"])));

cloudProviderContract(
  "AWS",
  async () => {
    const types = ["c5.large", "c5.xlarge"] as const;
    const { aws, provider, client, clock, stop } = await awsWorld({ runs: withoutCollection });
    return {
      ...{ provider, client, clock, types, stop },
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "web" },
      breakClass: () => breakEc2NodeClass(client, "web"),
      breakList: () => aws.failNext("ec2:DescribeInstances", { code: "InternalError", status: 500 }),
    };
  },
  { findsLaunchOfClaim: false },
);

/** Claims of the contract never learn their provider ids, so collection would end their machines. */
function withoutCollection({ name }: Controller): boolean {
  return name !== "instance.garbagecollection";
}

type Opened = Pick<ProviderUnderTest, "types" | "breakList"> & { readonly provider: CloudProvider };

function simulated(types: ProviderUnderTest["types"]): (world: TestWorld) => Opened {
  return ({ cloud, provider }) => ({ provider, types, breakList: () => cloud.failNext("list", { kind: "failed" }) });
}

async function open(nodeClass: KubeObject, make: (world: TestWorld) => Opened): Promise<ProviderUnderTest> {
  const world = await testWorld({ seed: "contract" });
  const { client, clock } = world;
  const type = typeFor(nodeClass);
  const { name = "" } = nodeClass.metadata;
  const opened = make(world);
  world.startControllers({
    controllers: opened.provider.controllers.filter(withoutCollection),
  });
  await world.create(nodeClass);
  await world.pass(1);
  return {
    ...opened,
    client,
    clock,
    nodeClassRef: { group: type.group, kind: type.kind, name },
    breakClass: async () => {
      if (type.kind === "EC2NodeClass") return breakEc2NodeClass(client, name);
      const conditions = [
        { type: "Ready", status: "False", reason: "Tested", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
      ];
      const patch = { kind: "merge", body: { status: { conditions } } } as const;
      await client.patch(type, { name }, patch, { subresource: "status" });
    },
    stop: world.stop,
  };
}

/** Its subnets are not there. */
async function breakEc2NodeClass(client: KubeClient, name: string): Promise<void> {
  const subnetSelectorTerms = [{ id: "subnet-0123456789abcdef0" }];
  await client.patch(karpenterTypes.EC2NodeClass, { name }, { kind: "merge", body: { spec: { subnetSelectorTerms } } });
}

/** A client whose next list of Nodes fails. */
function flakyLists(client: KubeClient): { readonly client: KubeClient; readonly breakNext: () => void } {
  let isBroken = false;
  const flaky = interceptCalls(client, async ({ verb, type }, proceed) => {
    if (verb !== "list" || type !== builtInTypes.Node || !isBroken) return proceed();
    isBroken = false;
    throw new Error("the API server is unwell");
  });
  return {
    client: flaky,
    breakNext: () => {
      isBroken = true;
    },
  };
}
