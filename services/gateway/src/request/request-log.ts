import type { LoggedRequest } from '@orch/core/contracts'
import type { Clock } from '@orch/platform'
import { limits } from '../limits.ts'
import type { GatewayRequest } from './request.ts'
import type { KeptDetails, RequestDetails } from './request-details.ts'
import { parseRequestInfo, type RequestInfo } from './request-info.ts'
import { compileMatch, type RequestMatch } from './request-match.ts'

/** Selects requests of a log. */
export interface RequestFilter extends RequestMatch {
  /** Arrival time or later: a Date, or milliseconds since 1970. */
  readonly since?: Date | number | undefined
  readonly changed?: boolean | undefined
  readonly noop?: boolean | undefined
  /** Name of the fault that affected them; true for any. */
  readonly fault?: string | boolean | undefined
}

interface RequestLogOptions {
  readonly max?: number
  /** Without it the log only has lines. */
  readonly details?: KeptDetails | undefined
}

const changedFlag = 1
const noopFlag = 2
const serverFlag = 4
const consoleFlag = 8

/**
 * The last requests, oldest first, bounded by `limits.loggedRequestsMax`. A column for each member, so that a request costs few allocations; the rest is
 * parsed from the path when a test reads it.
 */
export class RequestLog {
  readonly #clock: Clock
  readonly #max: number
  /** Number of requests so far; request n is in the slot n modulo the bound. */
  #next = 0
  /** Number of the oldest request since the log was cleared. */
  #first = 0
  #watches = 0
  readonly #times: number[] = []
  /** Milliseconds; -1 for an open watch. */
  readonly #durations: number[] = []
  readonly #methods: string[] = []
  readonly #paths: string[] = []
  readonly #users: string[] = []
  readonly #agents: string[] = []
  readonly #names: string[] = []
  readonly #faults: string[] = []
  readonly #codes: number[] = []
  readonly #revisions: number[] = []
  readonly #flags: number[] = []
  readonly #watchIds: number[] = []
  /** Each request has a separate string for its agent. */
  readonly #knownAgents = new Map<string, string>()
  readonly #followers = new Set<(id: number) => void>()
  readonly #details: KeptDetails | undefined

  constructor(clock: Clock, { max = limits.loggedRequestsMax, details }: RequestLogOptions = {}) {
    this.#clock = clock
    this.#max = max
    this.#details = details
  }

  /** True if details are stored. */
  get hasDetails(): boolean {
    return this.#details !== undefined
  }

  /** The details of a logged request; undefined if it is not logged, or has none. */
  detailsOf(id: number): RequestDetails | undefined {
    return id < this.oldestId ? undefined : this.#details?.find(id)
  }

