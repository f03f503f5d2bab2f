import type { KubeObject } from "../api/object.ts";
import type { KubeClient, ListOptions, ResourceType } from "./client.ts";

const pageSize = 500;

/**
 * A list page by page: an answer of thousands of objects in one piece is read for as long as nothing else is done.
 * Throws `expired` where it took so long that its pages no longer fit together.
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
