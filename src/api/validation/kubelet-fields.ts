/** How a field of the kubelet's configuration file must look on the wire. */
export type FieldType =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "uint32"
  | "float"
  /** Text in Go's syntax. Alone among the types it is not read from null: the kubelet would refuse to start. */
  | "duration"
  | "nullable-duration"
  /** The same, or a number of nanoseconds. */
  | "duration-or-nanos"
  /** Text or number. */
  | "quantity"
  /** RFC 3339. */
  | "time"
  | { readonly list: FieldType }
  | { readonly map: FieldType }
  | { readonly fields: Fields };

export type Fields = Readonly<Record<string, FieldType>>;

function each(type: FieldType, names: string): Fields {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, type]));
}

const webhookAuthorization: Fields = each("duration", "cacheAuthorizedTTL cacheUnauthorizedTTL");

const authentication: Fields = {
  x509: { fields: each("string", "clientCAFile") },
  webhook: { fields: { enabled: "bool", cacheTTL: "duration" } },
  anonymous: { fields: each("bool", "enabled") },
};

const routing: FieldType = { fields: { splitStream: "bool", infoBufferSize: "quantity" } };

const logging: Fields = {
  format: "string",
  flushFrequency: "duration-or-nanos",
  verbosity: "uint32",
  vmodule: { list: { fields: { filePattern: "string", verbosity: "uint32" } } },
  options: { fields: { text: routing, json: routing } },
};

const taint: Fields = { ...each("string", "key value effect"), timeAdded: "time" };

/**
 * Every field of `KubeletConfiguration` in `kubelet.config.k8s.io/v1beta1` as of k8s.io/kubelet v0.36.3, with those of the
 * structures inside it. Raise it with the kubelet that nodes run. (01 §1.6.4)
 */
export const kubeletFields: Fields = {
  ...each("string", "kind apiVersion"),
  ...each(
    "string",
    `staticPodPath podLogsDir staticPodURL address tlsCertFile tlsPrivateKeyFile tlsMinVersion
    imagePullCredentialsVerificationPolicy healthzBindAddress clusterDomain kubeletCgroups systemCgroups cgroupRoot
    cgroupDriver cpuManagerPolicy memoryManagerPolicy topologyManagerPolicy topologyManagerScope hairpinMode podCIDR
    resolvConf contentType containerLogMaxSize configMapAndSecretChangeDetectionStrategy reservedSystemCPUs
    showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup volumePluginDir providerID
    memoryReservationPolicy containerRuntimeEndpoint imageServiceEndpoint`,
  ),
  ...each(
    "bool",
    `enableServer rotateCertificates serverTLSBootstrap enableDebuggingHandlers enableContentionProfiling cgroupsPerQOS
    singleProcessOOMKill runOnce cpuCFSQuota serializeImagePulls mergeDefaultEvictionSettings
    enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains failSwapOn kernelMemcgNotification
    enableSystemLogHandler enableSystemLogQuery enableProfilingHandler enableDebugFlagsHandler seccompDefault
    registerNode localStorageCapacityIsolation failCgroupV1`,
  ),
  ...each(
    "int32",
    `port readOnlyPort registryPullQPS registryBurst eventRecordQPS eventBurst healthzPort oomScoreAdj
    nodeLeaseDurationSeconds imageGCHighThresholdPercent imageGCLowThresholdPercent maxPods nodeStatusMaxImages
    kubeAPIQPS kubeAPIBurst maxParallelImagePulls evictionMaxPodGracePeriod podsPerCore iptablesMasqueradeBit
    iptablesDropBit containerLogMaxFiles containerLogMaxWorkers`,
  ),
  ...each("int64", "podPidsLimit maxOpenFiles"),
  ...each("float", "memoryThrottlingFactor"),
  ...each(
    "duration",
    `syncFrequency fileCheckFrequency httpCheckFrequency streamingConnectionIdleTimeout nodeStatusUpdateFrequency
    nodeStatusReportFrequency imageMinimumGCAge imageMaximumGCAge volumeStatsAggPeriod cpuManagerReconcilePeriod
    runtimeRequestTimeout evictionPressureTransitionPeriod shutdownGracePeriod shutdownGracePeriodCriticalPods`,
  ),
  ...each("nullable-duration", "cpuCFSQuotaPeriod containerLogMonitorInterval"),
  ...each(
    { list: "string" },
    "tlsCipherSuites preloadedImagesVerificationAllowlist clusterDNS enforceNodeAllocatable allowedUnsafeSysctls",
  ),
  tlsCurvePreferences: { list: "int32" },
  ...each(
    { map: "string" },
    `cpuManagerPolicyOptions topologyManagerPolicyOptions qosReserved evictionHard evictionSoft evictionSoftGracePeriod
    evictionMinimumReclaim systemReserved kubeReserved`,
  ),
  featureGates: { map: "bool" },
  staticPodURLHeader: { map: { list: "string" } },
  authentication: { fields: authentication },
  authorization: { fields: { mode: "string", webhook: { fields: webhookAuthorization } } },
  memorySwap: { fields: each("string", "swapBehavior") },
  logging: { fields: logging },
  shutdownGracePeriodByPodPriority: { list: { fields: { priority: "int32", shutdownGracePeriodSeconds: "int64" } } },
  crashLoopBackOff: { fields: each("nullable-duration", "maxContainerRestartPeriod") },
  reservedMemory: { list: { fields: { numaNode: "int32", limits: { map: "quantity" } } } },
  registerWithTaints: { list: { fields: taint } },
  tracing: { fields: { endpoint: "string", samplingRatePerMillion: "int32" } },
  userNamespaces: { fields: each("int64", "idsPerPod") },
};

/** The fields Karpenter reads and every image family can be given; the others only pass through. (01 §1.6.4) */
export const managedKubeletFields = [
  "clusterDNS",
  "maxPods",
  "podsPerCore",
  "systemReserved",
  "kubeReserved",
  "evictionHard",
  "evictionSoft",
  "evictionSoftGracePeriod",
  "evictionMaxPodGracePeriod",
  "imageGCHighThresholdPercent",
  "imageGCLowThresholdPercent",
  "cpuCFSQuota",
] as const;
export type ManagedKubeletField = (typeof managedKubeletFields)[number];
