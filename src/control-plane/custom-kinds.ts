import { customResourceDefinition } from "../api/crd.ts";
import { kindsOf } from "../api/kinds/registry.ts";
import type { Provider } from "../api/label-policy.ts";
import type { KubeObject } from "../api/object.ts";
import type { ApiServer } from "./api/server.ts";
import { createObjects } from "./load.ts";

/** Registers our kinds as any installer would: through their definitions. */
export async function installCrds(api: ApiServer, provider: Provider): Promise<void> {
  const definitions = kindsOf(provider).map((kind) => customResourceDefinition(kind, provider));
  await createObjects(api, definitions as unknown as readonly KubeObject[]);
}
