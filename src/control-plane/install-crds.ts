import { customResourceDefinition } from "../api/crd.ts";
import { karpenterKindsOf } from "../api/kinds/karpenter-kinds.ts";
import type { Provider } from "../api/label-policy.ts";
import type { ApiServer } from "./api/server.ts";
import { createObjects } from "./load-objects.ts";

/** Creates the CRDs of our kinds. */
export async function installCrds(api: ApiServer, provider: Provider): Promise<void> {
  const definitions = karpenterKindsOf(provider).map((kind) => customResourceDefinition(kind, provider));
  await createObjects(api, definitions);
}
