import { isJsonObject } from '@orch/core/json'
import { badRequest, timeout } from '@orch/core/meta'
import {
  asBadRequest,
  type FaultRule,
  type Faults,
  type ListedWatch,
  Members,
  printFault,
  type RequestLog,
  readFault,
  readWatchMatch,
  type WatchMatch,
} from '@orch/gateway'
import { sleep, systemClock, toMs } from '@orch/platform'
import type { ServerUser } from '../user.ts'
import { awaitOrBadRequest, Named, object, type Route, type RoutedCall, readCount, route, unknownName } from './route.ts'

/** The largest number of concurrent holds, freezes and scenarios. */
const lastingMax = 1_000

/** Weather that lasts until a caller ends it. */
interface Lasting {
  readonly kind: string
  /** The members of the call that began it. */
  readonly given: unknown
  end(): void
}

/** Weather that a test has begun through the control. */
export class LastingWeather {
  readonly #lasting = new Named<Lasting>('weather', lastingMax)

  begin(kind: string, given: unknown, begin: () => () => void): string {
    const name = this.#lasting.nextName()
    this.#lasting.set(name, { kind, given: given ?? {}, end: begin() })
    return name
  }

  /** Throws if there is too much weather to begin more. */
  requireRoom(): void {
    this.#lasting.nextName()
  }

  end(name: string): void {
    this.#lasting.take(name).end()
  }

  list(): object[] {
    return this.#lasting.entries().map(([name, { kind, given }]) => ({ name, kind, given }))
  }

