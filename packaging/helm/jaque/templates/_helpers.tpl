{{- define "jaque.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 36 | trimSuffix "-" -}}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}
{{- .Release.Name | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 36 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "jaque.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "jaque.labels" -}}
{{ include "jaque.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* What cannot be right is refused with what to write instead. */ -}}
{{- define "jaque.validate" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is missing: build an image from packaging/helm/Containerfile and name it" -}}
{{- end -}}
{{- if and (not .Values.config.files) (not .Values.config.existingConfigMap) -}}
{{- fail "there is no configuration: write config.files, or name a ConfigMap in config.existingConfigMap" -}}
{{- end -}}
{{- if and .Values.config.files .Values.config.existingConfigMap -}}
{{- fail "config.files and config.existingConfigMap are both given: leave one out" -}}
{{- end -}}
{{- if eq .Values.deploymentMode "split" -}}
{{- if not .Values.nats.url -}}
{{- fail "deploymentMode split needs nats.url, the NATS server that keeps log, queue and members: nats://host:4222 or tls://host:4222" -}}
{{- end -}}
{{- if and .Values.nats.ca (not .Values.nats.credentialsSecret) -}}
{{- fail "nats.ca needs nats.credentialsSecret, which holds ca.crt" -}}
{{- end -}}
{{- $names := dict -}}
{{- range .Values.workers -}}
{{- if hasKey $names .name -}}
{{- fail (printf "two entries of workers are called %s" .name) -}}
{{- end -}}
{{- $_ := set $names .name true -}}
{{- end -}}
{{- else -}}
{{- range $flag, $given := dict "nats.url" .Values.nats.url "nats.credentialsSecret" .Values.nats.credentialsSecret -}}
{{- if $given -}}
{{- fail (printf "%s is given, and deploymentMode is standalone, which has no NATS server: write deploymentMode split, or leave it out" $flag) -}}
{{- end -}}
{{- end -}}
{{- if gt (int .Values.engine.replicas) 1 -}}
{{- fail "engine.replicas is more than 1, and deploymentMode is standalone, which is one process: write deploymentMode split" -}}
{{- end -}}
{{- end -}}
{{- if and (or .Values.delivery.smtp.user .Values.delivery.telegram) (not .Values.delivery.secret) -}}
{{- fail "delivery.secret is missing: a Secret with smtp-password for delivery.smtp.user, and telegram-token for delivery.telegram" -}}
{{- end -}}
{{- if and .Values.delivery.smtp.user (not .Values.delivery.smtp.host) -}}
{{- fail "delivery.smtp.user is given without delivery.smtp.host" -}}
{{- end -}}
{{- end -}}

{{- /* The parts that every pod has. Arguments: root, component, role (its values). */ -}}
{{- define "jaque.pod" -}}
metadata:
  labels:
    {{- include "jaque.selector" . | nindent 4 }}
  {{- $checksum := and (ne .component "worker") .root.Values.config.files }}
  {{- if or $checksum .root.Values.podAnnotations }}
  annotations:
    {{- if $checksum }}
    checksum/config: {{ toJson .root.Values.config.files | sha256sum }}
    {{- end }}
    {{- with .root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  # A Service called jaque would put JAQUE_PORT and more into the environment.
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  securityContext:
    runAsNonRoot: true
    runAsUser: 8420
    runAsGroup: 8420
    fsGroup: 8420
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .root.Values.affinity }}
  affinity: {{- toYaml .root.Values.affinity | nindent 4 }}
  {{- else }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                {{- include "jaque.selector" . | nindent 16 }}
  {{- end }}
  containers:
    - name: jaque
      image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion | default "latest") | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{- include "jaque.args" . | nindent 8 }}
      env:
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        {{- with concat (default list .root.Values.env) (default list .role.env) }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: http, containerPort: 8420}
      # A process that has lost a part of itself says 503 and ends by itself.
      livenessProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      # Reading a long log again takes its time.
      startupProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      securityContext:
        allowPrivilegeEscalation: {{ .root.Values.netRaw }}
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
          {{- if and .root.Values.netRaw (has .component (list "standalone" "worker")) }}
          add: [NET_RAW]
          {{- end }}
      {{- with .role.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if ne .component "worker" }}
        - {name: config, mountPath: /etc/jaque, readOnly: true}
        {{- end }}
        {{- if has .component (list "standalone" "engine") }}
        - {name: data, mountPath: /var/lib/jaque}
        {{- end }}
        {{- if eq (include "jaque.hasSecrets" .) "yes" }}
        - {name: secrets, mountPath: /run/jaque, readOnly: true}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if ne .component "worker" }}
    - name: config
      configMap:
        name: {{ .root.Values.config.existingConfigMap | default (include "jaque.fullname" .root) }}
    {{- end }}
    {{- if eq .component "engine" }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- if eq (include "jaque.hasSecrets" .) "yes" }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources: {{- include "jaque.secrets" . | nindent 10 }}
    {{- end }}
{{- end -}}

{{- define "jaque.delivers" -}}
{{- $in := ternary (ternary "notifier" "engine" .root.Values.notifier.enabled) "standalone" (eq .root.Values.deploymentMode "split") -}}
{{- if eq .component $in }}yes{{ end -}}
{{- end -}}

{{- define "jaque.showsAPI" -}}
{{- if has .component (list "standalone" "engine" "ui") }}yes{{ end -}}
{{- end -}}

{{- define "jaque.hasSecrets" -}}
{{- if trim (include "jaque.secrets" .) }}yes{{ end -}}
{{- end -}}

{{- /* Each role is given its own keys and no others. */ -}}
{{- define "jaque.secrets" -}}
{{- $v := .root.Values -}}
{{- if and (eq $v.deploymentMode "split") $v.nats.credentialsSecret }}
- secret:
    name: {{ $v.nats.credentialsSecret }}
    items:
      {{- if eq .component "engine" }}
      {{- range $n := until (int $v.engine.replicas) }}
      - {key: engine-{{ $n }}.creds, path: {{ include "jaque.fullname" $.root }}-engine-{{ $n }}.creds}
      {{- end }}
      {{- else }}
      - {key: {{ .credentials }}.creds, path: nats.creds}
      {{- end }}
      {{- if $v.nats.ca }}
      - {key: ca.crt, path: ca.crt}
      {{- end }}
{{- end }}
{{- if and $v.apiTokenSecret (include "jaque.showsAPI" .) }}
- secret:
    name: {{ $v.apiTokenSecret }}
    items:
      - {key: token, path: api-token}
{{- end }}
{{- if and $v.delivery.secret (include "jaque.delivers" .) (or $v.delivery.smtp.user $v.delivery.telegram) }}
- secret:
    name: {{ $v.delivery.secret }}
    items:
      {{- if $v.delivery.smtp.user }}
      - {key: smtp-password, path: smtp-password}
      {{- end }}
      {{- if $v.delivery.telegram }}
      - {key: telegram-token, path: telegram-token}
      {{- end }}
{{- end }}
{{- end -}}

{{- /* The command line of a role. */ -}}
{{- define "jaque.args" -}}
{{- $v := .root.Values -}}
{{- $split := eq $v.deploymentMode "split" -}}
- -target={{ ternary .component "all" $split }}
- -listen=0.0.0.0:8420
- -log-format=json
- -log-level={{ $v.logLevel }}
{{- if ne .component "worker" }}
- -config=/etc/jaque
{{- end }}
{{- if has .component (list "standalone" "engine") }}
- -data=/var/lib/jaque
{{- end }}
{{- if and $v.heartbeatTTL (not (has .component (list "worker" "ui"))) }}
- -heartbeat-ttl={{ $v.heartbeatTTL }}
{{- end }}
{{- if $split }}
{{- if ne .component "worker" }}
- -eventlog={{ $v.nats.url }}
- -coordination={{ $v.nats.url }}
{{- end }}
{{- if has .component (list "engine" "worker") }}
- -queue={{ $v.nats.url }}
{{- end }}
{{- if eq .component "worker" }}
- -zones={{ join "," .role.zones }}
{{- end }}
{{- if $v.nats.credentialsSecret }}
- -nats-creds=/run/jaque/{{ ternary "$(POD_NAME)" "nats" (eq .component "engine") }}.creds
{{- if $v.nats.ca }}
- -nats-tls-ca=/run/jaque/ca.crt
{{- end }}
{{- end }}
{{- if eq .component "engine" }}
- -engine-id=$(POD_NAME)
- -notify-delivery={{ ternary "notifier" "local" $v.notifier.enabled }}
{{- end }}
{{- end }}
{{- if and $v.apiTokenSecret (include "jaque.showsAPI" .) }}
- -api-token-file=/run/jaque/api-token
{{- end }}
{{- if include "jaque.delivers" . }}
{{- with $v.delivery.smtp }}
{{- if .host }}
- -smtp-host={{ .host }}
- -smtp-port={{ .port }}
- -smtp-tls={{ .tls }}
{{- if .from }}
- -smtp-from={{ .from }}
{{- end }}
{{- if .user }}
- -smtp-user={{ .user }}
- -smtp-password-file=/run/jaque/smtp-password
{{- end }}
{{- end }}
{{- end }}
{{- if $v.delivery.telegram }}
- -telegram-token-file=/run/jaque/telegram-token
{{- end }}
{{- end }}
{{- end -}}

{{- /* A Deployment. Arguments as for the pod, and name. */ -}}
{{- define "jaque.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "jaque.fullname" .root }}-{{ .name }}
  labels:
    {{- include "jaque.labels" . | nindent 4 }}
    {{- with .more }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  replicas: {{ .role.replicas | default 1 }}
  selector:
    matchLabels:
      {{- include "jaque.selector" . | nindent 6 }}
      {{- with .more }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  template:
    {{- $pod := include "jaque.pod" . | fromYaml }}
    {{- with .more }}
    {{- $_ := mergeOverwrite $pod (dict "metadata" (dict "labels" .)) }}
    {{- end }}
    {{- toYaml $pod | nindent 4 }}
{{- end -}}
