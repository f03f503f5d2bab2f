/** The type of a field of the kubelet's configuration file. */
export type KubeletFieldType =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "uint32"
  | "float"
  /** A duration in Go's syntax. Unlike the other types it may not be null: the kubelet would not start. */
  | "duration"
  | "nullable-duration"
  /** The same, or a number of nanoseconds. */
  | "duration-or-nanos"
  /** Text or number. */
  | "quantity"
  /** RFC 3339. */
  | "time"
  | { readonly list: KubeletFieldType }
  | { readonly map: KubeletFieldType }
  | { readonly fields: KubeletFields };

export type KubeletFields = Readonly<Record<string, KubeletFieldType>>;

function fieldsOfType(type: KubeletFieldType, names: string): KubeletFields {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, type]));
}

const webhookAuthorization: KubeletFields = fieldsOfType("duration", "cacheAuthorizedTTL cacheUnauthorizedTTL");

const authentication: KubeletFields = {
  x509: { fields: fieldsOfType("string", "clientCAFile") },
  webhook: { fields: { enabled: "bool", cacheTTL: "duration" } },
  anonymous: { fields: fieldsOfType("bool", "enabled") },
};

const routing: KubeletFieldType = { fields: { splitStream: "bool", infoBufferSize: "quantity" } };

const logging: KubeletFields = {
  format: "string",
  flushFrequency: "duration-or-nanos",
  verbosity: "uint32",
  vmodule: { list: { fields: { filePattern: "string", verbosity: "uint32" } } },
  options: { fields: { text: routing, json: routing } },
};

const taint: KubeletFields = { ...fieldsOfType("string", "key value effect"), timeAdded: "time" };

/**
 * Every field of `KubeletConfiguration` in `kubelet.config.k8s.io/v1beta1` as of k8s.io/kubelet v0.36.3, with those of the
 * structures inside it. Raise it with the kubelet that nodes run. (01 §1.6.4)
 */
export const kubeletFields: KubeletFields = {
  ...fieldsOfType("string", "kind apiVersion"),
  ...fieldsOfType(
    "string",
    `staticPodPath podLogsDir staticPodURL address tlsCertFile tlsPrivateKeyFile tlsMinVersion
    imagePullCredentialsVerificationPolicy healthzBindAddress clusterDomain kubeletCgroups systemCgroups cgroupRoot
    cgroupDriver cpuManagerPolicy memoryManagerPolicy topologyManagerPolicy topologyManagerScope hairpinMode podCIDR
    resolvConf contentType containerLogMaxSize configMapAndSecretChangeDetectionStrategy reservedSystemCPUs
    showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup volumePluginDir providerID
    memoryReservationPolicy containerRuntimeEndpoint imageServiceEndpoint`,
  ),
  ...fieldsOfType(
    "bool",
    `enableServer rotateCertificates serverTLSBootstrap enableDebuggingHandlers enableContentionProfiling cgroupsPerQOS
    singleProcessOOMKill runOnce cpuCFSQuota serializeImagePulls mergeDefaultEvictionSettings
    enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains failSwapOn kernelMemcgNotification
    enableSystemLogHandler enableSystemLogQuery enableProfilingHandler enableDebugFlagsHandler seccompDefault
    registerNode localStorageCapacityIsolation failCgroupV1`,
  ),
  ...fieldsOfType(
    "int32",
    `port readOnlyPort registryPullQPS registryBurst eventRecordQPS eventBurst healthzPort oomScoreAdj
    nodeLeaseDurationSeconds imageGCHighThresholdPercent imageGCLowThresholdPercent maxPods nodeStatusMaxImages
    kubeAPIQPS kubeAPIBurst maxParallelImagePulls evictionMaxPodGracePeriod podsPerCore iptablesMasqueradeBit
    iptablesDropBit containerLogMaxFiles containerLogMaxWorkers`,
  ),
  ...fieldsOfType("int64", "podPidsLimit maxOpenFiles"),
  ...fieldsOfType("float", "memoryThrottlingFactor"),
  ...fieldsOfType(
    "duration",
    `syncFrequency fileCheckFrequency httpCheckFrequency streamingConnectionIdleTimeout nodeStatusUpdateFrequency
    nodeStatusReportFrequency imageMinimumGCAge imageMaximumGCAge volumeStatsAggPeriod cpuManagerReconcilePeriod
    runtimeRequestTimeout evictionPressureTransitionPeriod shutdownGracePeriod shutdownGracePeriodCriticalPods`,
  ),
  ...fieldsOfType("nullable-duration", "cpuCFSQuotaPeriod containerLogMonitorInterval"),
  ...fieldsOfType(
    { list: "string" },
    "tlsCipherSuites preloadedImagesVerificationAllowlist clusterDNS enforceNodeAllocatable allowedUnsafeSysctls",
  ),
  tlsCurvePreferences: { list: "int32" },
  ...fieldsOfType(
    { map: "string" },
    `cpuManagerPolicyOptions topologyManagerPolicyOptions qosReserved evictionHard evictionSoft evictionSoftGracePeriod
    evictionMinimumReclaim systemReserved kubeReserved`,
  ),
  featureGates: { map: "bool" },
  staticPodURLHeader: { map: { list: "string" } },
  authentication: { fields: authentication },
  authorization: { fields: { mode: "string", webhook: { fields: webhookAuthorization } } },
  memorySwap: { fields: fieldsOfType("string", "swapBehavior") },
  logging: { fields: logging },
  shutdownGracePeriodByPodPriority: { list: { fields: { priority: "int32", shutdownGracePeriodSeconds: "int64" } } },
  crashLoopBackOff: { fields: fieldsOfType("nullable-duration", "maxContainerRestartPeriod") },
  reservedMemory: { list: { fields: { numaNode: "int32", limits: { map: "quantity" } } } },
  registerWithTaints: { list: { fields: taint } },
  tracing: { fields: { endpoint: "string", samplingRatePerMillion: "int32" } },
  userNamespaces: { fields: fieldsOfType("int64", "idsPerPod") },
};

/** The fields Karpenter reads and passes to every image family; the others are passed through unread. (01 §1.6.4) */
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
