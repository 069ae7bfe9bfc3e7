import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Copies an installed package and its dependencies into a separate folder, from which it can run. */
export function copyProgram(packageFolder: string, target: string): void {
  cpSync(join(packageFolder, 'dist'), join(target, 'dist'), { recursive: true })
  cpSync(join(packageFolder, 'package.json'), join(target, 'package.json'))
  copyDependencies(packageFolder, target)
}

/** Each package has its dependencies below itself unless the same version is further up. */
function copyDependencies(from: string, target: string, above: ReadonlyMap<string, string> = new Map()): void {
  const { dependencies = {}, optionalDependencies = {} } = readManifest(from)
  const own = new Map(above)
  const copied: [from: string, target: string][] = []
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = findPackage(name, from)
    // Copies only binaries for this platform; only compilers need types.
    if (found === undefined || name.startsWith('@types/') || own.get(name) === found) continue
    own.set(name, found)
    const folder = join(target, 'node_modules', name)
    cpSync(found, folder, { recursive: true, dereference: true, filter: (path) => !path.slice(found.length).includes('node_modules') })
    copied.push([found, folder])
  }
  for (const [source, folder] of copied) copyDependencies(source, folder, own)
}

function findPackage(name: string, from: string): string | undefined {
  const folders = createRequire(join(realpathSync(from), 'package.json')).resolve.paths(name) ?? []
  const found = folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, 'package.json')))
  return found === undefined ? undefined : realpathSync(found)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The package that this module is part of; undefined in a clone of the project. */
export function ownPackage(moduleFile: string): string | undefined {
  const folder = dirname(dirname(moduleFile))
  if (!existsSync(join(folder, 'package.json')) || !existsSync(join(folder, 'bin.cjs'))) return undefined
  return folder
}

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
