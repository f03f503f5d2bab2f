import { child, type Draft, defaultTo, listAt, recordAt, textAt } from "../draft.ts";
import type { Traits } from "./built-in.ts";

/** Kinds that are kept without behaviour: what real servers fill in, so that manifests come back the same. (05 §5) */

export const eventTraits: Traits = {
  defaults: (draft) => {
    if (draft["eventTime"] === undefined) draft["eventTime"] = null;
    for (const field of ["reportingComponent", "reportingInstance"]) if (draft[field] === undefined) draft[field] = "";
  },
};

export const csiDriverTraits: Traits = {
  defaults: (draft) => {
    const spec = child(draft, "spec");
    defaultTo(spec, {
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

export const volumeAttachmentTraits: Traits = { hasStatus: true, emptyStatus: { attached: false } };

export const networkPolicyTraits: Traits = {
  countsGenerations: true,
  defaults: (draft) => {
    const spec = child(draft, "spec");
    defaultTo(spec, { policyTypes: listAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"] });
    for (const direction of ["ingress", "egress"]) {
      for (const rule of listAt(spec, direction)) {
        for (const port of listAt(rule, "ports")) defaultTo(port, { protocol: "TCP" });
      }
    }
  },
};

export const ingressTraits: Traits = { countsGenerations: true, hasStatus: true, emptyStatus: { loadBalancer: {} } };

const rbac = "rbac.authorization.k8s.io";

export const roleBindingTraits: Traits = {
  nameStyle: "path",
  defaults: (draft) => {
    const role = recordAt(draft, "roleRef");
    if (role !== undefined) defaultTo(role, { apiGroup: rbac });
    for (const subject of listAt(draft, "subjects")) {
      if (subject["kind"] !== "ServiceAccount") defaultTo(subject, { apiGroup: rbac });
    }
  },
};

export const autoscalerTraits: Traits = {
  hasStatus: true,
  emptyStatus: { currentMetrics: null, desiredReplicas: 0 },
  defaults: (draft) => {
    const target = { type: "Utilization", averageUtilization: 80 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    defaultTo(child(draft, "spec"), { minReplicas: 1, metrics });
  },
};

export const endpointSliceTraits: Traits = {
  countsGenerations: true,
  defaults: (draft) => {
    for (const endpoint of listAt(draft, "endpoints")) child(endpoint, "conditions");
    for (const port of listAt(draft, "ports")) {
      defaultTo(port, { protocol: "TCP" });
      if (port["name"] === undefined) port["name"] = "";
    }
  },
};

const templateGeneration = "deprecated.daemonset.template.generation";

/** Counts the templates of a DaemonSet, in an annotation nobody reads any more. */
export function countTemplate(draft: Draft, isChanged: boolean): void {
  const before = Number(textAt(draft.metadata.annotations, templateGeneration)) || 0;
  const count = isChanged ? before + 1 : Math.max(before, 1);
  draft.metadata.annotations = { ...draft.metadata.annotations, [templateGeneration]: String(count) };
}
