{{- define "ostiary.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ostiary.selector" -}}
app.kubernetes.io/name: ostiary
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ostiary.labels" -}}
{{ include "ostiary.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "ostiary.image" -}}
{{- $repository := required "image.repository: the image that deploy/Dockerfile builds" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Security context of every pod: nothing in it needs root, a capability or a writable folder. */}}
{{- define "ostiary.podSecurityContext" -}}
runAsNonRoot: true
{{- if not .Values.openshift }}
runAsUser: {{ .Values.user }}
runAsGroup: {{ .Values.group }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "ostiary.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Environment of a container. Called with a list: the root context, the role, the folder's drain in seconds. */}}
{{- define "ostiary.environment" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $values := $root.Values -}}
- { name: NODE_ENV, value: production }
# Nothing can be written, so Node keeps no compiled code.
- { name: NODE_DISABLE_COMPILE_CACHE, value: "1" }
- { name: HOST, value: "0.0.0.0" }
- { name: PORT, value: "3000" }
- { name: OSTIARY_ROLE, value: {{ $role }} }
- { name: OSTIARY_AUTH_URL, value: {{ required "authUrl: origin of the pages that users see" $values.authUrl | quote }} }
{{- with $values.baseUrl }}
- { name: OSTIARY_BASE_URL, value: {{ . | quote }} }
{{- end }}
- { name: OSTIARY_SEALING_KEYS_FILE, value: /run/secrets/ostiary/sealing-keys }
- { name: DATABASE_URL_FILE, value: /run/secrets/ostiary/database-url }
{{- if $values.secret.smtpUrlKey }}
- { name: OSTIARY_SMTP_URL_FILE, value: /run/secrets/ostiary/smtp-url }
{{- end }}
- { name: OSTIARY_TRUSTED_PROXIES, value: {{ required "trustedProxies: addresses of the ingress controller" (join "," $values.trustedProxies) | quote }} }
{{- if eq $role "web" }}
- { name: OSTIARY_DRAIN_SECONDS, value: {{ $values.web.drainSeconds | quote }} }
{{- end }}
{{- if $values.metrics.enabled }}
- { name: OSTIARY_METRICS_HOST, value: "0.0.0.0" }
- { name: OSTIARY_METRICS_PORT, value: {{ $values.metrics.port | quote }} }
{{- end }}
{{- range $name, $value := $values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{/* Volume with the secrets as files. Called with a list: the root context, name and key of the DATABASE_URL. */}}
{{- define "ostiary.secrets" -}}
{{- $root := index . 0 -}}
{{- $secret := $root.Values.secret -}}
{{- $name := required "secret.name: a Secret with the URL of the database and the sealing keys" $secret.name -}}
- name: secrets
  projected:
    # 0444: the user of the container may be any, so every user of the container can read the files.
    defaultMode: 292
    sources:
      - secret:
          name: {{ index . 1 | default $name }}
          items: [{ key: {{ index . 2 }}, path: database-url }]
      - secret:
          name: {{ $name }}
          items:
            - { key: {{ $secret.sealingKeysKey }}, path: sealing-keys }
            {{- with $secret.databaseCaKey }}
            - { key: {{ . }}, path: ca.pem }
            {{- end }}
            {{- with $secret.smtpUrlKey }}
            - { key: {{ . }}, path: smtp-url }
            {{- end }}
{{- end -}}

{{- define "ostiary.probes" -}}
# The process is alive. A database that is away is no reason to restart it.
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
# The process can answer: its database does, and it is not stopping.
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 1
{{- end -}}

{{- define "ostiary.spread" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "ostiary.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $role }}
{{- end }}
{{- end -}}
