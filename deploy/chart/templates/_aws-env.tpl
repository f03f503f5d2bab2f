{{/* The settings of AWS as environment variables. Booleans and numbers are always there: an unset one would mean the default. */}}
{{- define "karpenter.awsEnv" -}}
{{- $settings := .Values.settings -}}
{{- $rows := list
  (dict "env" "CLUSTER_NAME" "name" "clusterName" "unset" "")
  (dict "env" "CLUSTER_ENDPOINT" "name" "clusterEndpoint" "unset" "" "isOptional" true)
  (dict "env" "CLUSTER_CA_BUNDLE" "name" "clusterCABundle" "unset" "" "isOptional" true)
  (dict "env" "ISOLATED_VPC" "name" "isolatedVPC" "unset" "false")
  (dict "env" "EKS_CONTROL_PLANE" "name" "eksControlPlane" "unset" "false")
  (dict "env" "VM_MEMORY_OVERHEAD_PERCENT" "name" "vmMemoryOverheadPercent" "unset" "0.075")
  (dict "env" "INTERRUPTION_QUEUE" "name" "interruptionQueue" "oldName" "interruptionQueueName" "unset" "" "isOptional" true)
  (dict "env" "ENABLE_ZONAL_SHIFT" "name" "enableZonalShift" "unset" "false")
  (dict "env" "RESERVED_ENIS" "name" "reservedENIs" "unset" "0")
  (dict "env" "DISABLE_DRY_RUN" "name" "disableDryRun" "unset" "false")
  (dict "env" "AMI_REFRESH_INTERVAL" "name" "amiRefreshInterval" "unset" "1m")
  (dict "env" "SUBNET_REFRESH_INTERVAL" "name" "subnetRefreshInterval" "unset" "1m")
-}}
{{- range $rows -}}
{{- $value := include "karpenter.awsSetting" (merge (dict "settings" $settings) .) -}}
{{- if or $value (not .isOptional) }}
- name: {{ .env }}
  value: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