  /** Records a finished request. A watch recorded at its start is completed. */
  note(request: GatewayRequest, durationMs: number): void {
    const { logged } = request
    if (logged < 0) this.#add(request, durationMs, 0)
    if (logged < 0 || logged < this.#next - this.#max) return
    this.#durations[logged % this.#max] = durationMs
    this.noteFault(request)
    this.#tell(logged)
  }

  /** Calls back with the id of each recorded or completed request, until the returned function is called. */
  follow(follower: (id: number) => void): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  #tell(number: number): void {
    for (const follower of this.#followers) follower(number + 1)
  }

  /** Records the fault that affected an open watch. */
  noteFault({ logged, fault }: GatewayRequest): void {
    if (logged >= 0 && logged >= this.#next - this.#max) this.#faults[logged % this.#max] = fault
  }

  /** Records a started watch. */
  noteWatch(request: GatewayRequest): void {
    request.logged = this.#next
    this.#add(request, -1, ++this.#watches)
  }

  /** Number of recorded requests so far. */
  get total(): number {
    return this.#next
  }

  /** Id of the oldest request in the log, or of the next one. */
  get oldestId(): number {
    return Math.max(this.#first, this.#next - this.#max) + 1
  }

  /** The matching logged requests, oldest first, after an id and up to a limit. */
  read(filter: RequestFilter = {}, after = 0, limit = Number.POSITIVE_INFINITY): LoggedRequest[] {
    const matches = this.matcher(filter)
    const found: LoggedRequest[] = []
    for (let id = Math.max(this.oldestId, after + 1); id <= this.#next && found.length < limit; id++) {
      const entry = matches(id)
      if (entry !== undefined) found.push(entry)
    }
    return found
  }

  /** The last requests after an id that match the filter, at most `limit`, oldest first. Older requests are not examined. */
  readLast(filter: RequestFilter, after: number, limit: number): LoggedRequest[] {
    const matches = this.matcher(filter)
    const found: LoggedRequest[] = []
    for (let id = this.#next; id >= Math.max(this.oldestId, after + 1) && found.length < limit; id--) {
      const entry = matches(id)
      if (entry !== undefined) found.push(entry)
    }
    return found.reverse()
  }

  /** Finds the request of an id; undefined if the filter does not match it, or if it is forgotten. A wrong filter throws a TypeError. */
  matcher(filter: RequestFilter): (id: number) => LoggedRequest | undefined {
    const { since, changed, noop, fault } = filter
    const matches = compileMatch(filter, ['since', 'changed', 'noop', 'fault'])
    return (id) => {
      if (id < this.oldestId || id > this.#next) return undefined
      const slot = (id - 1) % this.#max
      const info = parseRequestInfo({
        method: this.#methods[slot] ?? '',
        path: this.#paths[slot] ?? '',
        isWatch: (this.#watchIds[slot] ?? 0) > 0,
      })
      if (!matches({ user: this.#users[slot] ?? '', agent: this.#agents[slot] ?? '', info })) return undefined
      const entry = this.#entryAt(id, info)
      if (since !== undefined && entry.time < Number(since)) return undefined
      if (changed !== undefined && entry.changed !== changed) return undefined
      if (noop !== undefined && entry.noop !== noop) return undefined
      const isHit = typeof fault === 'string' ? entry.fault === fault : fault === undefined || (entry.fault !== undefined) === fault
      return isHit ? entry : undefined
    }
  }

  /** The newest revision of a logged write at that time; 0 if unknown. */
  revisionAt(timeMs: number): number {
    let newest = 0
    for (let slot = 0; slot < Math.min(this.#next, this.#max); slot++) {
      const [time = 0, durationMs = 0, revision = 0, flags = 0] = [this.#times, this.#durations, this.#revisions, this.#flags].map(
        (column) => column[slot],
      )
      if ((flags & changedFlag) !== 0 && time + durationMs <= timeMs) newest = Math.max(newest, revision)
    }
    return newest
  }

  /** Drops all requests. */
  clear(): void {
    this.#first = this.#next
    this.#details?.clear()
  }

  #add(request: GatewayRequest, durationMs: number, watch: number): void {
    const slot = this.#next % this.#max
    this.#next += 1
    this.#times[slot] = this.#clock.now() - Math.max(0, durationMs)
    this.#durations[slot] = durationMs
    this.#methods[slot] = request.method
    this.#paths[slot] = shortened(request.path, request.exchange.target)
    this.#users[slot] = request.user.name
    this.#agents[slot] = this.#agentOf(request)
    // A name from YAML is a substring of the whole body.
    this.#names[slot] = ownText(request.writtenName)
    this.#faults[slot] = request.fault
    this.#codes[slot] = request.code
    this.#revisions[slot] = request.revision
    this.#flags[slot] = (request.hasChanged ? changedFlag : 0) | (request.isNoop ? noopFlag : 0) | senderFlag(request)
    this.#watchIds[slot] = watch
    this.#details?.note(this.#next, request)
    this.#tell(this.#next - 1)
  }

  #agentOf({ exchange }: GatewayRequest): string {
    const agent = exchange.header('user-agent') ?? ''
    const known = this.#knownAgents.get(agent)
    if (known !== undefined) return known
    if (this.#knownAgents.size >= limits.loggedAgentsMax) this.#knownAgents.clear()
    const kept = agent.slice(0, limits.loggedTextMax)
    this.#knownAgents.set(agent, kept)
    return kept
  }

  #entryAt(id: number, info: RequestInfo): LoggedRequest {
    const slot = (id - 1) % this.#max
    const place = info.kind === 'resource' ? info : { group: '', resource: '', subresource: '', namespace: '', name: '' }
    const [durationMs = 0, revision = 0, flags = 0] = [this.#durations[slot], this.#revisions[slot], this.#flags[slot]]
    const [fault = '', watch = 0] = [this.#faults[slot], this.#watchIds[slot]]
    return {
      id,
      time: this.#times[slot] ?? 0,
      ...(durationMs < 0 ? {} : { durationMs }),
      user: this.#users[slot] ?? '',
      agent: this.#agents[slot] ?? '',
      verb: info.verb,
      path: this.#paths[slot] ?? '',
      group: place.group,
      resource: place.resource,
      subresource: place.subresource,
      namespace: place.namespace,
      name: place.name || (this.#names[slot] ?? ''),
      code: this.#codes[slot] ?? 0,
      ...(revision === 0 ? {} : { revision }),
      changed: (flags & changedFlag) !== 0,
      noop: (flags & noopFlag) !== 0,
      ...((flags & serverFlag) === 0 ? {} : { from: 'server' }),
      ...((flags & consoleFlag) === 0 ? {} : { from: 'console' }),
      ...(fault === '' ? {} : { fault }),
      ...(watch === 0 ? {} : { watch }),
    }
  }
}

function senderFlag({ exchange: { peer } }: GatewayRequest): number {
  return peer.kind === 'internal' ? serverFlag : peer.kind === 'console' ? consoleFlag : 0
}

/** A substring of a long target would hold all of it in memory. */
function shortened(path: string, target: string): string {
  return target.length <= limits.loggedTextMax ? path : ownText(path)
}

/** The beginning of a text, without the memory of a longer text that contains it. */
function ownText(text: string): string {
  return text === '' ? '' : Buffer.from(text.slice(0, limits.loggedTextMax)).toString()
}

/** Requests as lines of a table, oldest first. */
export function printRequests(requests: readonly LoggedRequest[]): string {
  const rows = requests.map(({ time, user, verb, resource, group, subresource, namespace, name, path, code, revision, ...rest }) => {
    const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
    const place = [namespace, name].filter((part) => part !== '').join('/')
    const notes = [
      rest.changed ? 'changed' : rest.noop ? 'no change' : '',
      rest.watch === undefined ? '' : `watch ${rest.watch}${rest.durationMs === undefined ? ' (open)' : ''}`,
      rest.fault === undefined ? '' : `fault ${rest.fault}`,
    ].filter((note) => note !== '')
    const what = resource === '' ? path : place === '' ? kind : `${kind} ${place}`
    return [
      new Date(time).toISOString(),
      user,
      verb,
      what,
      String(code || '-'),
      revision === undefined ? '' : `@${revision}`,
      notes.join(', '),
    ]
  })
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
