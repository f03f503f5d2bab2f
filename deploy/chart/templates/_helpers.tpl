{{- define "karpenter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "karpenter.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "karpenter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "karpenter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "karpenter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "karpenter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels and annotations of every object. */}}
{{- define "karpenter.metadata" -}}
labels:
  {{- include "karpenter.labels" . | nindent 2 }}
{{- with .Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "karpenter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "karpenter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "karpenter.image" -}}
{{- with .Values.controller.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pods of this release, for selectors that the values leave out. */}}
{{- define "karpenter.podSelector" -}}
matchLabels:
  {{- include "karpenter.selectorLabels" . | nindent 2 }}
{{- end -}}

{{- define "karpenter.affinity" -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- $selector := include "karpenter.podSelector" . | fromYaml -}}
{{- range (dig "podAntiAffinity" "requiredDuringSchedulingIgnoredDuringExecution" (list) $affinity) -}}
{{- if not .labelSelector -}}{{- $_ := set . "labelSelector" $selector -}}{{- end -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}

{{- define "karpenter.topologySpreadConstraints" -}}
{{- $constraints := list -}}
{{- $selector := include "karpenter.podSelector" . | fromYaml -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $constraints = append $constraints (merge (deepCopy .) (dict "labelSelector" $selector)) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end -}}

{{/* Settings of AWS: by their own name, else by the name under settings.aws of old charts, else the default. */}}
{{- define "karpenter.awsSetting" -}}
{{- $old := default dict .settings.aws -}}
{{- $oldName := default .name .oldName -}}
{{- if and (hasKey $old $oldName) (eq (toString (get .settings .name)) .unset) -}}
{{- get $old $oldName -}}
{{- else -}}
{{- get .settings .name -}}
{{- end -}}
{{- end -}}

{{- define "karpenter.clusterName" -}}
{{- include "karpenter.awsSetting" (dict "settings" .Values.settings "name" "clusterName" "unset" "") -}}
{{- end -}}

{{- define "karpenter.featureGates" -}}
{{- $gates := list -}}
{{- range $name, $isOn := .Values.settings.featureGates -}}
{{- $gates = append $gates (printf "%s%s=%v" (substr 0 1 $name | upper) (substr 1 -1 $name) $isOn) -}}
{{- end -}}
{{- join "," $gates -}}
{{- end -}}
