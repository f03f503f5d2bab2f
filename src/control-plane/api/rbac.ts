import type { KubeObject } from "../../api/object.ts";
import { listAt, stringsAt, textAt } from "../object-fields.ts";
import { mastersGroup, type TokenUser } from "./token-registry.ts";

/** What somebody wants to do: with objects, or with a path. */
export type AccessAttributes =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      /** With its subresource: `pods/log`. */
      readonly resource: string;
      readonly name: string;
      readonly namespace: string;
    }
  | { readonly kind: "path"; readonly verb: string; readonly path: string };

/** Reads stored objects by the name of their collection. */
export interface RbacObjects {
  list(storage: string, namespace?: string): readonly KubeObject[];
  get(storage: string, name: string, namespace?: string): KubeObject | undefined;
}

const group = "rbac.authorization.k8s.io";

/** The binding that allows it, or undefined. Everybody else is only what roles and bindings make of them. (05 §5) */
export function allowedBy(user: TokenUser, attributes: AccessAttributes, objects: RbacObjects): string | undefined {
  if (user.groups.includes(mastersGroup)) return mastersGroup;
  const clusterWide = objects.list(`clusterrolebindings.${group}`);
  const namespace = attributes.kind === "resource" ? attributes.namespace : "";
  const own = namespace === "" ? [] : objects.list(`rolebindings.${group}`, namespace);
  const binding = [...clusterWide, ...own].find(
    (one) =>
      listAt(one, "subjects").some((subject) => isSubject(subject, user)) &&
      rulesOf(one, objects).some((rule) => allows(rule, attributes)),
  );
  return binding && `${binding.kind} ${binding.metadata.name ?? ""}`;
}

function isSubject(subject: unknown, { username, groups }: TokenUser): boolean {
  const name = textAt(subject, "name");
  switch (textAt(subject, "kind")) {
    case "User":
      return name === username;
    case "Group":
      return groups.includes(name);
    case "ServiceAccount":
      return username === `system:serviceaccount:${textAt(subject, "namespace")}:${name}`;
    default:
      return false;
  }
}

function rulesOf(binding: KubeObject, objects: RbacObjects): readonly unknown[] {
  const { namespace } = binding.metadata;
  const name = textAt(binding, "roleRef", "name");
  const role =
    textAt(binding, "roleRef", "kind") === "Role"
      ? objects.get(`roles.${group}`, name, namespace)
      : objects.get(`clusterroles.${group}`, name);
  return role === undefined ? [] : listAt(role, "rules");
}

function allows(rule: unknown, attributes: AccessAttributes): boolean {
  if (!includesOrAll(stringsAt(rule, "verbs"), attributes.verb)) return false;
  if (attributes.kind === "path")
    return stringsAt(rule, "nonResourceURLs").some((url) => matchesPath(url, attributes.path));
  const names = stringsAt(rule, "resourceNames");
  return (
    includesOrAll(stringsAt(rule, "apiGroups"), attributes.group) &&
    stringsAt(rule, "resources").some((resource) => matchesResource(resource, attributes.resource)) &&
    (names.length === 0 || names.includes(attributes.name))
  );
}

function includesOrAll(allowed: readonly string[], value: string): boolean {
  return allowed.includes("*") || allowed.includes(value);
}

/** A `*` at the end stands for anything. */
function matchesPath(url: string, path: string): boolean {
  return url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));
}

/** A rule may be for a subresource of all resources. */
function matchesResource(allowed: string, resource: string): boolean {
  const [, subresource] = resource.split("/");
  return allowed === "*" || allowed === resource || (subresource !== undefined && allowed === `*/${subresource}`);
}
