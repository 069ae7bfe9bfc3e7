import type { Catalogue } from '@orch/core/catalogue'
import type { User } from '@orch/core/contracts'
import { anything } from '@orch/core/flow-control'
import { boundedMemo } from '@orch/core/memo'
import { domainGroup } from '@orch/core/names'
import { ended, Reflector, type TimerWheel } from '@orch/platform'
import { limits } from '../limits.ts'
import type { GatewayRequest, InFlightCounts } from '../request/request.ts'
import { queryInteger, type RequestInfo, type ResourceInfo } from '../request/request-info.ts'
import { tooManyRequests } from '../request/respond.ts'
import { type LimitShare, shareOf } from '../server/limit-share.ts'
import type { Surroundings } from '../surroundings.ts'
import { type FlowSchema, type PriorityLevel, parseFlowSchema, parsePriorityLevel, shareOfLevel } from './configuration.ts'
import { createFlowMetrics, type FlowMetrics, type FlowSeries } from './metrics.ts'
import { Level, Seat, type Waiting } from './priority-level.ts'

export interface FlowControlOptions extends Pick<Surroundings, 'storage' | 'clock' | 'log' | 'random' | 'metrics'> {
  readonly catalogue: Catalogue
  /** Seats of all levels together, in all gateways of the process. */
  readonly seatsMax: number
  /** This gateway's part of the seats and queues of each level. */
  readonly share: LimitShare
}

/** Schema and level of a request. */
export class Classification {
  readonly schema: FlowSchema
  readonly level: Level
  /** Header fields of the response that name both. */
  readonly headers: Readonly<Record<string, string>>
  readonly #metrics: FlowMetrics
  #series: FlowSeries | undefined

  constructor({ schema, level, headers }: Pick<Classification, 'schema' | 'level' | 'headers'>, metrics: FlowMetrics) {
    this.schema = schema
    this.level = level
    this.headers = headers
    this.#metrics = metrics
  }

  /** Most schemas never match a request. */
  get series(): FlowSeries {
    this.#series ??= this.#metrics.seriesOf(this.level.name, this.schema.name)
    return this.#series
  }
}

/** The estimated size of a request before it is served. */
interface RequestSize {
  /** The limit of a list; 0 for all objects. */
  readonly limit: number
  /** Undefined if the body may have any size. */
  readonly bodyBytes: number | undefined
}

/** The dependencies of taking a seat. */
interface SeatParts {
  readonly wheel: TimerWheel
  readonly state: InFlightCounts
}

/** Mandatory, and declared here for any contents of the store, as the rest could not be repaired without them. */
const exemptLevel: PriorityLevel = { name: 'exempt', uid: '', kind: { kind: 'exempt' } }
const catchAllLevel: PriorityLevel = { name: 'catch-all', uid: '', kind: { kind: 'limited', shares: 5, whenFull: { kind: 'reject' } } }
const exemptSchema: FlowSchema = {
  name: 'exempt',
  uid: '',
  spec: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [{ kind: 'Group', group: { name: 'system:masters' } }], ...anything }],
  },
}
const catchAllSchema: FlowSchema = {
  name: 'catch-all',
  uid: '',
  spec: {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [{ kind: 'Group', group: { name: '*' } }], ...anything }],
  },
}

/** A schema with the classification of the requests that match it. */
interface ClassifiedSchema {
  readonly schema: FlowSchema
  readonly classification: Classification
}

/**
 * The admission of requests to service: schemas assign a request to a level, and levels limit parallel requests. Updates levels and schemas from their
 * objects in storage; before these are loaded every request except those of administrators is catch-all.
 */
export class FlowControl {
  readonly metrics: FlowMetrics
  readonly #options: FlowControlOptions
  readonly #closed = new AbortController()
  readonly #schemas: Reflector<FlowSchema>
  readonly #configurations: Reflector<PriorityLevel>
  readonly #levels = new Map<string, Level>()
  #inOrder: readonly ClassifiedSchema[] = []
  /** Cached classifications by user and kind of request. */
  #known = new WeakMap<User, Map<string, Classification>>()
  /** Bytes of the last response to each kind of list. */
  readonly #listBytes = new Map<string, number>()
  readonly #listCost: { readonly bytesPerSeat: number; readonly seatsMax: number }
  #isArrangementPlanned = false
  #isLoaded = false

