import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type ObjectDraft, setDefaults } from "../object-draft.ts";
import type { KindTraits } from "./built-in-behaviour.ts";

/** Kinds stored without behaviour: only the API server's defaults. (05 §5) */

export const eventTraits: KindTraits = {
  defaults: (draft) => {
    if (draft["eventTime"] === undefined) draft["eventTime"] = null;
    for (const field of ["reportingComponent", "reportingInstance"]) if (draft[field] === undefined) draft[field] = "";
  },
};

export const csiDriverTraits: KindTraits = {
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    setDefaults(spec, {
      attachRequired: true,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ["Persistent"],
    });
  },
};

export const volumeAttachmentTraits: KindTraits = { hasStatus: true, emptyStatus: { attached: false } };

export const networkPolicyTraits: KindTraits = {
  countsGenerations: true,
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    setDefaults(spec, { policyTypes: listAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"] });
    for (const direction of ["ingress", "egress"]) {
      for (const rule of listAt(spec, direction)) {
        for (const port of listAt(rule, "ports")) setDefaults(port, { protocol: "TCP" });
      }
    }
  },
};

export const ingressTraits: KindTraits = {
  countsGenerations: true,
  hasStatus: true,
  emptyStatus: { loadBalancer: {} },
};

const rbac = "rbac.authorization.k8s.io";

export const roleBindingTraits: KindTraits = {
  nameStyle: "path",
  defaults: (draft) => {
    const role = recordAt(draft, "roleRef");
    if (role !== undefined) setDefaults(role, { apiGroup: rbac });
    for (const subject of listAt(draft, "subjects")) {
      if (subject["kind"] !== "ServiceAccount") setDefaults(subject, { apiGroup: rbac });
    }
  },
};

export const autoscalerTraits: KindTraits = {
  hasStatus: true,
  emptyStatus: { currentMetrics: null, desiredReplicas: 0 },
  defaults: (draft) => {
    const target = { type: "Utilization", averageUtilization: 80 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    setDefaults(ensureRecord(draft, "spec"), { minReplicas: 1, metrics });
  },
};

export const endpointSliceTraits: KindTraits = {
  countsGenerations: true,
  defaults: (draft) => {
    for (const endpoint of listAt(draft, "endpoints")) ensureRecord(endpoint, "conditions");
    for (const port of listAt(draft, "ports")) {
      setDefaults(port, { protocol: "TCP" });
      if (port["name"] === undefined) port["name"] = "";
    }
  },
};

const templateGeneration = "deprecated.daemonset.template.generation";

/** Maintains the deprecated template-generation annotation of DaemonSets. */
export function countTemplateGeneration(draft: ObjectDraft, isChanged: boolean): void {
  const before = Number(textAt(draft.metadata.annotations, templateGeneration)) || 0;
  const count = isChanged ? before + 1 : Math.max(before, 1);
  draft.metadata.annotations = { ...draft.metadata.annotations, [templateGeneration]: String(count) };
}
