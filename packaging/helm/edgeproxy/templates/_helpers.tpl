{{- define "edgeproxy.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "edgeproxy.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "edgeproxy.labels" -}}
{{ include "edgeproxy.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The path of the disk tier; empty without one. */}}
{{- define "edgeproxy.disk" -}}
{{- $path := dig "cache" "disk" "path" "" .Values.config }}
{{- if kindIs "slice" $path }}{{ fail "config.cache.disk.path: must be one path, for the pods have one volume each" }}{{ end }}
{{- $path }}
{{- end }}

{{/* The port of an address such as :8080 or [::]:8080. */}}
{{- define "edgeproxy.port" -}}
{{- splitList ":" . | last }}
{{- end }}

{{- define "edgeproxy.http" -}}
{{- include "edgeproxy.port" (index (required "config.listen: needs an address" .Values.config.listen) 0).address }}
{{- end }}

{{- define "edgeproxy.metrics" -}}
{{- include "edgeproxy.port" (required "config.metrics.address: needs one, for the probes" .Values.config.metrics.address) }}
{{- end }}
