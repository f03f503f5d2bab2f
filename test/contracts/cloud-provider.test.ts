import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { startControllers } from "../../src/kube/controller.ts";
import { builtInTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { kwokNodes } from "../../src/providers/kwok/kwok-nodes.ts";
import { kwokProvider } from "../../src/providers/kwok/kwok-provider.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { cloudProviderContract, type ProviderUnderTest } from "./cloud-provider.ts";

const startAt = Date.parse("2026-01-01T00:00:00Z");
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

interface World {
  readonly client: KubeClient;
  readonly clock: VirtualClock;
  readonly random: Random;
}
type Opened = Pick<ProviderUnderTest, "types" | "breakList"> & { readonly provider: CloudProvider };

function simulated(types: ProviderUnderTest["types"]): (world: World) => Opened {
  return ({ client, clock, random }) => {
    const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
    const provider = simulatedProvider({ cloud, client, clock, random: random.fork("provider") });
    return { provider, types, breakList: () => cloud.failNext("list", { kind: "failed" }) };
  };
}

async function open(nodeClass: KubeObject, make: (world: World) => Opened): Promise<ProviderUnderTest> {
  const clock = new VirtualClock({ startAt });
  const random = new Random("contract");
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client = new InProcessClient(api);
  await installCrds(api, "all");
  const type = resourceTypeOf(nodeClass);
  if (type === undefined) throw new Error(`no type for ${nodeClass.kind}`);
  const { name = "" } = nodeClass.metadata;
  const opened = make({ client, clock, random });
  const loops = startControllers({
    client,
    clock,
    random: random.fork("loops"),
    controllers: opened.provider.controllers.filter(({ name: loop }) => loop !== "instance.garbagecollection"),
  });
  await client.create(type, nodeClass);
  await clock.advance(1_000);
  return {
    ...opened,
    client,
    clock,
    nodeClassRef: { group: type.group, kind: type.kind, name },
    breakClass: async () => {
      const subnetSelectorTerms = [{ id: "subnet-0123456789abcdef0" }];
      const conditions = [
        { type: "Ready", status: "False", reason: "Tested", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
      ];
      if (type.kind === "EC2NodeClass") {
        await client.patch(type, { name }, { kind: "merge", body: { spec: { subnetSelectorTerms } } });
      } else {
        const patch = { kind: "merge", body: { status: { conditions } } } as const;
        await client.patch(type, { name }, patch, { subresource: "status" });
      }
    },
    stop: async () => {
      const stopping = loops.stop();
      await clock.advance(60_000);
      await stopping;
    },
  };
}

/** A client whose next list of Nodes fails. */
function flakyLists(client: KubeClient): { readonly client: KubeClient; readonly breakNext: () => void } {
  let isBroken = false;
  const list: KubeClient["list"] = async (type, options) => {
    if (type !== builtInTypes.Node || !isBroken) return client.list(type, options);
    isBroken = false;
    throw new Error("the API server is unwell");
  };
  const flaky: KubeClient = {
    get: (type, key) => client.get(type, key),
    list,
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => client.create(type, object, options),
    update: (type, object, options) => client.update(type, object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    delete: (type, key, options) => client.delete(type, key, options),
  };
  return {
    client: flaky,
    breakNext: () => {
      isBroken = true;
    },
  };
}
