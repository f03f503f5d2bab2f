import type { KindTraits } from "./built-in-behaviour.ts";

/** Every authenticated client may do everything. (05 §5) */
export const accessReviewTraits: KindTraits = {
  answer: (draft) => {
    const rules = { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] };
    const nonResource = { nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }], incomplete: false };
    draft.status = draft.kind === "SelfSubjectRulesReview" ? { ...rules, ...nonResource } : { allowed: true };
  },
};

export const selfReviewTraits: KindTraits = {
  answer: (draft) => {
    draft.status = { userInfo: { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] } };
  },
};
