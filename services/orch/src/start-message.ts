import { join, relative } from 'node:path'
import type { ClientConfiguration } from '@orch/client'
import type { Profile } from '@orch/core/names'
import { authorityFile } from './certificates/clients.ts'
import { shellQuote } from './process/terminal.ts'
import { controlFile } from './settings/general.ts'

export interface StartMessageOptions {
  readonly profile: Profile
  /** The administrator's client configuration. */
  readonly configuration: Pick<ClientConfiguration, 'server' | 'serverName'>
  readonly dataDir: string
  readonly isInMemory: boolean
  /** Programs control the server by the file of its data folder. */
  readonly hasControl: boolean
  /** The caller has provided the served certificate. */
  readonly hasGivenCertificate: boolean
  readonly workingFolder: string
}

/** The output of `orch up` when it is ready: the server's address and three commands to try, in lines of at most 100 characters. */
export function printStartMessage(options: StartMessageOptions): string {
  const { profile, configuration, dataDir, isInMemory, hasControl, workingFolder } = options
  const state = isInMemory ? 'objects in memory' : `data in ${shortest(dataDir, workingFolder)}`
  const hint = profile === 'kubernetes' ? [] : ['For kubectl, start with: --profile kubernetes']
  return [
    `orch is ready at ${configuration.server} (profile ${profile}, ${state})`,
    `Client configuration: ${shellQuote(shortest(join(dataDir, 'admin.conf'), workingFolder))}`,
    'Try:',
    ...(profile === 'kubernetes' ? kubectlLines(options) : curlLines(options)).map((command) => `  ${command}`),
    ...(hasControl ? ['For tests in other languages:', `  export ORCH_CONTROL=${shellQuote(join(dataDir, controlFile))}`] : []),
    ...hint,
    '',
  ].join('\n')
}

/** The start message for machines. */
export function toStartFields({ profile, configuration, dataDir }: StartMessageOptions) {
  return { url: configuration.server, profile, dataDir, kubeconfig: join(dataDir, 'admin.conf') }
}

/** The path is absolute, so the variable stays valid when the shell changes its folder. */
function kubectlLines({ dataDir }: StartMessageOptions): string[] {
  return [`export KUBECONFIG=${shellQuote(join(dataDir, 'admin.conf'))}`, 'kubectl get namespaces', 'kubectl explain node.spec.taints']
}

function curlLines({ configuration, dataDir, hasGivenCertificate, workingFolder }: StartMessageOptions): string[] {
  const { url, connection } = byName(configuration)
  const folder = shellQuote(shortest(dataDir, workingFolder))
  const authority = authorityFile(hasGivenCertificate)
  const credentials = `curl --cacert "$d/${authority}" --cert "$d/admin.crt" --key "$d/admin.key"`
  return [
    `d=${folder}`,
    ...(connection === ''
      ? [`api() { ${credentials} "$@"; }`]
      : [`api() { curl ${connection}\\`, `  ${credentials.slice('curl '.length)} "$@"; }`]),
    `api ${url}/api/v1/namespaces`,
    `api ${url}/api/v1/namespaces/default/configmaps \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"},"data":{"say":"hello"}}'`,
    `api -N '${url}/api/v1/namespaces/default/configmaps?watch=1'`,
  ]
}

/** curl verifies a certificate only against the URL's host, and takes the address of the connection from another flag. */
function byName({ server, serverName }: StartMessageOptions['configuration']): { readonly url: string; readonly connection: string } {
  if (serverName === undefined) return { url: server, connection: '' }
  const { host, hostname, port } = new URL(server)
  const name = serverName.includes(':') ? `[${serverName}]` : serverName
  return { url: server.replace(host, `${name}:${port}`), connection: `--connect-to ${name}:${port}:${hostname}:${port} ` }
}

function shortest(path: string, workingFolder: string): string {
  const inside = relative(workingFolder, path)
  return inside.startsWith('..') ? path : inside
}
