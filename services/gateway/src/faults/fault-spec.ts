import { isJsonObject } from '@orch/core/json'
import { badRequest, type StatusCause } from '@orch/core/meta'
import { wildcard } from '@orch/core/selectors'
import { messageOf, SettingsError } from '@orch/platform'
import type { TextMatch } from '../request/request-match.ts'
import { blackHole, cut, delay, type Effect, hang, loseReply, refuse, refuseConnection, truncate } from './effects.ts'
import type { Fault, FaultMatch } from './fault.ts'
import { Members } from './members.ts'
import type { WatchMatch } from './watch-faults.ts'

const watchMembers = ['user', 'resource', 'subresource', 'namespace', 'name']
const matchMembers = [...watchMembers, 'agent', 'verb', 'path', 'header', 'dryRun', 'body', 'outgoing']
const faultMembers = ['name', 'after', 'times', 'every', 'perSecond', 'probability', 'seed', 'effect']

/** Effects by name, each with the parser of its members. */
const effects: Readonly<Record<string, (value: unknown, at: string) => Effect>> = {
  delay: (value, at) => {
    const members = new Members(value, at, ['time'])
    return delay(members.requiredText('time'))
  },
  refuse: (value, at) => {
    const members = new Members(value, at, ['code', 'retryAfter', 'reason', 'message', 'causes', 'always'])
    const code = members.whole('code')
    if (code === undefined) throw badRequest(`${at}.code: is required and must be a number from 400 to 599`)
    return refuse(code, {
      retryAfter: members.whole('retryAfter'),
      reason: members.text('reason'),
      message: members.text('message'),
      always: members.flag('always'),
      causes: (members.list('causes') ?? []).map((cause, index) => readCause(cause, `${at}.causes[${index}]`)),
    })
  },
  cut: (value, at) => {
    const members = new Members(value, at, ['when', 'scope'])
    return cut({ when: members.choice('when', ['before', 'after']), scope: scopeIn(members) })
  },
  loseReply: (value, at) => loseReply({ scope: scopeIn(new Members(value, at, ['scope'])) }),
  hang: (value, at) => withoutMembers(value, at, hang()),
  truncate: (value, at) => {
    const bytes = new Members(value, at, ['bytes']).whole('bytes')
    if (bytes === undefined) throw badRequest(`${at}.bytes: is required and must be a number of bytes`)
    return truncate(bytes)
  },
  refuseConnection: (value, at) => withoutMembers(value, at, refuseConnection()),
  blackHole: (value, at) => withoutMembers(value, at, blackHole()),
}

function readCause(value: unknown, at: string): StatusCause {
  const members = new Members(value, at, ['reason', 'message', 'field'])
  const [reason, message = '', field = ''] = [members.text('reason'), members.text('message'), members.text('field')]
  return { ...(reason === undefined ? {} : { reason }), message, field }
}

function scopeIn(members: Members) {
  return members.choice('scope', ['stream', 'connection'])
}

function withoutMembers(value: unknown, at: string, effect: Effect): Effect {
  new Members(value, at, [])
  return effect
}

/**
 * A fault in JSON, from a request or a FaultRule. Texts of a match may have `*` for any characters. An invalid one is a 400 that names the member.
 * FaultRules name the match `match`, since kubectl reads the key `on` in YAML as `true`.
 *
 *   { on: { user: 'operator', verb: ['update'], resource: 'widgets' }, times: 2, effect: { refuse: { code: 409 } } }
 */
export function readFault(value: unknown, at = '', on: 'match' | 'on' = 'on'): Fault {
  const members = new Members(value, at, [...faultMembers, on])
  const effect = readEffect(members.object('effect'), members.pathOf('effect'))
  const seed = members.get('seed')
  if (seed !== undefined && typeof seed !== 'string' && typeof seed !== 'number')
    throw badRequest(`${members.pathOf('seed')}: must be a text or a number`)
  return {
    name: members.text('name'),
    on: readFaultMatch(members.object(on), members.pathOf(on)),
    after: members.whole('after'),
    times: members.whole('times'),
    every: members.whole('every'),
    perSecond: members.whole('perSecond'),
    probability: members.number('probability'),
    seed: seed,
    effect,
  }
}

