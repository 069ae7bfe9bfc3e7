#!/bin/sh
# Makes the certificates and keys of one installation, and their Secrets:
#   [SERVER=https://host:port] certificates.sh FOLDER [NAMESPACE]
# What is in the folder already is kept, so that a second run adds what is missing. It wants openssl and nothing else.
#
#   ca            signs the services, etcd and NATS; what it has signed is trusted as the role that the certificate names
#   client-ca     signs those who use the API, and what the gateways show
#   front-proxy-ca  signs the gateways as proxies in front of servers of APIServices, which trust the users that these name in headers
#   sa.key        signs the tokens of service accounts
set -eu
folder=${1:?usage: certificates.sh FOLDER [NAMESPACE]}
namespace=${2:-orch}
# Where clients find the gateways.
server=${SERVER:-https://orch-gateway.$namespace.svc.cluster.local:6443}
days_of_authorities=3650
days=365
umask 077
mkdir -p "$folder"
cd "$folder"

# Every client reads this form; keys of the curve P-256 some of the JVM do not.
rsa_key() { [ -f "$1.key" ] || openssl genrsa -traditional -out "$1.key" 2048 2> /dev/null || openssl genrsa -out "$1.key" 2048; }
key() { [ -f "$1.key" ] || openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

authority() {
  [ -f "$1.crt" ] && return
  key "$1"
  openssl req -x509 -new -key "$1.key" -sha256 -days "$days_of_authorities" -subj "/CN=orch-$1" -out "$1.crt" \
    -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign'
}

# sign NAME AUTHORITY SUBJECT USAGE [NAMES]
sign() {
  [ -f "$1.crt" ] && return
  key "$1"
  {
    echo 'basicConstraints=critical,CA:FALSE'
    echo 'keyUsage=critical,digitalSignature'
    echo "extendedKeyUsage=$4"
    [ -z "${5:-}" ] || echo "subjectAltName=$5"
  } > "$1.ext"
  openssl req -new -key "$1.key" -subj "$3" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -set_serial "0x$(openssl rand -hex 15)" -sha256 -days "$days" \
    -extfile "$1.ext" -out "$1.crt"
  rm "$1.csr" "$1.ext"
}

# The names of a Service and of the pods behind it.
names() {
  for name in "$1" "$1.$namespace" "$1.$namespace.svc" "$1.$namespace.svc.cluster.local" "*.$1.$namespace.svc.cluster.local"; do
    printf 'DNS:%s,' "$name"
  done
  printf 'DNS:localhost,IP:127.0.0.1'
}

authority ca
authority client-ca
authority front-proxy-ca
for role in gateway storage watch admission controllers nodes; do
  sign "$role" ca "/CN=orch-$role" serverAuth,clientAuth "URI:spiffe://cluster.local/orch/service/$role,$(names "orch-$role")"
done
for backend in etcd nats; do
  sign "$backend" ca "/CN=orch-$backend" serverAuth,clientAuth "$(names "orch-$backend")"
done
sign serving client-ca /CN=orch-gateway serverAuth "$(names orch-gateway)"
sign front-proxy front-proxy-ca /CN=front-proxy-client clientAuth
rsa_key admin
sign admin client-ca /O=system:masters/CN=admin clientAuth
# The role of this user is there from the start: it acts as the service account of each controller.
sign controllers-client client-ca /CN=system:controllers clientAuth
# With SIMULATED_NODES=true: acts as each simulated node, and may do everything.
[ "${SIMULATED_NODES:-}" != true ] || sign nodes-client client-ca /O=system:masters/CN=system:simulated-nodes clientAuth
# Who reads metrics: of the services, and of the gateways.
sign monitoring ca /CN=orch-monitoring clientAuth
sign monitoring-client client-ca /O=system:monitoring/CN=orch-monitoring clientAuth
[ -f sa.key ] || openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out sa.key

base64_of() { openssl base64 -A -in "$1"; }

configuration() {
  cat <<YAML
apiVersion: v1
kind: Config
clusters:
- name: orch
  cluster: {server: "$server", certificate-authority-data: $(base64_of client-ca.crt)}
users:
- name: $1
  user: {client-certificate-data: $(base64_of "$1.crt"), client-key-data: $(base64_of "$1.key")}
contexts:
- name: orch
  context: {cluster: orch, user: $1}
current-context: orch
YAML
}

configuration controllers-client > controllers.conf
[ ! -f nodes-client.crt ] || configuration nodes-client > nodes.conf
configuration admin > admin.conf

# secret NAME KEY=FILE...
secret() {
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\ntype: Opaque\ndata:\n' "$1" "$namespace"
  shift
  for entry in "$@"; do printf '  %s: %s\n' "${entry%%=*}" "$(base64_of "${entry#*=}")"; done
}

{
  for role in gateway storage watch admission controllers nodes etcd nats; do
    secret "orch-$role-tls" "tls.crt=$role.crt" "tls.key=$role.key" ca.crt=ca.crt
  done
  secret orch-gateway-serving tls.crt=serving.crt tls.key=serving.key client-ca.crt=client-ca.crt
  secret orch-front-proxy tls.crt=front-proxy.crt tls.key=front-proxy.key ca.crt=front-proxy-ca.crt
  secret orch-monitoring-tls tls.crt=monitoring.crt tls.key=monitoring.key ca.crt=ca.crt
  secret orch-monitoring-client tls.crt=monitoring-client.crt tls.key=monitoring-client.key ca.crt=client-ca.crt
  secret orch-account-key sa.key=sa.key
  secret orch-controllers-client controllers.conf=controllers.conf
  [ ! -f nodes.conf ] || secret orch-nodes-client nodes.conf=nodes.conf
} > secrets.yaml
echo "made in $folder: secrets.yaml for the namespace $namespace, admin.conf for the administrator"
