{{- /* Names of the services, with a blank between them. */ -}}
{{- define "orch.components" -}}
gateway storage watch admission controllers{{ if .Values.simulatedNodes }} nodes{{ end }}
{{- end -}}

{{- define "orch.labels" -}}
app.kubernetes.io/name: orch
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "orch.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}{{ $image.repository }}@{{ $image.digest }}{{- else -}}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- define "orch.host" -}}
orch-{{ .component }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end -}}

{{- /* Ports for other services and for probes and metrics. */ -}}
{{- define "orch.rpcPort" -}}
{{- get (dict "gateway" "6443" "storage" "7100" "watch" "7200" "admission" "7300" "controllers" "" "nodes" "7500") . -}}
{{- end -}}
{{- define "orch.probePort" -}}
{{- get (dict "gateway" "6443" "storage" "7101" "watch" "7201" "admission" "7301" "controllers" "7401" "nodes" "7501") . -}}
{{- end -}}

{{- define "orch.probe" -}}
{{- $port := include "orch.probePort" .component -}}
{{- if eq .component "gateway" }}
httpGet: { path: "{{ .path }}{{ if eq .path "/livez" }}?exclude=etcd{{ end }}", port: https, scheme: HTTPS }
{{- else if .root.Values.monitoring.enabled }}
exec: { command: [node, /orch/probe.mjs, "https://127.0.0.1:{{ $port }}{{ .path }}", /trust] }
{{- else }}
exec: { command: [node, /orch/probe.mjs, "http://127.0.0.1:{{ $port }}{{ .path }}"] }
{{- end }}
{{- end -}}

{{- define "orch.args" -}}
{{- $root := .root -}}
{{- $at := dict "root" $root -}}
{{- $storage := include "orch.host" (dict "root" $root "component" "storage") -}}
- {{ .component }}
- --log-format=json
- --profile={{ $root.Values.profile }}
{{- if eq .component "gateway" }}
- --bind-address=0.0.0.0
- --secure-port=6443
- --advertise-address=$(POD_IP)
- --tls-cert-file=/serving/tls.crt
- --tls-private-key-file=/serving/tls.key
- --client-ca-file=/serving/{{ if eq $root.Values.certificates.from "cert-manager" }}ca.crt{{ else }}client-ca.crt{{ end }}
- --proxy-client-cert-file=/front-proxy/tls.crt
- --proxy-client-key-file=/front-proxy/tls.key
- --requestheader-client-ca-file=/front-proxy/ca.crt
- --requestheader-allowed-names=front-proxy-client
- --requestheader-username-headers=X-Remote-User
- --requestheader-uid-headers=X-Remote-Uid
- --requestheader-group-headers=X-Remote-Group
- --requestheader-extra-headers-prefix=X-Remote-Extra-
- --service-account-key-file=/account-key/sa.key
- --service-account-signing-key-file=/account-key/sa.key
- --service-account-issuer=https://{{ include "orch.host" . }}
- --watch-address=dns:///{{ include "orch.host" (dict "root" $root "component" "watch") }}:7200
- --admission-address=dns:///{{ include "orch.host" (dict "root" $root "component" "admission") }}:7300
{{- else }}
{{- if ne .component "controllers" }}
- --listen=0.0.0.0:{{ include "orch.rpcPort" .component }}
{{- end }}
- --probe-address={{ if $root.Values.monitoring.enabled }}0.0.0.0{{ else }}127.0.0.1{{ end }}:{{ include "orch.probePort" .component }}
{{- end }}
{{- if eq .component "storage" }}
- --etcd-servers={{ join "," $root.Values.etcd.servers }}
- --etcd-cafile=/trust/ca.crt
- --etcd-certfile=/trust/tls.crt
- --etcd-keyfile=/trust/tls.key
{{- else if not (has .component (list "controllers" "nodes")) }}
- --storage-address=dns:///{{ $storage }}:7100
{{- end }}
{{- if and (has .component (list "storage" "watch")) $root.Values.nats.servers }}
- --nats-servers={{ join "," $root.Values.nats.servers }}
- --nats-cafile=/trust/ca.crt
- --nats-certfile=/trust/tls.crt
- --nats-keyfile=/trust/tls.key
{{- if eq .component "storage" }}
- --nats-stream-replicas={{ $root.Values.nats.streamReplicas }}
{{- end }}
{{- end }}
{{- if has .component (list "gateway" "admission") }}
- --webhook-service-dns=true
{{- if $root.Values.simulatedNodes }}
- --nodes-address=dns:///{{ include "orch.host" (dict "root" $root "component" "nodes") }}:7500
{{- end }}
{{- end }}
{{- if has .component (list "controllers" "nodes") }}
- --kubeconfig=/client/{{ .component }}.conf
- --leader-elect=true
{{- end }}
{{- if eq .component "nodes" }}
- --simulated-nodes={{ $root.Values.simulatedNodes }}
{{- end }}
{{- if eq .component "controllers" }}
- --service-account-private-key-file=/account-key/sa.key
{{- if $root.Values.simulatedNodes }}
- --controllers=workloads,nodes,*
{{- end }}
{{- else }}
- --shutdown-delay-duration={{ if eq .component "gateway" }}10s{{ else }}5s{{ end }}
{{- end }}
- --service-certificate=/trust/tls.crt
- --service-key=/trust/tls.key
- --service-ca=/trust/ca.crt
{{- range (index $root.Values.services .component).extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