function readEffect(value: Readonly<Record<string, unknown>> | undefined, at: string): Effect {
  const names = Object.keys(effects).join(', ')
  const [[name, detail] = [], ...others] = Object.entries(value ?? {})
  const read = name === undefined || !Object.hasOwn(effects, name) ? undefined : effects[name]
  if (others.length > 0 || read === undefined) {
    const found = value === undefined ? 'nothing' : Object.keys(value).join(', ') || 'no member'
    throw badRequest(`${at}: must have exactly one member of ${names}, not ${found}`)
  }
  return asBadRequest(`${at}.${name}`, () => read(detail, `${at}.${name}`))
}

/** Values that a builder refuses are an error of the caller. */
export function asBadRequest<T>(at: string, build: () => T): T {
  try {
    return build()
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError || error instanceof SettingsError)) throw error
    throw badRequest(`${at}: ${messageOf(error)}`)
  }
}

function readFaultMatch(value: unknown, at: string): FaultMatch {
  const members = new Members(value, at, matchMembers)
  const header = members.object('header')
  const headers = new Members(header, `${at}.header`, Object.keys(header ?? {}))
  const body = members.object('body')
  return {
    ...readWatchMembers(members),
    agent: matchOf(members.text('agent')),
    path: matchOf(members.text('path')),
    verb: members.texts('verb'),
    header: header && Object.fromEntries(Object.keys(header).map((name) => [name, matchOf(headers.requiredText(name)) ?? ''])),
    dryRun: members.flag('dryRun'),
    body: body && ((sent) => hasPart(sent, body)),
    outgoing: matchOf(members.text('outgoing')),
  }
}

/** The watches that a control request selects. */
export function readWatchMatch(value: unknown, at = ''): WatchMatch {
  return readWatchMembers(new Members(value, at, watchMembers))
}

function readWatchMembers(members: Members): WatchMatch {
  return {
    user: matchOf(members.text('user')),
    resource: members.text('resource'),
    subresource: members.text('subresource'),
    namespace: matchOf(members.text('namespace')),
    name: matchOf(members.text('name')),
  }
}

/** A text with `*` for any characters. */
export function matchOf(text: string | undefined): TextMatch | undefined {
  return text?.includes('*') ? { source: text, test: wildcard(text) } : text
}

/** True if a value contains all members of another, at any depth, which may be deeper than the call stack. */
function hasPart(value: unknown, part: unknown): boolean {
  const left = [{ found: value, wanted: part }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { found, wanted } = next
    if (Array.isArray(wanted)) {
      if (!Array.isArray(found) || found.length !== wanted.length) return false
      for (const [at, item] of wanted.entries()) left.push({ found: found[at], wanted: item })
    } else if (isJsonObject(wanted)) {
      if (!isJsonObject(found)) return false
      for (const [name, item] of Object.entries(wanted)) left.push({ found: found[name], wanted: item })
    } else if (found !== wanted) return false
  }
  return true
}

/** A fault in JSON: expressions as `/text/`, and a function of the body as the text `function`. */
export function printFault({ until: _, name: _name, ...fault }: Fault): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify({ ...fault, effect: printEffect(fault.effect) }, (key, value: unknown) => {
      if (typeof value === 'function') return key === 'body' ? 'function' : undefined
      if (value instanceof RegExp) return String(value)
      return isJsonObject(value) && typeof value['test'] === 'function' ? value['source'] : value
    }),
  )
}

function printEffect({ kind, ...rest }: Effect): object {
  return { [kind]: 'ms' in rest ? { time: `${rest.ms}ms` } : rest }
}
