import {
  booleanShape,
  countShape,
  integerShape,
  listShape,
  mapShape,
  objectShape,
  quantityShape,
  type ShapeCheck,
  stringShape,
} from "./shape-check.ts";

/** The form of pods as far as scheduling reads them; fields it does not read are named, so that misspelt ones show. */

const expression = objectShape({
  required: { key: stringShape, operator: stringShape },
  optional: { values: listShape(stringShape) },
  others: [],
});

export const labelSelectorShape: ShapeCheck = objectShape({
  optional: { matchLabels: mapShape(stringShape), matchExpressions: listShape(expression) },
  others: [],
});

const nodeTerm = objectShape({
  optional: { matchExpressions: listShape(expression), matchFields: listShape(expression) },
  others: [],
});

export const nodeSelectorShape: ShapeCheck = objectShape({
  required: { nodeSelectorTerms: listShape(nodeTerm) },
  others: [],
});

const podTerm = objectShape({
  required: { topologyKey: stringShape },
  optional: {
    labelSelector: labelSelectorShape,
    namespaces: listShape(stringShape),
    namespaceSelector: labelSelectorShape,
    matchLabelKeys: listShape(stringShape),
    mismatchLabelKeys: listShape(stringShape),
  },
  others: [],
});

const podAffinity = objectShape({
  optional: {
    requiredDuringSchedulingIgnoredDuringExecution: listShape(podTerm),
    preferredDuringSchedulingIgnoredDuringExecution: listShape(
      objectShape({ required: { weight: integerShape, podAffinityTerm: podTerm }, others: [] }),
    ),
  },
  others: [],
});

const affinity = objectShape({
  optional: {
    nodeAffinity: objectShape({
      optional: {
        requiredDuringSchedulingIgnoredDuringExecution: nodeSelectorShape,
        preferredDuringSchedulingIgnoredDuringExecution: listShape(
          objectShape({ required: { weight: integerShape, preference: nodeTerm }, others: [] }),
        ),
      },
      others: [],
    }),
    podAffinity,
    podAntiAffinity: podAffinity,
  },
  others: [],
});

const spread = objectShape({
  required: { topologyKey: stringShape, maxSkew: integerShape, whenUnsatisfiable: stringShape },
  optional: {
    labelSelector: labelSelectorShape,
    minDomains: integerShape,
    matchLabelKeys: listShape(stringShape),
    nodeAffinityPolicy: stringShape,
    nodeTaintsPolicy: stringShape,
  },
  others: [],
});

const toleration = objectShape({
  optional: {
    key: stringShape,
    operator: stringShape,
    value: stringShape,
    effect: stringShape,
    tolerationSeconds: integerShape,
  },
  others: [],
});

const resources = objectShape({
  optional: {
    requests: mapShape(quantityShape),
    limits: mapShape(quantityShape),
    claims: listShape(objectShape({ required: { name: stringShape } })),
  },
  others: [],
});

const container = objectShape({
  optional: {
    name: stringShape,
    image: stringShape,
    resources,
    restartPolicy: stringShape,
    ports: listShape(
      objectShape({
        optional: {
          containerPort: integerShape,
          hostPort: integerShape,
          hostIP: stringShape,
          protocol: stringShape,
          name: stringShape,
        },
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

const volume = objectShape({
  required: { name: stringShape },
  optional: {
    persistentVolumeClaim: objectShape({ required: { claimName: stringShape } }),
    ephemeral: objectShape({}),
  },
});

export const podSpecShape: ShapeCheck = objectShape({
  required: { containers: listShape(container, { least: 1 }) },
  optional: {
    nodeName: stringShape,
    schedulerName: stringShape,
    nodeSelector: mapShape(stringShape),
    affinity,
    tolerations: listShape(toleration),
    topologySpreadConstraints: listShape(spread),
    initContainers: listShape(container),
    resources,
    overhead: mapShape(quantityShape),
    volumes: listShape(volume),
    resourceClaims: listShape(objectShape({ required: { name: stringShape } })),
    schedulingGates: listShape(objectShape({ required: { name: stringShape } })),
    hostNetwork: booleanShape,
    priority: integerShape,
    priorityClassName: stringShape,
    preemptionPolicy: stringShape,
    terminationGracePeriodSeconds: countShape,
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

export const podTemplateShape: ShapeCheck = objectShape({
  required: { spec: podSpecShape },
  optional: {
    metadata: objectShape({ optional: { labels: mapShape(stringShape), annotations: mapShape(stringShape) } }),
  },
});
