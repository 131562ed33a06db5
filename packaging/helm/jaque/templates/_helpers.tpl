{{- /* Names of pods, and with them the -id of the engines' credentials, are made of it: it is
     never cut. What is too long is refused in jaque.validate. */ -}}
{{- define "jaque.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{- define "jaque.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "jaque.labels" -}}
{{ include "jaque.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* What cannot be right, and what would be ignored, is refused with what to write instead. */ -}}
{{- define "jaque.validate" -}}
{{- include "jaque.validateName" . -}}
{{- include "jaque.validateImage" .Values.image -}}
{{- if not (or .Values.image.tag .Values.image.digest .Chart.AppVersion) -}}
{{- fail "image.tag is missing, and which image runs would change with whatever is called latest: write the tag that you gave the image, as in tag: \"1\", or its image.digest" -}}
{{- end -}}
{{- include "jaque.validateTTL" .Values.heartbeatTTL -}}
{{- include "jaque.validateEnv" . -}}
{{- include "jaque.validateDelivery" .Values.delivery -}}
{{- if and (not .Values.config.files) (not .Values.config.existingConfigMap) -}}
{{- fail "there is no configuration: write config.files, or name a ConfigMap in config.existingConfigMap" -}}
{{- end -}}
{{- if and .Values.config.files .Values.config.existingConfigMap -}}
{{- fail "config.files and config.existingConfigMap are both given: leave one out" -}}
{{- end -}}
{{- if contains "@" (default "" .Values.nats.url) -}}
{{- fail "nats.url holds a user or a password, and arguments can be read by everybody who may see the pods: write tls://host:4222, and name a Secret with credentials in nats.credentialsSecret" -}}
{{- end -}}
{{- if eq .Values.deploymentMode "split" -}}
{{- include "jaque.validateSplit" . -}}
{{- else -}}
{{- include "jaque.validateStandalone" . -}}
{{- end -}}
{{- end -}}

{{- define "jaque.validateName" -}}
{{- $name := include "jaque.fullname" . -}}
{{- if gt (len $name) 36 -}}
{{- fail (printf "the name %s has %d characters, and the names of the pods have room for 36: set fullnameOverride to a shorter one" $name (len $name)) -}}
{{- end -}}
{{- /* A Service's name starts with a letter and has no dot; that of a release may. */ -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "the name %s, made of the release's name and nameOverride, is none that Kubernetes takes for a Service: set fullnameOverride to small letters, digits and -, with a letter first" $name) -}}
{{- end -}}
{{- end -}}

{{- /* Argument: image. */ -}}
{{- define "jaque.validateImage" -}}
{{- if not .repository -}}
{{- fail "image.repository is missing: build an image from packaging/helm/Containerfile and name it" -}}
{{- end -}}
{{- if contains "@" .repository -}}
{{- fail "image.repository holds a digest: write it in image.digest, as in digest: sha256:…" -}}
{{- end -}}
{{- if regexMatch ":[^/]*$" .repository -}}
{{- fail "image.repository holds a tag: write it in image.tag" -}}
{{- end -}}
{{- if regexMatch "[:@]" (default "" .tag) -}}
{{- fail "image.tag holds a digest: write it in image.digest, as in digest: sha256:…" -}}
{{- end -}}
{{- if and .tag .digest -}}
{{- fail "image.tag and image.digest are both given, and a digest needs no tag: leave one out" -}}
{{- end -}}
{{- end -}}

{{- /* Argument: heartbeatTTL. */ -}}
{{- define "jaque.validateTTL" -}}
{{- if and . (not (and (regexMatch "^([0-9]+(\\.[0-9]{1,3})?(ms|s|m|h))+$" .) (regexMatch "[1-9]" .))) -}}
{{- fail (printf "heartbeatTTL %s is no time above 0: write a number with ms, s, m or h, as in 10s or 1m30s, or leave it empty for 10s" (quote .)) -}}
{{- end -}}
{{- end -}}

{{- /* A flag wins over its twin in the environment, so what the chart writes as a flag for
     every pod would be ignored there. */ -}}
{{- define "jaque.validateEnv" -}}
{{- $instead := dict "POD_NAME" "the chart sets it" "JAQUE_TARGET" "deploymentMode sets it" "JAQUE_LISTEN" "the probes ask at port 8420" "JAQUE_LOG_FORMAT" "the chart sets it" "JAQUE_LOG_LEVEL" "write logLevel" "JAQUE_CONFIG" "write config" -}}
{{- $places := dict "env" .Values.env -}}
{{- range list "standalone" "engine" "ui" "sink" "notifier" -}}
{{- $_ := set $places (printf "%s.env" .) (index $.Values . "env") -}}
{{- end -}}
{{- range .Values.workers -}}
{{- $_ := set $places (printf "env of the entry %s of workers" .name) .env -}}
{{- end -}}
{{- range $place, $env := $places -}}
{{- range $env -}}
{{- if hasKey $instead .name -}}
{{- fail (printf "%s has %s, which would be ignored or break the pod: leave it out; %s" $place .name (get $instead .name)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* The process of a role ends at once with a flag that it refuses. The file is made from
     the table of flags, see roles/chartflags_test.go. */ -}}
{{- $refused := .Files.Get "files/refused.yaml" | fromYaml -}}
{{- $readers := dict "env" (list "all") "standalone.env" (list "all") -}}
{{- if eq .Values.deploymentMode "split" -}}
{{- $everybody := list "engine" -}}
{{- range list "ui" "sink" "notifier" -}}
{{- if (index $.Values . "enabled") -}}{{- $everybody = append $everybody . -}}{{- end -}}
{{- end -}}
{{- if .Values.workers -}}{{- $everybody = append $everybody "worker" -}}{{- end -}}
{{- $readers = dict "env" $everybody -}}
{{- range list "engine" "ui" "sink" "notifier" -}}
{{- $_ := set $readers (printf "%s.env" .) (list .) -}}
{{- end -}}
{{- range .Values.workers -}}
{{- $_ := set $readers (printf "env of the entry %s of workers" .name) (list "worker") -}}
{{- end -}}
{{- end -}}
{{- range $place, $roles := $readers -}}
{{- range $entry := default list (get $places $place) -}}
{{- range $role := $roles -}}
{{- $why := get (default dict (get $refused $entry.name)) $role -}}
{{- if $why -}}
{{- fail (printf "%s has %s, which a process of role %s refuses, because %s: write it in the env of a role that takes it, or leave it out" $place $entry.name $role $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Argument: delivery. */ -}}
{{- define "jaque.validateDelivery" -}}
{{- if not .smtp.host -}}
{{- range $key, $given := dict "user" .smtp.user "from" .smtp.from -}}
{{- if $given -}}
{{- fail (printf "delivery.smtp.%s is given without delivery.smtp.host: name the mail server there" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $needed := or .smtp.user .telegram -}}
{{- if and $needed (not .secret) -}}
{{- fail "delivery.secret is missing: a Secret with smtp-password for delivery.smtp.user, and telegram-token for delivery.telegram" -}}
{{- end -}}
{{- if and .secret (not $needed) -}}
{{- fail "delivery.secret is given and nothing reads it: write delivery.smtp.user or delivery.telegram: true, or leave it out" -}}
{{- end -}}
{{- end -}}

{{- define "jaque.validateSplit" -}}
{{- with .Values.nats -}}
{{- if not .url -}}
{{- fail "deploymentMode split needs nats.url, the NATS server that keeps log, queue and members: nats://host:4222 or tls://host:4222" -}}
{{- end -}}
{{- if and .ca .caSecret -}}
{{- fail "nats.ca says that ca.crt stands in nats.credentialsSecret, and nats.caSecret names another Secret: leave one out" -}}
{{- end -}}
{{- if and .ca (not .credentialsSecret) -}}
{{- fail "nats.ca needs nats.credentialsSecret, which holds ca.crt; without credentials name the Secret with ca.crt in nats.caSecret" -}}
{{- end -}}
{{- end -}}
{{- $names := dict -}}
{{- range .Values.workers -}}
{{- if hasKey $names .name -}}
{{- fail (printf "two entries of workers are called %s" .name) -}}
{{- end -}}
{{- $_ := set $names .name true -}}
{{- end -}}
{{- range $key := list "env" "resources" -}}
{{- if index $.Values.standalone $key -}}
{{- fail (printf "standalone.%s is given, and deploymentMode is split: write engine.%s and so on for each role" $key $key) -}}
{{- end -}}
{{- end -}}
{{- if .Values.persistence.storageClass -}}
{{- fail "persistence.storageClass is given, and deploymentMode is split, where the log stands on the NATS server: leave it out" -}}
{{- end -}}
{{- end -}}

{{- define "jaque.validateStandalone" -}}
{{- range $key := list "url" "credentialsSecret" "ca" "caSecret" -}}
{{- if index $.Values.nats $key -}}
{{- fail (printf "nats.%s is given, and deploymentMode is standalone, which has no NATS server: write deploymentMode split, or leave it out" $key) -}}
{{- end -}}
{{- end -}}
{{- if gt (int .Values.engine.replicas) 1 -}}
{{- fail "engine.replicas is more than 1, and deploymentMode is standalone, which is one process: write deploymentMode split" -}}
{{- end -}}
{{- range $role := list "sink" "notifier" -}}
{{- if index $.Values $role "enabled" -}}
{{- fail (printf "%s.enabled is true, and deploymentMode is standalone, where the one process does that itself: leave it out, or write deploymentMode split" $role) -}}
{{- end -}}
{{- end -}}
{{- range $role := list "engine" "ui" "sink" "notifier" -}}
{{- range $key := list "env" "resources" -}}
{{- if index $.Values $role $key -}}
{{- fail (printf "%s.%s is given, and deploymentMode is standalone, which is one process: write standalone.%s" $role $key $key) -}}
{{- end -}}
{{- end -}}
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
    checksum/config: {{ toJson .root.Values.config.files | sha256sum | quote }}
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
    - name: {{ . | quote }}
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
      image: {{ include "jaque.image" .root | quote }}
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
        name: {{ .root.Values.config.existingConfigMap | default (include "jaque.fullname" .root) | quote }}
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

{{- define "jaque.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
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
    name: {{ $v.nats.credentialsSecret | quote }}
    items:
      {{- if eq .component "engine" }}
      {{- range $n := until (int $v.engine.replicas) }}
      - {key: engine-{{ $n }}.creds, path: {{ printf "%s-engine-%d.creds" (include "jaque.fullname" $.root) $n | quote }}}
      {{- end }}
      {{- else }}
      - {key: {{ printf "%s.creds" .credentials | quote }}, path: nats.creds}
      {{- end }}
      {{- if $v.nats.ca }}
      - {key: ca.crt, path: ca.crt}
      {{- end }}
{{- end }}
{{- if and (eq $v.deploymentMode "split") $v.nats.caSecret }}
- secret:
    name: {{ $v.nats.caSecret | quote }}
    items:
      - {key: ca.crt, path: ca.crt}
{{- end }}
{{- if and $v.apiTokenSecret (include "jaque.showsAPI" .) }}
- secret:
    name: {{ $v.apiTokenSecret | quote }}
    items:
      - {key: token, path: api-token}
{{- end }}
{{- if and $v.delivery.secret (include "jaque.delivers" .) (or $v.delivery.smtp.user $v.delivery.telegram) }}
- secret:
    name: {{ $v.delivery.secret | quote }}
    items:
      {{- if $v.delivery.smtp.user }}
      - {key: smtp-password, path: smtp-password}
      {{- end }}
      {{- if $v.delivery.telegram }}
      - {key: telegram-token, path: telegram-token}
      {{- end }}
{{- end }}
{{- end -}}

{{- /* One argument with a value of the user: flag and value. The kubelet reads $(NAME) as a
     variable and $$ as one $, so every $ of the user is doubled. */ -}}
{{- define "jaque.arg" -}}
{{- printf "-%s=%s" (index . 0) (index . 1 | replace "$" "$$") | quote -}}
{{- end -}}

{{- /* The command line of a role. */ -}}
{{- define "jaque.args" -}}
{{- $v := .root.Values -}}
{{- $split := eq $v.deploymentMode "split" -}}
- -target={{ ternary .component "all" $split }}
- -listen=0.0.0.0:8420
- -log-format=json
- {{ include "jaque.arg" (list "log-level" $v.logLevel) }}
{{- if ne .component "worker" }}
- -config=/etc/jaque
{{- end }}
{{- if has .component (list "standalone" "engine") }}
- -data=/var/lib/jaque
{{- end }}
{{- if and $v.heartbeatTTL (not (has .component (list "worker" "ui"))) }}
- {{ include "jaque.arg" (list "heartbeat-ttl" $v.heartbeatTTL) }}
{{- end }}
{{- if $split }}
{{- if ne .component "worker" }}
- {{ include "jaque.arg" (list "eventlog" $v.nats.url) }}
- {{ include "jaque.arg" (list "coordination" $v.nats.url) }}
{{- end }}
{{- if has .component (list "engine" "worker") }}
- {{ include "jaque.arg" (list "queue" $v.nats.url) }}
{{- end }}
{{- if eq .component "worker" }}
- {{ include "jaque.arg" (list "zones" (join "," .role.zones)) }}
{{- end }}
{{- if $v.nats.credentialsSecret }}
- -nats-creds=/run/jaque/{{ ternary "$(POD_NAME)" "nats" (eq .component "engine") }}.creds
{{- end }}
{{- if or $v.nats.ca $v.nats.caSecret }}
- -nats-tls-ca=/run/jaque/ca.crt
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
- {{ include "jaque.arg" (list "smtp-host" .host) }}
- {{ include "jaque.arg" (list "smtp-port" (toString .port)) }}
- {{ include "jaque.arg" (list "smtp-tls" .tls) }}
{{- if .from }}
- {{ include "jaque.arg" (list "smtp-from" .from) }}
{{- end }}
{{- if .user }}
- {{ include "jaque.arg" (list "smtp-user" .user) }}
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
  name: {{ printf "%s-%s" (include "jaque.fullname" .root) .name | quote }}
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