  clear(): void {
    for (const [, { end }] of this.#lasting.entries()) end()
    this.#lasting.clear()
  }
}

/** The dependencies of weather. */
export interface WeatherRoutesParts {
  readonly log: RequestLog
  /** The store's present revision. */
  readonly revision: () => number
  readonly faults: Faults
  readonly lasting: LastingWeather
  user(name: string): ServerUser
}

/** `/watches`, `/reads`, `/scenarios` and `/weather`: weather other than single faults. */
export function weatherRoutes({ log, revision, faults, lasting, user }: WeatherRoutesParts): readonly Route[] {
  const { watches } = faults
  const requestOf = log.matcher({})
  const withRequest = ({ request, ...watch }: ListedWatch) => {
    const { id, agent, time } = requestOf(request) ?? {}
    return { ...watch, ...(id === undefined ? {} : { request: id, agent, time }) }
  }
  const atOnce = (word: string, doc: string, hit: (match: WatchMatch) => number): Route =>
    route(`POST /watches/${word}`, doc, ({ body }) => object({ watches: hit(readWatchMatch(body)) }))
  const until = (word: string, doc: string, begin: (body: unknown) => () => void): Route =>
    route(`POST /watches/${word}`, doc, ({ body }) => object({ name: lasting.begin(`watches/${word}`, body, () => begin(body)) }, 201))
  return [
    route('GET /watches', 'the open watches of clients, and the revision of the store, which those that lag have not been sent', () =>
      object({ revision: revision(), items: watches.open().slice(0, watchesMax).map(withRequest) }),
    ),
    atOnce('cut', 'breaks open watches off', (match) => watches.cut(match)),
    atOnce('expire', 'ends open watches with 410 Expired', (match) => watches.expire(match)),
    atOnce('end', 'ends open watches in order', (match) => watches.endNow(match)),
    until('hold', 'open and new watches get no event until the end', (body) => watches.hold(readWatchMatch(body)).release),
    until('withhold-bookmarks', 'watches get no bookmark until the end', (body) => watches.withholdBookmarks(readWatchMatch(body)).release),
    until('delay', 'events come so much later: {"time":"5s"}', (body) => {
      const { time, match } = splitTime(body)
      return asBadRequest('time', () => watches.delay(time, match).release)
    }),
    route('POST /reads/freeze', 'reads of a user see one revision of the past until the end', async (call) => freeze(call, lasting, user)),
    route('POST /scenarios/:scenario', `begins a scenario of a user: ${scenarioNames.join(', ')}`, async (call) =>
      beginScenario(call, lasting, user),
    ),
    route('GET /weather', 'holds, freezes and scenarios that last', () => object({ items: lasting.list() })),
    route('DELETE /weather/:name', 'ends a hold, a freeze or a scenario', ({ param }) => {
      lasting.end(param('name'))
      return object({})
    }),
  ]
}

const watchesMax = 10_000

function splitTime(body: unknown): { readonly time: string | number; readonly match: WatchMatch } {
  const { time, ...match } = isJsonObject(body) ? body : { time: undefined }
  const found = readDuration(new Members({ time }, '', ['time']), 'time')
  if (found === undefined) throw badRequest('time: is required and must be a duration such as 5s')
  return { time: found, match: readWatchMatch(match) }
}

async function freeze({ body }: RoutedCall, lasting: LastingWeather, userOf: (name: string) => ServerUser) {
  const members = new Members(body, '', ['user', 'ago', 'revisions', 'at', 'strength', 'on'])
  const user = userOf(members.requiredText('user'))
  const point = { ago: readDuration(members, 'ago'), revisions: members.whole('revisions'), at: members.text('at') }
  const { user: other, ...on } = readWatchMatch(members.object('on'), 'on')
  if (other !== undefined) throw badRequest('on.user: the freeze is for the member user')
  lasting.requireRoom()
  const strength = members.choice('strength', ['cache', 'all']) ?? 'cache'
  const frozen = await awaitOrBadRequest('the body', () => user.reads.freeze(point, { strength, on }))
  const name = lasting.begin('reads/freeze', body, () => frozen.thaw)
  return object({ name, revision: frozen.revision }, 201)
}

type Begin = (scenarios: ServerUser['scenarios'], members: Members) => { end(): void } | Promise<{ end(): void }>

const scenarios: Readonly<Record<string, { readonly members: readonly string[]; readonly begin: Begin }>> = {
  apiServerRestart: { members: ['down'], begin: (user, members) => user.apiServerRestart(readDuration(members, 'down')) },
  conflictStorm: { members: ['times'], begin: (user, members) => user.conflictStorm(required(members, 'times', members.whole('times'))) },
  quietWatch: { members: ['time'], begin: (user, members) => user.quietWatch(required(members, 'time', readDuration(members, 'time'))) },
  losesLease: {
    members: ['namespace', 'name', 'holder'],
    begin: (user, members) =>
      user.losesLease({ namespace: members.requiredText('namespace'), name: members.requiredText('name') }, members.text('holder')),
  },
  throttled: {
    members: ['perSecond'],
    begin: (user, members) => user.throttled(required(members, 'perSecond', members.whole('perSecond'))),
  },
  flakyNetwork: { members: ['seed'], begin: (user, members) => user.flakyNetwork(required(members, 'seed', members.text('seed'))) },
}

const scenarioNames = Object.keys(scenarios)

function required<T>(members: Members, name: string, value: T | undefined): T {
  if (value === undefined) throw badRequest(`${members.pathOf(name)}: is required`)
  return value
}

async function beginScenario({ body, param }: RoutedCall, lasting: LastingWeather, userOf: (name: string) => ServerUser) {
  const word = param('scenario')
  const scenario = Object.hasOwn(scenarios, word) ? scenarios[word] : undefined
  if (scenario === undefined) throw badRequest(`there is no scenario ${JSON.stringify(word)}: expected one of ${scenarioNames.join(', ')}`)
  const members = new Members(body, '', ['user', ...scenario.members])
  const user = userOf(members.requiredText('user'))
  lasting.requireRoom()
  const begun = await awaitOrBadRequest(word, async () => scenario.begin(user.scenarios, members))
  return object({ name: lasting.begin(`scenarios/${word}`, body, () => begun.end) }, 201)
}

/** The longest wait for the hits of a fault. */
const waitMsMax = 300_000

/** `/faults`: the faults of the server. `endWeather` ends all other weather that callers began. */
export function faultRoutes(faults: Faults, endWeather: () => void): readonly Route[] {
  const named = (name: string): readonly FaultRule[] => {
    const rules = faults.list()
    const found = rules.filter((rule) => rule.name === name)
    if (found.length === 0) throw unknownName('fault', name, new Set(rules.map((rule) => rule.name)))
    return found
  }
  return [
    route('GET /faults', 'all faults with their hits', () => object({ items: faults.list().map(shown) })),
    route('POST /faults', 'adds a fault', ({ body }) => {
      if (body === undefined) throw badRequest('the body: must be a fault, such as {"effect":{"refuse":{"code":503}}}')
      const fault = readFault(body)
      const { name } = asBadRequest('fault', () => faults.add(fault))
      const rule = faults.list().findLast((one) => one.name === name)
      return object(rule === undefined ? {} : shown(rule), 201)
    }),
    route('DELETE /faults', 'removes all faults, also those of watches, and thaws all reads', () => {
      endWeather()
      faults.clear()
      return object({})
    }),
    route(
      'GET /faults/:name?hits&within',
      'a fault with its hits; ?hits=N waits until it has hit so many requests, ?within=10s at most',
      async (call) => {
        const name = call.param('name')
        const wanted = readCount(call, 'hits', { otherwise: 0, max: 1_000_000 })
        const within = call.query.get('within') ?? '10s'
        const withinMs = Math.min(
          waitMsMax,
          asBadRequest('within', () => toMs('within', within)),
        )
        const rule = named(name).at(-1)
        if (rule === undefined) throw unknownName('fault', name, [])
        if (wanted > rule.hits) {
          await Promise.race([rule.hit(wanted).catch(() => {}), sleep(systemClock, withinMs, call.signal)])
          if (rule.hits < wanted) throw timeout(`the fault ${name} has hit ${rule.hits} of ${wanted} requests within ${within}`)
        }
        return object(shown(rule))
      },
    ),
    route('DELETE /faults/:name', 'removes a fault', ({ param }) => {
      const rules = named(param('name'))
      for (const rule of rules) rule.remove()
      return object({ hits: rules.reduce((sum, { hits }) => sum + hits, 0) })
    }),
  ]
}

function shown(rule: FaultRule) {
  return { name: rule.name, ...printFault(rule.fault), hits: rule.hits }
}

/** A duration from a body or a query, in milliseconds. */
function readDuration(members: Members, name: string): string | number | undefined {
  const value = members.get(name)
  if (value === undefined || typeof value === 'number') return value
  const text = members.text(name) ?? ''
  asBadRequest(members.pathOf(name), () => toMs(name, text))
  return text
}
