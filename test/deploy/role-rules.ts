import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/kube-error.ts";
import { interceptCalls } from "../world/intercept-calls.ts";

/** A rule of a Role or ClusterRole. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  /** Where it holds; everywhere, unless given. */
  readonly namespace?: string | undefined;
  /** The comment before it begins with "Optional". */
  readonly isOptional: boolean;
}

type RoleObject = KubeObject & { readonly rules: readonly Omit<RoleRule, "namespace" | "isOptional">[] };

/** What the manifests of a provider (deploy/manifests) allow the controller. */
function controllerRules(provider: "aws" | "kwok"): readonly RoleRule[] {
  const text = readFileSync(new URL(`../../deploy/manifests/${provider}.yaml`, import.meta.url), "utf8");
  return parseAllDocuments(text).flatMap((document) => {
    const object = document.toJS() as RoleObject | null;
    if (object === null || !/^(Cluster)?Role$/.test(object.kind ?? "")) return [];
    if (/-(admin|explain)$/.test(object.metadata.name ?? "")) return []; // for people
    const items = document.getIn(["rules"]) as { items: readonly { commentBefore?: string }[]; commentBefore?: string };
    return object.rules.map((rule, at) => ({
      ...rule,
      namespace: object.metadata.namespace,
      isOptional: (items.items[at]?.commentBefore ?? "").trim().startsWith("Optional"),
    }));
  });
}

/** What both providers allow together: the simulated cloud serves the node classes of both. */
export function simulatedCloudRules(): readonly RoleRule[] {
  const all = [...controllerRules("aws"), ...controllerRules("kwok")];
  return [...new Map(all.map((rule) => [JSON.stringify(rule), rule])).values()];
}

/** For titles: `patch nodes`. */
export function ruleText({ verbs, resources, namespace }: RoleRule): string {
  return `${verbs.join(", ")} ${resources.join(", ")}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

interface Request {
  readonly verb: string;
  readonly type: ResourceType;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
}

function allows(rule: RoleRule, { verb, type, name, namespace, subresource }: Request): boolean {
  const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
  return (
    rule.verbs.includes(verb) &&
    rule.apiGroups.includes(type.group) &&
    rule.resources.includes(resource) &&
    (rule.namespace === undefined || rule.namespace === namespace) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name))
  );
}

/** A client that may do what the rules say, and is refused everything else as an API server refuses it. */
export function restrictedClient(client: KubeClient, rules: readonly RoleRule[]): KubeClient {
  const check = (request: Request) => {
    if (rules.some((rule) => allows(rule, request))) return;
    const { verb, type, name, subresource } = request;
    const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
    throw new KubeError("forbidden", `${resource}.${type.group} "${name}" is forbidden: cannot ${verb}`);
  };
  return {
    ...interceptCalls(client, async (call, proceed) => {
      check(call);
      return proceed();
    }),
    watch: (type, options) => {
      check({ verb: "watch", type, name: "", namespace: options.namespace });
      return client.watch(type, options);
    },
  };
}
