import { count, fields, flag, integer, listOf, mapOf, quantity, type Shape, text } from "./shape.ts";

/** The form of pods as far as scheduling reads them; fields it does not read are named, so that misspelt ones show. */

const expression = fields({
  required: { key: text, operator: text },
  optional: { values: listOf(text) },
  others: [],
});

export const selector: Shape = fields({
  optional: { matchLabels: mapOf(text), matchExpressions: listOf(expression) },
  others: [],
});

const nodeTerm = fields({
  optional: { matchExpressions: listOf(expression), matchFields: listOf(expression) },
  others: [],
});

export const nodeSelector: Shape = fields({ required: { nodeSelectorTerms: listOf(nodeTerm) }, others: [] });

const podTerm = fields({
  required: { topologyKey: text },
  optional: {
    labelSelector: selector,
    namespaces: listOf(text),
    namespaceSelector: selector,
    matchLabelKeys: listOf(text),
    mismatchLabelKeys: listOf(text),
  },
  others: [],
});

const podAffinity = fields({
  optional: {
    requiredDuringSchedulingIgnoredDuringExecution: listOf(podTerm),
    preferredDuringSchedulingIgnoredDuringExecution: listOf(
      fields({ required: { weight: integer, podAffinityTerm: podTerm }, others: [] }),
    ),
  },
  others: [],
});

const affinity = fields({
  optional: {
    nodeAffinity: fields({
      optional: {
        requiredDuringSchedulingIgnoredDuringExecution: nodeSelector,
        preferredDuringSchedulingIgnoredDuringExecution: listOf(
          fields({ required: { weight: integer, preference: nodeTerm }, others: [] }),
        ),
      },
      others: [],
    }),
    podAffinity,
    podAntiAffinity: podAffinity,
  },
  others: [],
});

const spread = fields({
  required: { topologyKey: text, maxSkew: integer, whenUnsatisfiable: text },
  optional: {
    labelSelector: selector,
    minDomains: integer,
    matchLabelKeys: listOf(text),
    nodeAffinityPolicy: text,
    nodeTaintsPolicy: text,
  },
  others: [],
});

const toleration = fields({
  optional: { key: text, operator: text, value: text, effect: text, tolerationSeconds: integer },
  others: [],
});

const resources = fields({
  optional: {
    requests: mapOf(quantity),
    limits: mapOf(quantity),
    claims: listOf(fields({ required: { name: text } })),
  },
  others: [],
});

const container = fields({
  optional: {
    name: text,
    image: text,
    resources,
    restartPolicy: text,
    ports: listOf(
      fields({
        optional: { containerPort: integer, hostPort: integer, hostIP: text, protocol: text, name: text },
        others: [],
      }),
    ),
  },
  others: [
    "args",
    "command",
    "env",
    "envFrom",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "resizePolicy",
    "restartPolicyRules",
    "securityContext",
    "startupProbe",
    "stdin",
    "stdinOnce",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
  ],
});

const volume = fields({
  required: { name: text },
  optional: {
    persistentVolumeClaim: fields({ required: { claimName: text } }),
    ephemeral: fields({}),
  },
});

export const podSpec: Shape = fields({
  required: { containers: listOf(container, { least: 1 }) },
  optional: {
    nodeName: text,
    schedulerName: text,
    nodeSelector: mapOf(text),
    affinity,
    tolerations: listOf(toleration),
    topologySpreadConstraints: listOf(spread),
    initContainers: listOf(container),
    resources,
    overhead: mapOf(quantity),
    volumes: listOf(volume),
    resourceClaims: listOf(fields({ required: { name: text } })),
    schedulingGates: listOf(fields({ required: { name: text } })),
    hostNetwork: flag,
    priority: integer,
    priorityClassName: text,
    preemptionPolicy: text,
    terminationGracePeriodSeconds: count,
  },
  others: [
    "activeDeadlineSeconds",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostPID",
    "hostUsers",
    "hostname",
    "hostnameOverride",
    "imagePullSecrets",
    "os",
    "readinessGates",
    "restartPolicy",
    "runtimeClassName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "workloadRef",
  ],
});

export const podTemplate: Shape = fields({
  required: { spec: podSpec },
  optional: { metadata: fields({ optional: { labels: mapOf(text), annotations: mapOf(text) } }) },
});
