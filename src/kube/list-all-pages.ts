import type { KubeObject } from "../api/object.ts";
import type { KubeClient, ListOptions, ResourceType } from "./client.ts";

const pageSize = 500;

/**
 * Lists page by page, because parsing one response of thousands of objects blocks the process. Throws "expired" when
 * the pages took so long that the version is gone.
 */
export async function* listAllPages<T extends KubeObject>(
  kube: Pick<KubeClient, "list">,
  type: ResourceType,
  options: Omit<ListOptions, "limit" | "continue"> = {},
): AsyncGenerator<readonly T[]> {
  let next: string | undefined;
  do {
    const page = await kube.list<T>(type, { ...options, limit: pageSize, continue: next });
    yield page.items;
    next = page.continue;
  } while (next !== undefined);
}
