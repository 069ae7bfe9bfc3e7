import { readText, resourcePath, type TransportRequest } from '@orch/client'
import type { ExplainedStep } from '@orch/core/contracts'
import { type Command, command } from '../command.ts'
import { printColumns } from '../output/columns.ts'
import { fileFlags, namesFiles, pathOf, readObjects, readTargets, targetOf } from '../targets.ts'
import { CtlError } from '../words.ts'

type Step = ExplainedStep & { readonly patch?: readonly Parameters<typeof printOperation>[0][] }

/** The server's explanation of a request, described in docs/how-to/explain.md. */
interface Explanation {
  readonly authentication?: { readonly method?: string; readonly user?: string; readonly impersonatedBy?: string }
  readonly authorization?: { readonly decision?: string; readonly reason?: string }
  readonly admission?: readonly Step[]
  readonly refusal?: { readonly code?: number; readonly reason?: string; readonly message?: string }
  readonly storedRevision?: string
  readonly shortened?: boolean
}

interface Asked {
  readonly title: string
  readonly request: TransportRequest
}

/** `orchctl explain-request`. */
export const explainRequest: Command = command({
  usage: 'explain-request create|apply -f file | explain-request get|delete resource name',
  doc: 'send requests, and print who was authenticated how, what allowed them and what admission did; writes are dry runs',
  flags: {
    ...fileFlags,
    'dry-run': { word: 'server|none', doc: 'none: store what is written. (default server)' },
    'field-manager': { word: 'name', doc: 'Owner of the fields that are applied. (default orchctl)' },
  },
  async run({ terminal, session, flags, rest }) {
    const [verb = '', ...words] = rest
    const isDryRun = (flags['dry-run'] ?? 'server') === 'server'
    const asked = verb === 'create' || verb === 'apply' ? await writes(verb) : await named()
    const { explainHeader } = await session.names()
    let code: number | undefined
    const texts: string[] = []
    for (const { title, request } of asked) {
      const { headers } = request
      const response = await session.client.transport.send({ ...request, headers: { ...headers, [explainHeader]: '1' } })
      await readText(response)
      const text = response.headers[explainHeader]
      if (text === undefined) throw new CtlError(missing(response.headers['warning'], explainHeader))
      if (response.status >= 400) code = 1
      const explanation: Explanation = JSON.parse(text)
      texts.push(print(`${title}: ${response.status}`, explanation))
    }
    terminal.out(texts.join('\n'))
    return code

    async function writes(writing: 'create' | 'apply'): Promise<Asked[]> {
      if (!namesFiles(flags)) throw new CtlError('must specify files with -f, or a kustomization with -k')
      const requests: Asked[] = []
      for (const object of await readObjects(terminal, flags)) {
        const { resource, namespace, name } = await targetOf(session, object, flags.namespace)
        if (writing === 'apply' && name === undefined)
          throw new CtlError(`an object of kind ${object.kind} without a name cannot be applied`)
        const query = new URLSearchParams({
          fieldManager: flags['field-manager'] ?? 'orchctl',
          ...(isDryRun ? { dryRun: 'All' } : {}),
        })
        const path = resourcePath(resource, namespace, writing === 'apply' ? name : undefined)
        requests.push({
          title: `${writing} ${object.kind} ${name ?? object.metadata.generateName ?? ''}`,
          request: {
            method: writing === 'apply' ? 'PATCH' : 'POST',
            path: `${path}?${query}`,
            headers: {
              accept: 'application/json',
              'content-type': writing === 'apply' ? 'application/apply-patch+yaml' : 'application/json',
            },
            body: JSON.stringify(object),
            signal: terminal.signal,
          },
        })
      }
      return requests
    }

    async function named(): Promise<Asked[]> {
      if (verb !== 'get' && verb !== 'delete') throw new CtlError(`explain-request ${verb}: must be create, apply, get or delete`)
      const targets = await readTargets(session, words, { 'all-namespaces': false })
      return targets.map((target) => ({
        title: `${verb} ${target.resource.kind} ${target.name ?? '(all)'}`,
        request: read(verb, pathOf(target)),
      }))
    }

    function read(reading: 'get' | 'delete', path: string): TransportRequest {
      if (reading === 'get') return { method: 'GET', path, headers: { accept: 'application/json' }, signal: terminal.signal }
      const query = isDryRun ? '?dryRun=All' : ''
      return { method: 'DELETE', path: `${path}${query}`, headers: { accept: 'application/json' }, signal: terminal.signal }
    }
  },
})

function missing(warning: string | undefined, header: string): string {
  return warning === undefined
    ? `the server does not answer the header ${header}: it is older, or no orch`
    : `the server does not explain the request: ${warning.replace(/^299 - /, '')}`
}

function print(
  title: string,
  { authentication = {}, authorization = {}, admission = [], refusal, storedRevision, shortened }: Explanation,
): string {
  const { method = 'unknown', user = '', impersonatedBy } = authentication
  const { decision = 'unknown', reason = '' } = authorization
  const rows = [
    ['User', `${user}${impersonatedBy === undefined ? '' : `, impersonated by ${impersonatedBy}`} (${method})`],
    ['Authorization', `${decision}${reason === '' ? '' : `: ${reason}`}`],
    ...(refusal === undefined ? [] : [['Refused', `${refusal.code ?? ''} ${refusal.reason ?? ''}: ${refusal.message ?? ''}`]]),
    ...(storedRevision === undefined ? [] : [['Stored at', storedRevision]]),
    ...(shortened === true ? [['Shortened', 'steps that did nothing and patches may be left out']] : []),
  ]
  return `${title}\n${indent(printColumns(rows))}${admission.length === 0 ? '' : indent(printSteps(admission))}`
}

function printSteps(steps: readonly Step[]): string {
  const rows = steps.map(({ phase, plugin, webhook, round, durationMs, patch = [], reason, rejected }) => [
    `${phase}${round === undefined ? '' : ` (round ${round + 1})`}`,
    webhook === undefined ? plugin : `${plugin} ${webhook}`,
    durationMs.toFixed(2),
    [...(rejected === true ? [`rejected${reason === undefined ? '' : `: ${reason}`}`] : []), ...patch.map(printOperation)].join('; ') ||
      '-',
  ])
  return printColumns([['PHASE', 'PLUGIN', 'MS', 'RESULT'], ...rows])
}

function printOperation({ op, path, value }: { readonly op: string; readonly path: string; readonly value?: unknown }): string {
  return `${op} ${path}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
