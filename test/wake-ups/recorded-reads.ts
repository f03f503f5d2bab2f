import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import type { Controller, ControllerContext } from "../../src/kube/controller.ts";
import type { View } from "../../src/kube/view.ts";
import type { Cluster } from "../../src/state/cluster.ts";
import { interceptCalls } from "../world/intercept-calls.ts";

/** What a controller was seen to do. */
interface ControllerReads {
  /** Kinds it subscribed to. */
  readonly watched: Set<string>;
  /** Kinds it read from a view or from the server, `cluster state` and `cloud`. */
  readonly read: Set<string>;
}

const viewReads: readonly string[] = ["get", "all", "byIndex", "inNamespace", "controlledBy", "orphansIn"];
const cloudCalls: readonly string[] = ["create", "delete", "get", "list", "instanceTypes", "driftReason"];

/** Records what each controller watches and reads while it runs. */
export class RecordedReads {
  readonly #byController = new Map<string, ControllerReads>();
  readonly #current = new AsyncLocalStorage<string>();

  of(controller: string): ControllerReads {
    const known = this.#byController.get(controller) ?? { watched: new Set<string>(), read: new Set<string>() };
    this.#byController.set(controller, known);
    return known;
  }

  /** The controller, with everything it reads recorded under its name. */
  recorded(controller: Controller): Controller {
    const own = this.of(controller.name);
    const run: Controller["run"] = (context, signal) =>
      this.#current.run(controller.name, () => controller.run(this.#context(context, own), signal));
    return { ...controller, run };
  }

  cluster(cluster: Cluster): Cluster {
    return this.#recordingCalls(cluster, "cluster state", () => true);
  }

  cloud(provider: CloudProvider): CloudProvider {
    return this.#recordingCalls(provider, "cloud", (name) => cloudCalls.includes(name));
  }

  /** Calls of any service of an account. */
  account<T extends object>(api: T): T {
    return new Proxy(api, {
      get: (from, name) => {
        const value: unknown = Reflect.get(from, name, from);
        return typeof value === "object" && value !== null ? this.#recordingCalls(value, "cloud", () => true) : value;
      },
    });
  }

  #context(context: ControllerContext, own: ControllerReads): ControllerContext {
    const client: KubeClient = interceptCalls(context.client, (call, proceed) => {
      if (call.verb === "get" || call.verb === "list") own.read.add(call.type.kind);
      return proceed();
    });
    const view = <T extends KubeObject>(type: ResourceType): View<T> => recordingView(context.view<T>(type), type, own);
    return { ...context, client, view };
  }

  /** Whoever is running: dependencies are shared by all controllers. */
  #recordingCalls<T extends object>(target: T, source: string, isRead: (name: string) => boolean): T {
    return new Proxy(target, {
      get: (from, name) => {
        const value: unknown = Reflect.get(from, name, from);
        const controller = this.#current.getStore();
        if (controller !== undefined && isRead(String(name))) this.of(controller).read.add(source);
        return typeof value === "function" ? value.bind(from) : value;
      },
    });
  }
}

function recordingView<T extends KubeObject>(view: View<T>, { kind }: ResourceType, own: ControllerReads): View<T> {
  return new Proxy(view, {
    get: (from, name) => {
      const value: unknown = Reflect.get(from, name, from);
      if (name === "subscribe") own.watched.add(kind);
      if (viewReads.includes(String(name))) own.read.add(kind);
      return typeof value === "function" ? value.bind(from) : value;
    },
  });
}
