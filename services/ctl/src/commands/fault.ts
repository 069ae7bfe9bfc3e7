import { type ApiObject, StatusError } from '@orch/core/meta'
import { faultsGroup } from '@orch/core/names'
import { type Command, type CommandContext, command } from '../command.ts'
import { printColumns } from '../output/columns.ts'
import { CtlError } from '../words.ts'

const version = 'v1'

interface FaultRuleObject extends ApiObject {
  readonly spec: { readonly match?: object; readonly effect?: Readonly<Record<string, object>> }
  readonly status?: { readonly hits?: number; readonly problem?: string }
}

const flags = {
  user: { word: 'text', doc: 'Name of the user; * matches any characters, here and below.' },
  agent: { word: 'text', doc: 'The header User-Agent.' },
  verb: { word: 'verb', isList: true, doc: 'Verbs, such as create,update; may be repeated.' },
  resource: { word: 'plural', doc: 'Resource, with its group where that matters: deployments.apps.' },
  subresource: { word: 'name', doc: 'Subresource.' },
  'in-namespace': { word: 'text', doc: 'Namespace of the request.' },
  name: { word: 'text', doc: 'Name in the path of the request.' },
  path: { word: 'text', doc: 'Path of a request that is about no resource.' },
  outgoing: { word: 'text', doc: 'Calls of the server instead of requests: webhook/deny.example.com.' },
  after: { word: 'int', doc: 'Matching requests that pass first.' },
  times: { word: 'int', doc: 'Requests that are hit at most.' },
  every: { word: 'int', doc: 'Of so many matching requests one is hit.' },
  probability: { word: 'number', doc: 'From 0 to 1.' },
  seed: { word: 'text', doc: 'Decides what the probability draws.' },
} as const

type Context = CommandContext<typeof flags>

const effects = 'delay=2s, refuse=503, cut, cut=after, lose-reply, hang, truncate=20, refuse-connection and black-hole'

/** `orchctl fault`. */
export const fault: Command = command({
  usage: `fault add name effect | fault list | fault remove name… | fault clear\nEffects: ${effects}.`,
  doc: 'add, list and remove faults of a server with --fault-injection: fault add lost lose-reply --user operator --verb create',
  flags,
  async run(context) {
    try {
      return await runAction(context)
    } catch (error) {
      // The answer for a path that is not served names no kind.
      if (!(error instanceof StatusError) || error.code !== 404 || error.status.details?.kind !== undefined) throw error
      throw new CtlError('the server has no FaultRules: it has to be started with --fault-injection')
    }
  },
})

async function runAction(context: Context): Promise<undefined> {
  const [action, ...words] = context.rest
  switch (action) {
    case 'add':
      return add(context, words)
    case 'list':
      requireNone(words, 'fault list')
      return list(context)
    case 'remove':
      if (words.length === 0) throw new CtlError('a fault must be named: fault remove name')
      for (const name of words) await remove(context, name)
      return undefined
    case 'clear': {
      requireNone(words, 'fault clear')
      const { items } = await resourceOf(context).list()
      for (const { metadata } of items) await remove(context, metadata.name ?? '')
      return undefined
    }
  }
  throw new CtlError('must be fault add name effect, fault list, fault remove name, or fault clear')
}

function requireNone(words: readonly string[], usage: string): void {
  if (words.length > 0) throw new CtlError(`${words.join(' ')}: ${usage} takes no names`)
}

function resourceOf({ session }: Context) {
  return session.client.resource<FaultRuleObject>({ group: faultsGroup, version, plural: 'faultrules', namespaced: false })
}

/** Maximum wait for a gateway. */
const waitSeconds = 10

async function add(context: Context, words: readonly string[]): Promise<undefined> {
  const [name, effect, ...others] = words
  if (name === undefined || effect === undefined || others.length > 0)
    throw new CtlError(`expected fault add name effect; effects are ${effects}`)
  const { terminal, flags: given } = context
  const { user, agent, verb, resource, subresource, name: named, path, outgoing, seed } = given
  const match = { user, agent, resource, subresource, namespace: given['in-namespace'], name: named, path, outgoing }
  const counts = { after: wholeOf(given.after), times: wholeOf(given.times), every: wholeOf(given.every) }
  const probability = given.probability === undefined ? undefined : Number(given.probability)
  if (Number.isNaN(probability)) throw new CtlError(`--probability=${given.probability}: must be a number from 0 to 1`)
  const spec = { match: { ...match, verb: verb.length === 0 ? undefined : verb }, ...counts, probability, seed, effect: readEffect(effect) }
  const rules = resourceOf(context)
  const made = await rules.create({ apiVersion: `${faultsGroup}/${version}`, kind: 'FaultRule', metadata: { name }, spec })
  const fieldSelector = `metadata.name=${name}`
  // A gateway has applied it when it has a status.
  const events = await rules.watch({ fieldSelector, resourceVersion: made.metadata.resourceVersion ?? '', timeoutSeconds: waitSeconds })
  for await (const { object } of events) {
    const { hits, problem } = object.status ?? {}
    if (problem !== undefined) throw new CtlError(`fault ${name} is not in force: ${problem}`)
    if (hits === undefined) continue
    terminal.out(`fault ${name} added\n`)
    return undefined
  }
  throw new CtlError(`fault ${name} was added, and no gateway has put it in force within ${waitSeconds} s`)
}

const wholeOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

/** `refuse=503` is `{"refuse":{"code":503}}`. */
function readEffect(word: string): Readonly<Record<string, object>> {
  const [kind, value] = word.split('=', 2)
  const needed = (what: string): string => {
    if (value === undefined || value === '') throw new CtlError(`${word}: expected ${kind}=${what}`)
    return value
  }
  const whole = (what: string): number => {
    const number = Number(needed(what))
    if (!Number.isInteger(number)) throw new CtlError(`${word}: expected ${kind}=${what}`)
    return number
  }
  if (kind === 'delay') return { delay: { time: needed('2s') } }
  if (kind === 'refuse') return { refuse: { code: whole('503') } }
  if (kind === 'truncate') return { truncate: { bytes: whole('20') } }
  if (kind === 'cut' && (value === undefined || value === 'before' || value === 'after'))
    return { cut: value === undefined ? {} : { when: value } }
  const plain = { 'lose-reply': 'loseReply', hang: 'hang', 'refuse-connection': 'refuseConnection', 'black-hole': 'blackHole' }
  const found = Object.entries(plain).find(([name]) => name === word)
  if (found === undefined) throw new CtlError(`${word} is no effect: expected one of ${effects}`)
  return { [found[1]]: {} }
}

async function list(context: Context): Promise<undefined> {
  const { items } = await resourceOf(context).list()
  const { terminal } = context
  if (items.length === 0) {
    terminal.out('There are no faults.\n')
    return undefined
  }
  const rows = items.map(({ metadata, spec, status }) => [
    metadata.name ?? '',
    String(status?.hits ?? '<none>'),
    Object.entries(spec.effect ?? {})
      .map(([kind, detail]) => [kind, ...Object.entries(detail).map(([name, value]) => `${name}=${String(value)}`)].join(' '))
      .join(', '),
    Object.entries(spec.match ?? {})
      .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
      .join(' '),
    status?.problem ?? '',
  ])
  terminal.out(printColumns([['NAME', 'HITS', 'EFFECT', 'MATCH', 'PROBLEM'], ...rows]))
}

async function remove(context: Context, name: string): Promise<void> {
  await resourceOf(context).delete(name)
  context.terminal.out(`fault ${name} removed\n`)
}
