import { join, relative } from 'node:path'
import type { Profile } from '@orch/core'

export interface StartMessageOptions {
  readonly profile: Profile
  readonly url: string
  readonly dataDir: string
  readonly isInMemory: boolean
  readonly workingFolder: string
}

/** What `orch up` prints when it is ready: where the server is, and three commands to try. */
export function printStartMessage(options: StartMessageOptions): string {
  const { profile, url, dataDir, isInMemory, workingFolder } = options
  const file = (name: string) => shellQuote(shortest(join(dataDir, name), workingFolder))
  const state = isInMemory ? 'objects in memory' : `data in ${shortest(dataDir, workingFolder)}`
  const commands = profile === 'kubernetes' ? kubectlLines(file('admin.conf')) : curlLines(file, url)
  const hint = profile === 'kubernetes' ? [] : ['For kubectl, start with: --profile kubernetes']
  return [
    `orch is ready at ${url} (profile ${profile}, ${state})`,
    `Client configuration: ${file('admin.conf')}`,
    'Try:',
    ...commands.map((command) => `  ${command}`),
    ...hint,
    '',
  ].join('\n')
}

function kubectlLines(configuration: string): string[] {
  const kubectl = `kubectl --kubeconfig ${configuration}`
  return [`${kubectl} get namespaces`, `${kubectl} api-resources`, `${kubectl} explain node.spec.taints`]
}

function curlLines(file: (name: string) => string, url: string): string[] {
  const curl = `curl --cacert ${file('ca.crt')} --cert ${file('admin.crt')} --key ${file('admin.key')}`
  const object = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"},"data":{"greeting":"hello"}}'
  return [
    `${curl} ${url}/api/v1/namespaces`,
    `${curl} ${url}/api/v1/namespaces/default/configmaps -H 'Content-Type: application/json' -d '${object}'`,
    `${curl} '${url}/api/v1/namespaces/default/configmaps?watch=1'`,
  ]
}

function shortest(path: string, workingFolder: string): string {
  const inside = relative(workingFolder, path)
  return inside.startsWith('..') ? path : inside
}

function shellQuote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
