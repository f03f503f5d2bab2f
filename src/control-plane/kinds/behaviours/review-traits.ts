import { type AccessAttributes, allowedBy } from "../../api/rbac.ts";
import { adminUser } from "../../api/token-registry.ts";
import { recordAt, stringsAt, textAt } from "../../object-fields.ts";
import type { ObjectDraft } from "../object-draft.ts";
import type { KindTraits } from "./built-in-behaviour.ts";

/** Every client that gets this far is the administrator, who may do everything. (05 §5) */
export const selfAccessReviewTraits: KindTraits = {
  answer: (draft) => {
    const rules = { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] };
    const nonResource = { nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }], incomplete: false };
    draft.status = draft.kind === "SelfSubjectRulesReview" ? { ...rules, ...nonResource } : { allowed: true };
  },
};

/** Whether somebody else may do something: by the roles and bindings that are stored. (05 §5) */
export const accessReviewTraits: KindTraits = {
  answer: (draft, context) => {
    const user = { username: textAt(draft, "spec", "user"), groups: stringsAt(draft, "spec", "groups") };
    const binding = allowedBy(user, attributesOf(draft), context);
    draft.status =
      binding === undefined
        ? { allowed: false, reason: "no role allows it" }
        : { allowed: true, reason: `RBAC: ${binding}` };
  },
};

function attributesOf(draft: ObjectDraft): AccessAttributes {
  const path = recordAt(draft, "spec", "nonResourceAttributes");
  if (path !== undefined) return { kind: "path", verb: textAt(path, "verb"), path: textAt(path, "path") };
  const asked = recordAt(draft, "spec", "resourceAttributes") ?? {};
  const subresource = textAt(asked, "subresource");
  return {
    kind: "resource",
    verb: textAt(asked, "verb"),
    group: textAt(asked, "group"),
    resource: subresource === "" ? textAt(asked, "resource") : `${textAt(asked, "resource")}/${subresource}`,
    name: textAt(asked, "name"),
    namespace: textAt(asked, "namespace"),
  };
}

export const selfReviewTraits: KindTraits = {
  answer: (draft) => {
    draft.status = { userInfo: adminUser };
  },
};

/** Whose a token is. (05 §5) */
export const tokenReviewTraits: KindTraits = {
  answer: (draft, { userOfToken }) => {
    const found = userOfToken(textAt(draft, "spec", "token"), stringsAt(draft, "spec", "audiences"));
    draft.status =
      found === undefined
        ? { authenticated: false, user: {}, error: "invalid bearer token" }
        : { authenticated: true, user: found.user, audiences: found.audiences };
  },
};
