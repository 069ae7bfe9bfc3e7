import { isJsonObject } from '@orch/core/json'
import { badRequest, timeout, unsupportedMediaType } from '@orch/core/meta'
import { controlPath } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import { asBadRequest, type ControlHandler, type Faults, Members, type RequestLog, refuseUnknownParameters } from '@orch/gateway'
import { type Clock, toMs, type VirtualClock } from '@orch/platform'
import type { StoreObjects } from '../../load/store-objects.ts'
import type { ServerUser, UserOptions } from '../user.ts'
import { type CopiedServer, Copies, copyRoutes } from './copies.ts'
import { type LoadParts, loadRoute } from './load.ts'
import { requestRoutes } from './requests.ts'
import { awaitOrBadRequest, failure, findRoute, object, type Route, type RoutedCall, route, unknownName } from './route.ts'
import { faultRoutes, LastingWeather, weatherRoutes } from './weather.ts'

/** The parts of a server that its control needs. */
export interface ControlParts {
  readonly server: AssertedServer &
    CopiedServer & {
      /** The user with this name; the first call creates the user. */
      user(name: string, options?: UserOptions): ServerUser
      load: LoadParts['load']
    }
  /** Stores objects of another server with their uids and status. */
  readonly store: StoreObjects
  /** The names of the created users. */
  readonly userNames: () => readonly string[]
  readonly log: RequestLog
  readonly faults: Faults
  readonly clock: Clock
  /** The store's present revision. */
  readonly revision: () => number
  /** Names of the work in progress; empty when the server has settled. */
  readonly work: () => Promise<readonly string[]>
  /** Undefined if random values have no seed. */
  readonly seed: number | string | undefined
}

/** Lets a program in any language control a server for tests over HTTPS. */
export type Control = ReturnType<typeof createControl>

/** The control of one server. */
export function createControl(parts: ControlParts) {
  const { server, log, faults, clock, revision, work, seed } = parts
  const lasting = new LastingWeather()
  const copies = new Copies()
  const withoutWeather: CopiedServer = {
    snapshot: () => server.snapshot(),
    restore: (snapshot) => server.restore(snapshot),
    fork: (options) => server.fork(options),
    async reset() {
      lasting.clear()
      await server.reset()
    },
  }
  const routes: readonly Route[] = [
    route('GET', 'this list, and the seed of the server', () =>
      object({
        seed,
        paths: routes.map(({ method, path, parameters, doc }) => ({ method, path: `${controlPath}${path}`, parameters, doc })),
      }),
    ),
    route('GET /work', 'the names of the work in progress; none when the server has settled', async () =>
      object({ items: (await work()).map((name) => ({ name })) }),
    ),
    ...requestRoutes(log),
    ...faultRoutes(faults, () => lasting.clear()),
    ...clockRoutes(clock),
    ...userRoutes(parts),
    ...weatherRoutes({ log, revision, faults, lasting, user: (name) => knownUser(parts, name) }),
    ...assertionRoutes(server),
    ...copyRoutes(withoutWeather, copies),
    loadRoute({ store: parts.store, load: (path, options) => server.load(path, options) }),
  ]
  return {
    async handle(given: Parameters<ControlHandler>[0]) {
      const found = findRoute(routes, given)
      if (found === undefined) return undefined
      refuseUnknownParameters(given.query, found.route.parameters ?? [])
      const isStream = given.lines !== undefined || given.file !== undefined
      if (isStream && given.method === 'POST' && found.route.takesStream !== true) throw unsupportedMediaType(['application/json'])
      return found.route.handle(found.call)
    },
    /** Ends all weather and forks that callers have begun. */
    close: () => copies.close(),
  }
}

/** A typing mistake must not create a user with all rights. */
function knownUser({ server, userNames }: Pick<ControlParts, 'server' | 'userNames'>, name: string): ServerUser {
  if (!userNames().includes(name)) throw unknownName('user', name, userNames())
  return server.user(name)
}

/** The largest number of users, which a server keeps to its end. */
const usersMax = 10_000

/** `/users`: clients with separate names. */
function userRoutes({ server, userNames }: ControlParts): readonly Route[] {
  const shown = ({ name, kubeconfig }: ServerUser) => ({ name, kubeconfig })
  const known = (name: string) => knownUser({ server, userNames }, name)
  return [
    route('GET /users', 'the names of the users that have been made', () => object({ items: userNames().map((name) => ({ name })) })),
    route(
      'POST /users',
      'a user with a client configuration: {"name":"operator"}; with all rights, or {"rules":[…],"groups":[…]}',
      ({ body }) => {
        const members = new Members(body, '', ['name', 'groups', 'rules'])
        const name = members.requiredText('name')
        const groups = members.texts('groups')
        const rules = members.list('rules')?.map((rule, index) => readRule(rule, `rules[${index}]`))
        const options = { ...(groups && { groups }), ...(rules && { rules }) }
        const isNew = !userNames().includes(name)
        if (isNew && userNames().length >= usersMax) throw failure(429, 'TooManyRequests', `there are ${usersMax} users already`)
        return object(shown(asBadRequest('name', () => server.user(name, groups || rules ? options : undefined))), isNew ? 201 : 200)
      },
    ),
    route('GET /users/:name', 'a user that has been made', ({ param }) => object(shown(known(param('name'))))),
  ]
}

