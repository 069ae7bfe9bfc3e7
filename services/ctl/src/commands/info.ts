import { existsSync, readFileSync } from 'node:fs'
import { type ApiObject, printApiVersion } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { type Command, command, type LocalCommand, localCommand } from '../command.ts'
import { printColumns } from '../output/columns.ts'
import { parseOutput } from '../output/output.ts'
import { printYaml } from '../output/yaml.ts'
import { qualifiedName } from '../resources.ts'
import { configurationFiles, type openSession } from '../session.ts'
import { CtlError } from '../words.ts'

/** `orchctl version`. */
export const version: Command = command({
  usage: 'version',
  doc: 'print the version of the server',
  flags: { output: { short: 'o', word: 'json|yaml', doc: 'json or yaml.' } },
  async run({ terminal, session, flags }) {
    const serverVersion = await session.client.request<{ readonly gitVersion: string }>({ method: 'GET', path: '/version' })
    if (flags.output === undefined) terminal.out(`Server Version: ${serverVersion.gitVersion}\n`)
    else terminal.out(flags.output === 'yaml' ? await printYaml({ serverVersion }) : `${JSON.stringify({ serverVersion }, null, 2)}\n`)
  },
})

/** `orchctl api-versions`. */
export const apiVersions: Command = command({
  usage: 'api-versions',
  doc: 'print the group versions that the server serves',
  flags: {},
  async run({ terminal, session }) {
    const groups = await session.resources.groups()
    const names = groups.flatMap(({ name, versions }) => versions.map(({ version }) => (name === '' ? version : `${name}/${version}`)))
    terminal.out(
      names
        .sort()
        .map((name) => `${name}\n`)
        .join(''),
    )
  },
})

/** `orchctl api-resources`. */
export const apiResources: Command = command({
  usage: 'api-resources',
  doc: 'print the resources that the server serves',
  flags: {
    namespaced: { word: 'true|false', whenAlone: 'true', doc: 'Only resources whose objects are in namespaces; with =false, in none.' },
    'cluster-scoped': { word: '', doc: 'Only resources whose objects are in no namespace.' },
    'api-group': { word: 'group', doc: 'Only resources of a group.' },
    verbs: { word: 'verb', isList: true, doc: 'Only resources with all of these verbs.' },
    categories: { word: 'category', isList: true, doc: 'Only resources in all of these categories.' },
    output: { short: 'o', word: 'wide|name', doc: 'wide: with verbs and categories; name: names only.' },
    'no-headers': { word: '', doc: 'Print no headers.' },
  },
  async run({ terminal, session, flags }) {
    const all = (await session.resources.all()).filter(
      (resource) =>
        resource.isPreferred &&
        (flags.namespaced === undefined || String(resource.namespaced) === flags.namespaced) &&
        (!flags['cluster-scoped'] || !resource.namespaced) &&
        (flags['api-group'] === undefined || resource.group === flags['api-group']) &&
        flags.verbs.every((verb) => resource.verbs.includes(verb)) &&
        flags.categories.every((category) => resource.categories.includes(category)),
    )
    const ordered = all.toSorted((one, other) => (`${one.group} ${one.plural}` < `${other.group} ${other.plural}` ? -1 : 1))
    if (flags.output === 'name') {
      terminal.out(ordered.map((resource) => `${qualifiedName(resource)}\n`).join(''))
      return session.resources.requireComplete()
    }
    const isWide = flags.output === 'wide'
    const header = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(isWide ? ['VERBS', 'CATEGORIES'] : [])]
    const rows = ordered.map(({ plural, shortNames, group, version, namespaced, kind, verbs, categories }) => [
      plural,
      shortNames.join(','),
      printApiVersion(group, version),
      String(namespaced),
      kind,
      ...(isWide ? [verbs.join(','), categories.join(',')] : []),
    ])
    terminal.out(printColumns(flags['no-headers'] ? rows : [header, ...rows]))
    return session.resources.requireComplete()
  },
})

type AccessReview = BuiltIn<'authorization/v1.SelfSubjectAccessReview'>

type UserReview = BuiltIn<'authentication/v1.SelfSubjectReview'>

