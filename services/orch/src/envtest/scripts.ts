/**
 * The shell script of a program of the assets. It answers `--help` without Node.js; everything else runs the program beside the script, in the same
 * process. kube-apiserver is of the release of its version.
 */
export function programScript(name: 'kube-apiserver' | 'etcd', node: string, version: string): string {
  const release = version.split('.').slice(0, 2).join('.')
  const entry = { 'kube-apiserver': 'api-server.js', etcd: 'etcd.js' }[name]
  return `#!/bin/sh
here=\${0%/*}
for word in "$@"; do
  case $word in
    --help|-help|-h) exec cat "$here/.orch/${name}.help" ;;
  esac
done
${findNode(name, node)}
export ORCH_EMULATED_VERSION=${release}
exec "$node" --max-semi-space-size=16 --min-semi-space-size=8 "$here/.orch/dist/${entry}" "$@"
`
}

/** The Node.js that wrote the assets, else the Node.js on PATH. */
function findNode(name: string, node: string): string {
  return `node=${quote(node)}
if [ ! -x "$node" ]; then
  node=$(command -v node) || {
    echo "${name}: the Node that wrote these assets is gone (${node}) and there is none on the PATH; run orch envtest-assets use once more" >&2
    exit 1
  }
fi`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The first kubectl on PATH; without kubectl, orchctl, which has the most used commands. */
export function kubectlScript(node: string): string {
  return `#!/bin/sh
here=$(cd "\${0%/*}" && pwd)
IFS=:
for folder in $PATH; do
  if [ "$folder" != "$here" ] && [ -x "$folder/kubectl" ]; then
    unset IFS
    exec "$folder/kubectl" "$@"
  fi
done
unset IFS
${findNode('kubectl', node)}
exec "$node" "$here/.orch/dist/main.js" ctl "$@"
`
}