/** A rule of a ClusterRole. */
function readRule(value: unknown, at: string): PolicyRule {
  if (!isJsonObject(value)) throw badRequest(`${at}: must be a rule of a ClusterRole`)
  const members = new Members(value, at, ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'])
  const verbs = members.texts('verbs')
  if (verbs === undefined) throw badRequest(`${at}.verbs: is required`)
  const list = (name: 'apiGroups' | 'resources' | 'resourceNames' | 'nonResourceURLs') => {
    const texts = members.texts(name)
    return texts === undefined ? {} : { [name]: texts }
  }
  return { verbs, ...list('apiGroups'), ...list('resources'), ...list('resourceNames'), ...list('nonResourceURLs') }
}

/** Receives the address of the control, which starts after the gateway. */
export class ControlDoor {
  #control: Control | undefined

  readonly handle: ControlHandler = async (call) => {
    if (this.#control === undefined) throw failure(503, 'ServiceUnavailable', 'the server is starting')
    return this.#control.handle(call)
  }

  open(control: Control): void {
    this.#control = control
  }

  async close(): Promise<void> {
    await this.#control?.close()
  }
}

/** The parts of a test server that its assertions need. */
interface AssertedServer {
  settled(options?: { readonly within?: number }): Promise<void>
  hotLoops(user: string | undefined, time: number): Promise<string[]>
  leaks(): Promise<string[]>
}

/** `/settled`, `/hot-loops` and `/leaks`. */
function assertionRoutes(server: AssertedServer): readonly Route[] {
  const lines = (found: readonly string[]) => object({ items: found.map((text) => ({ text })) })
  return [
    route('GET /settled?within', 'waits until the server has no work left; ?within=5s', async (call) => {
      const within = readTime(call, 'within', '5s')
      const [outcome] = await Promise.allSettled([server.settled({ within })])
      if (outcome.status === 'rejected') throw timeout(String(outcome.reason instanceof Error ? outcome.reason.message : outcome.reason))
      return object({ settled: true })
    }),
    route(
      'GET /hot-loops?user&for',
      'observes users for a time in which nothing else happens, and describes those that do not come to rest; ?user=operator&for=2s',
      async (call) => {
        const time = readTime(call, 'for', '2s')
        return lines(await awaitOrBadRequest('user', () => server.hotLoops(call.query.get('user'), time)))
      },
    ),
    route('GET /leaks', 'open watches, held leases, namespaces and objects that finalizers hold', async () => lines(await server.leaks())),
  ]
}

const timeMsMax = 300_000

function readTime({ query }: RoutedCall, name: string, otherwise: string): number {
  const text = query.get(name) ?? otherwise
  const ms = asBadRequest(name, () => toMs(name, text))
  if (ms > timeMsMax) throw badRequest(`${name}=${text}: must be at most 5m`)
  return ms
}

/** The timers in one answer. */
const pendingMax = 1_000

/** `/clock`: the time of the server. */
function clockRoutes(clock: Clock): readonly Route[] {
  const state = () => {
    const now = new Date(clock.now()).toISOString()
    if (!isMoved(clock)) return { now, virtual: false, pending: [], timers: 0 }
    const timers = clock.pending()
    const pending = timers.slice(0, pendingMax).map(({ at, background }) => ({ at: at.toISOString(), background }))
    return { now, virtual: true, pending, timers: timers.length }
  }
  return [
    route('GET /clock', 'the time, and the timers that have been set', () => object(state())),
    route('POST /clock/advance', 'moves a virtual clock {"by":"40s"} or {"to":"2026-01-31T12:00:00Z"}', async ({ body }) => {
      const moved = movable(clock)
      const members = new Members(body, '', ['by', 'to'])
      const [by, to] = [members.text('by'), members.text('to')]
      if ((by === undefined) === (to === undefined)) throw badRequest('the body: must have one of by and to')
      await awaitOrBadRequest('the clock', () => (by === undefined ? moved.advanceTo(to ?? '') : moved.advance(by)))
      return object(state())
    }),
    route('POST /clock/next', 'moves a virtual clock to the next timer that is not a background one', async ({ body }) => {
      new Members(body, '', [])
      const moved = await awaitOrBadRequest('the clock', () => movable(clock).next())
      return object({ moved, ...state() })
    }),
  ]
}

function movable(clock: Clock): VirtualClock {
  if (isMoved(clock)) return clock
  throw failure(
    409,
    'Conflict',
    "the clock is the machine's and cannot be moved: start the server with --virtual-clock, or start({ clock: virtualClock() })",
  )
}

/** True for a clock that a test moves. */
export function isMoved(clock: Clock): clock is VirtualClock {
  return clock.isVirtual === true && 'advance' in clock
}