/** `orchctl auth`. */
export const auth: Command = command({
  usage: 'auth can-i verb resource [name] | auth whoami',
  doc: 'ask whether an action is allowed, and as whom the server sees the client',
  flags: {
    subresource: { word: 'name', doc: 'Subresource of the action.' },
    quiet: { short: 'q', word: '', doc: 'Print nothing; the exit code is the answer.' },
    output: { short: 'o', word: 'json|yaml', doc: 'json or yaml, for whoami.' },
  },
  async run({ terminal, session, flags, rest }) {
    const [action, verb = '', what = '', name = ''] = rest
    const { apiDomain } = await session.names()
    const post = async <T extends ApiObject>(group: string, plural: string, body: ApiObject): Promise<T> =>
      session.client.request<T>({ method: 'POST', path: `/apis/${group}.${apiDomain}/v1/${plural}`, body })
    if (action === 'whoami') {
      const review = { apiVersion: `authentication.${apiDomain}/v1`, kind: 'SelfSubjectReview', metadata: {} }
      const answer = await post<UserReview>('authentication', 'selfsubjectreviews', review)
      const printer = parseOutput(flags.output, () => '')
      if (printer !== undefined) terminal.out(await printer([answer], false))
      else {
        const { username = '', uid, groups = [], extra = {} } = answer.status.userInfo
        const rows = [
          ['ATTRIBUTE', 'VALUE'],
          ['Username', username],
          ...(uid === undefined || uid === '' ? [] : [['UID', uid]]),
          ['Groups', `[${groups.join(' ')}]`],
        ]
        terminal.out(printColumns([...rows, ...Object.entries(extra).map(([key, values]) => [`Extra: ${key}`, `[${values.join(' ')}]`])]))
      }
      return undefined
    }
    if (action !== 'can-i' || verb === '' || what === '') throw new CtlError('must be auth can-i verb resource [name], or auth whoami')
    const spec = what.startsWith('/')
      ? { nonResourceAttributes: { verb, path: what } }
      : { resourceAttributes: { verb, ...(await attributesOf(session, what)), name, subresource: flags.subresource } }
    const answer = await post<AccessReview>('authorization', 'selfsubjectaccessreviews', {
      apiVersion: `authorization.${apiDomain}/v1`,
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec,
    })
    const { allowed, reason = '' } = answer.status
    if (!flags.quiet) terminal.out(allowed ? 'yes\n' : `no${reason === '' ? '' : ` - ${reason}`}\n`)
    return allowed ? 0 : 1
  },
})

type Session = Awaited<ReturnType<typeof openSession>>

/** The resource may be unserved. */
async function attributesOf(session: Session, what: string) {
  try {
    const { group, plural, namespaced } = await session.resources.find(what)
    return { group, resource: plural, ...(namespaced ? { namespace: session.namespace } : {}) }
  } catch (error) {
    if (!(error instanceof CtlError)) throw error
    const [resource = '', ...group] = what.split('.')
    return { group: group.join('.'), resource, namespace: session.namespace }
  }
}

/** `orchctl config`. */
export const config: LocalCommand = localCommand({
  usage: 'config view | current-context | get-contexts',
  doc: 'print the client configuration',
  flags: {},
  async runLocally({ terminal, flags, rest }) {
    const files = configurationFiles(terminal, flags.kubeconfig)
    const file = files.find((name) => existsSync(name))
    if (file === undefined) throw new CtlError(`no client configuration found: none of ${files.join(', ')} exists`)
    const { readYaml } = await import('@orch/core/yaml')
    const document = readYaml(readFileSync(file, 'utf8')) as {
      readonly 'current-context'?: string
      readonly contexts?: readonly {
        readonly name: string
        readonly context?: { readonly cluster?: string; readonly user?: string; readonly namespace?: string }
      }[]
    }
    const current = document['current-context'] ?? ''
    switch (rest[0]) {
      case 'view':
        terminal.out(await printYaml(redacted(document)))
        return undefined
      case 'current-context':
        if (current === '') throw new CtlError('current-context is not set')
        terminal.out(`${current}\n`)
        return undefined
      case 'get-contexts': {
        const rows = (document.contexts ?? []).map(({ name, context = {} }) => [
          name === current ? '*' : '',
          name,
          context.cluster ?? '',
          context.user ?? '',
          context.namespace ?? '',
        ])
        terminal.out(printColumns([['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'], ...rows]))
        return undefined
      }
    }
    throw new CtlError('must be config view, current-context or get-contexts')
  },
})

const secrets = /^(token|password|client-secret|id-token|refresh-token|client-key-data|client-certificate-data|certificate-authority-data)$/

/** Omits credentials. */
function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      secrets.test(key) ? (key.endsWith('-data') ? 'DATA+OMITTED' : 'REDACTED') : redacted(item),
    ]),
  )
}