  constructor(options: FlowControlOptions) {
    this.#listCost = options.catalogue.isGateOn('SizeBasedListCostEstimate')
      ? { bytesPerSeat: limits.flowListBytesPerSeat, seatsMax: limits.flowSeatsPerListMax }
      : { bytesPerSeat: limits.flowBytesPerSeat, seatsMax: limits.flowSeatsPerRequestMax }
    this.#options = options
    this.metrics = createFlowMetrics(options.metrics, () => this.levels, options.clock)
    this.#schemas = this.#reflect('flowschemas', knownSchema)
    this.#configurations = this.#reflect('prioritylevelconfigurations', knownLevel)
    this.#schemas.onChange(() => this.#arrangeSoon())
    this.#configurations.onChange(() => this.#arrangeSoon())
    this.#arrange()
    Promise.all([this.#schemas.ready, this.#configurations.ready]).then(
      () => {
        this.#isLoaded = true
      },
      // It has ended before.
      () => {},
    )
  }

  /** True if schemas and levels are loaded from storage. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** The step that assigns a seat to a request, or returns a promise if it has to wait. A request without a seat is refused with 429. */
  readonly takeSeat = (request: GatewayRequest, parts: SeatParts): Promise<void> | undefined => {
    const { user, info } = request
    const classification = this.classify(user, info)
    const { level, series, headers } = classification
    request.flowHeaders = headers
    const width = level.isExempt ? 1 : this.#widthOf(info, { limit: limitOf(request), bodyBytes: request.exchange.announcedBytes })
    const isList = info.kind === 'resource' && info.verb === 'list'
    const onEnd = isList ? () => this.#noteList(info, request.sentBytes) : undefined
    const reception = level.receive({ flow: this.#flowOf(classification, user, info), width, asked: request, series, onEnd })
    switch (reception.kind) {
      case 'seated':
        request.seat = reception.seat
        request.enter(parts.state)
        return undefined
      case 'queued':
        series.queued(reception.queueLength)
        return this.#wait(request, reception.waiting, series, parts)
      case 'rejected':
        series.rejected(reception.reason)
        throw tooManyRequests()
    }
  }

  async #wait(request: GatewayRequest, waiting: Waiting, series: FlowSeries, { wheel, state }: SeatParts): Promise<void> {
    const { clock } = this.#options
    const sinceMs = clock.monotonic()
    const waitMs = (request.deadlineMs - request.startedMs) * limits.flowWaitPart
    const timer = wheel.after(waitMs, { due: () => waiting.giveUp('time-out') })
    request.exchange.onClose(() => waiting.giveUp('cancelled'))
    series.addWaiting(1, request.isWrite)
    state.loadMeter?.waits(request.isWrite, 1)
    const outcome = await waiting.seated
    timer.cancel()
    series.addWaiting(-1, request.isWrite)
    state.loadMeter?.waits(request.isWrite, -1)
    const waitedMs = clock.monotonic() - sinceMs
    request.waitedMs += waitedMs
    series.waited(waitedMs / 1000, outcome instanceof Seat)
    if (!(outcome instanceof Seat)) {
      series.rejected(outcome)
      throw tooManyRequests()
    }
    request.seat = outcome
    request.enter(state)
  }

  get levels(): readonly Level[] {
    return [...this.#levels.values()]
  }

  /** The first matching schema in order of precedence, and its level. */
  classify(user: User, info: RequestInfo): Classification {
    let ofUser = this.#known.get(user)
    if (ofUser === undefined) {
      ofUser = new Map()
      this.#known.set(user, ofUser)
    }
    const key = keyOf(info)
    const known = ofUser.get(key)
    if (known !== undefined) return known
    const classification = this.#search(user, info)
    if (key.length > limits.flowKeyLengthMax) return classification
    if (ofUser.size >= limits.flowMatchesMax) ofUser.clear()
    ofUser.set(key, classification)
    return classification
  }

  /** Identifies the flow: requests of one schema with equal distinguisher share one turn. */
  #flowOf({ schema }: Classification, user: User, info: RequestInfo): string {
    switch (schema.spec.distinguisherMethod?.type) {
      case 'ByUser':
        return `${schema.name}/${user.name}`
      case 'ByNamespace':
        return `${schema.name}/${info.kind === 'resource' ? info.namespace : ''}`
      default:
        return schema.name
    }
  }

  /** Number of seats of a request: for a list by the size of the last similar response, for other requests by their bodies. */
  #widthOf(info: RequestInfo, { limit, bodyBytes = limits.bodyBytesMax }: RequestSize): number {
    if (info.kind === 'path' || info.verb !== 'list') return seatsFor(bodyBytes / limits.flowBytesPerSeat)
    const { bytesPerSeat, seatsMax } = this.#listCost
    const weight = (this.#listBytes.get(listKeyOf(info)) ?? 0) / bytesPerSeat
    return seatsFor(limit > 0 ? Math.min(weight, limit / limits.flowObjectsPerSeat) : weight, seatsMax)
  }

  /** Records the size of the response to a list, for the width of the next one. */
  #noteList(info: RequestInfo, bytes: number): void {
    const key = listKeyOf(info)
    if ((bytes < this.#listCost.bytesPerSeat && !this.#listBytes.has(key)) || key.length > limits.flowKeyLengthMax) return
    if (this.#listBytes.size >= limits.flowListsMax) this.#listBytes.clear()
    this.#listBytes.set(key, bytes)
  }

  close(): void {
    this.#closed.abort(ended)
  }

  #reflect<T>(plural: string, parse: (text: string) => T): Reflector<T> {
    const { storage, catalogue, clock, log, random } = this.#options
    return new Reflector({
      storage,
      clock,
      log,
      random,
      resource: `${domainGroup(catalogue.names, 'flowcontrol.apiserver')}/${plural}`,
      decode: (value) => parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()),
      signal: this.#closed.signal,
    })
  }

  #search(user: User, info: RequestInfo): Classification {
    for (const { schema, classification } of this.#inOrder) if (schemaMatches(schema, user, info)) return classification
    throw new Error('no FlowSchema matches, not even catch-all')
  }

  /** Changes arrive in groups: those of one turn of the event loop cause one update. */
  #arrangeSoon(): void {
    if (this.#isArrangementPlanned) return
    this.#isArrangementPlanned = true
    queueMicrotask(() => {
      this.#isArrangementPlanned = false
      this.#arrange()
    })
  }

  #arrange(): void {
    const wanted = withMandatory(this.#configurations, [exemptLevel, catchAllLevel])
    const { clock, seatsMax, share } = this.#options
    const shares = [...wanted.values()].reduce((sum, { kind }) => sum + (kind.kind === 'limited' ? kind.shares : 0), 0)
    for (const [name, configuration] of wanted) {
      const level = this.#levels.get(name) ?? new Level(name, clock, this.metrics.meterOf(name))
      this.#levels.set(name, level)
      const { kind } = configuration
      // Rounded up, so that no level is left without a seat.
      const seats = kind.kind === 'exempt' ? 0 : Math.ceil((seatsMax * kind.shares) / shares)
      level.configure(shareOfLevel(configuration, share), seats === 0 ? 0 : Math.max(1, shareOf(seats, share)))
    }
    // Requests in a removed level are finished; no new request enters it.
    for (const name of this.#levels.keys()) if (!wanted.has(name)) this.#levels.delete(name)
    const schemas = inOrderOfPrecedence(withMandatory(this.#schemas, [exemptSchema, catchAllSchema]).values())
    this.#inOrder = schemas.flatMap((schema) => {
      const level = this.#levels.get(schema.spec.priorityLevelConfiguration.name)
      return level === undefined ? [] : [{ schema, classification: this.#classification(schema, level) }]
    })
    this.#known = new WeakMap()
  }

  #classification(schema: FlowSchema, level: Level): Classification {
    const { headerPrefix } = this.#options.catalogue.names
    const headers = { [`${headerPrefix}-pf-flowschema-uid`]: schema.uid, [`${headerPrefix}-pf-prioritylevel-uid`]: level.uid }
    return new Classification({ schema, level, headers }, this.metrics)
  }
}

/** Objects that servers of one process remember by their texts: those of a start, and some more. */
const knownObjectsMax = 64
/** The FlowSchema of a text, which the gateway has validated. */
const knownSchema = boundedMemo(knownObjectsMax, parseFlowSchema)
/** The PriorityLevelConfiguration of a text. */
const knownLevel = boundedMemo(knownObjectsMax, parsePriorityLevel)

/** A limit may be smaller than the number of objects. */
function limitOf({ query, info }: GatewayRequest): number {
  return query.isEmpty || info.kind === 'path' || info.verb !== 'list' ? 0 : (queryInteger(query, 'limit') ?? 0)
}

function seatsFor(weight: number, seatsMax: number = limits.flowSeatsPerRequestMax): number {
  return Math.max(1, Math.min(seatsMax, Math.ceil(weight)))
}

/** The stored objects by name, with the mandatory ones as declared here, of which only the uid comes from storage. */
function withMandatory<T extends { readonly name: string; readonly uid: string }>(
  stored: Reflector<T>,
  mandatory: readonly T[],
): Map<string, T> {
  const all = new Map([...stored.values()].map((one) => [one.name, one]))
  for (const one of mandatory) all.set(one.name, { ...one, uid: all.get(one.name)?.uid ?? '' })
  return all
}

function keyOf(info: RequestInfo): string {
  if (info.kind === 'path') return `${info.verb} ${info.path}`
  return `${info.verb} ${info.group} ${info.resource}/${info.subresource} ${info.namespace}`
}

function listKeyOf(info: RequestInfo): string {
  return info.kind === 'path' ? '' : `${info.group}/${info.resource}/${info.namespace}`
}

export type FlowRule = NonNullable<FlowSchema['spec']['rules']>[number]
export type FlowSubject = NonNullable<FlowRule['subjects']>[number]
export type FlowResourceRule = NonNullable<FlowRule['resourceRules']>[number]

/** In matching order. */
export function inOrderOfPrecedence(schemas: Iterable<FlowSchema>): FlowSchema[] {
  return [...schemas].sort((a, b) => precedenceOf(a) - precedenceOf(b) || (a.name < b.name ? -1 : 1))
}

function precedenceOf({ spec }: FlowSchema): number {
  return spec.matchingPrecedence ?? 1000
}

/** True if a schema matches such requests. */
export function schemaMatches({ spec: { rules = [] } }: FlowSchema, user: User, info: RequestInfo): boolean {
  return rules.some((rule) => rule.subjects?.some((subject) => isSubject(subject, user)) && ruleMatches(rule, info))
}

function isSubject({ user, group, serviceAccount }: FlowSubject, { name, groups }: User): boolean {
  if (user !== undefined) return user.name === '*' || user.name === name
  if (group !== undefined) return group.name === '*' || groups.includes(group.name)
  if (serviceAccount === undefined) return false
  const prefix = `system:serviceaccount:${serviceAccount.namespace}:`
  return serviceAccount.name === '*' ? name.startsWith(prefix) : name === `${prefix}${serviceAccount.name}`
}

function ruleMatches({ resourceRules = [], nonResourceRules = [] }: FlowRule, info: RequestInfo): boolean {
  if (info.kind === 'resource') return resourceRules.some((rule) => resourceMatches(rule, info))
  return nonResourceRules.some(
    ({ verbs, nonResourceURLs }) => has(verbs, info.verb) && nonResourceURLs?.some((url) => pathMatches(url, info.path)),
  )
}

function resourceMatches(rule: FlowResourceRule, { verb, group, resource, subresource, namespace }: ResourceInfo): boolean {
  const isPlace = namespace === '' ? rule.clusterScope === true : has(rule.namespaces, namespace)
  return (
    isPlace &&
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)
  )
}

function has(list: readonly string[] | null | undefined, word: string): boolean {
  return list?.some((one) => one === '*' || one === word) === true
}

/** `/healthz` matches only that path, `/healthz/*` all below it, `*` everything. */
function pathMatches(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('/*') && path.startsWith(pattern.slice(0, -1)))
}
