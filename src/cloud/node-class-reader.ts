import type { KubeObject } from "../api/object.ts";
import type { KubeClient, ResourceType } from "../kube/client.ts";
import type { Controller, ControllerContext } from "../kube/controller.ts";
import { ignoreKubeErrors } from "../kube/kube-error.ts";
import { whenAborted } from "../util/abort.ts";

/** Node classes for a provider, which is asked about them for every claim: from views while controllers run. */
export class NodeClassReader {
  readonly #client: KubeClient;
  /** Keeps the views; it does nothing by itself. */
  readonly controller: Controller;
  #context: ControllerContext | undefined;

  constructor(client: KubeClient, types: readonly ResourceType[]) {
    this.#client = client;
    this.controller = {
      name: "providers.nodeclass",
      kinds: types,
      reads: types.map((of) => ({ of, because: "the provider is asked, and does nothing by itself" })),
      run: async (context, signal) => {
        this.#context = context;
        await whenAborted(signal);
        this.#context = undefined;
      },
    };
  }

  /** Undefined before the controllers run. */
  get context(): ControllerContext | undefined {
    return this.#context;
  }

  /** Undefined if it is missing or being deleted. A class that is not in the view may be new. (04 §1.14) */
  async find<T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined> {
    const seen = this.#context?.view<T>(type).get(name);
    const found = seen ?? (await ignoreKubeErrors(this.#client.get<T>(type, { name }), "not-found"));
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  }
}
