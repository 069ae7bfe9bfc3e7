import { type Catalogue, domainGroup, type StorageService, type User } from '@orch/core'
import { type Clock, type Followed, type Following, follow, type Log, type Metrics } from '@orch/platform'
import { limits } from '../limits.ts'
import type { RequestInfo } from '../request-info.ts'
import { type FlowSchema, type PriorityLevel, parseFlowSchema, parsePriorityLevel } from './configuration.ts'
import { inOrderOfPrecedence, schemaMatches } from './match.ts'
import { createFlowMetrics, type FlowMetrics, type FlowSeries } from './metrics.ts'
import { Level } from './priority-level.ts'

export interface FlowControlOptions {
  readonly storage: StorageService
  readonly catalogue: Catalogue
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1. */
  readonly random: () => number
  readonly metrics: Metrics
  /** Seats that all levels share. */
  readonly seatsMax: number
}

/** Where a request belongs. */
export interface Classification {
  readonly schema: FlowSchema
  readonly level: Level
  readonly series: FlowSeries
  /** Header fields of the answer that name both. */
  readonly headers: Readonly<Record<string, string>>
}

/** What is known of a request's weight before it is worked on. */
interface RequestSize {
  /** Objects that a list asks for; 0: all. */
  readonly limit: number
  /** Undefined: the body may be as large as any. */
  readonly bodyBytes: number | undefined
}

/** Who may be worked on: schemas say where a request belongs, levels how many of them at a time. */
export interface FlowControl {
  classify(user: User, info: RequestInfo): Classification
  /** What the requests of one schema that look the same share a turn by. */
  flowOf(classification: Classification, user: User, info: RequestInfo): string
  /** How many seats a request takes: lists by what the last one like it weighed, others by their bodies. */
  widthOf(info: RequestInfo, size: RequestSize): number
  noteList(info: RequestInfo, bytes: number): void
  readonly metrics: FlowMetrics
  readonly levels: readonly Level[]
  close(): void
}

/** There, and as it is here, whatever the store holds: without them nobody could repair the rest. */
const exemptLevel: PriorityLevel = { name: 'exempt', uid: '', kind: { kind: 'exempt' } }
const catchAllLevel: PriorityLevel = { name: 'catch-all', uid: '', kind: { kind: 'limited', shares: 5, whenFull: { kind: 'reject' } } }
const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const exemptSchema: FlowSchema = {
  name: 'exempt',
  uid: '',
  priorityLevel: 'exempt',
  precedence: 1,
  distinguisher: 'none',
  rules: [{ subjects: [{ kind: 'Group', name: 'system:masters' }], ...everything }],
}
const catchAllSchema: FlowSchema = {
  name: 'catch-all',
  uid: '',
  priorityLevel: 'catch-all',
  precedence: 10_000,
  distinguisher: 'ByUser',
  rules: [{ subjects: [{ kind: 'Group', name: '*' }], ...everything }],
}

/** Follows the objects and keeps levels and schemas as they say. Before they are known everything but administrators is catch-all. */
export function openFlowControl(options: FlowControlOptions): FlowControl {
  const { storage, catalogue, clock, log, random, seatsMax } = options
  const closed = new AbortController()
  const levels = new Map<string, Level>()
  const metrics = createFlowMetrics(options.metrics, () => [...levels.values()])
  const followed = <T>(plural: string, parse: (object: Readonly<Record<string, unknown>>) => T) => {
    const resource = `${domainGroup(catalogue.names, 'flowcontrol.apiserver')}/${plural}`
    const decode = (value: Uint8Array) => parse(objectIn(value))
    return follow({ storage, clock, log, random, resource, decode, signal: closed.signal })
  }
  const schemas = followed('flowschemas', parseFlowSchema)
  const configurations = followed('prioritylevelconfigurations', parsePriorityLevel)
  let ordered: { readonly schema: FlowSchema; readonly classification: Classification }[] = []
  let known = new WeakMap<User, Map<string, Classification>>()
  const bytesOfLists = new Map<string, number>()

  const arrange = (): void => {
    const wanted = withMandatory(configurations, [exemptLevel, catchAllLevel])
    const shares = sumOfShares(wanted.values())
    for (const [name, configuration] of wanted) {
      const level = levels.get(name) ?? new Level(name, clock)
      levels.set(name, level)
      level.configure(configuration, seatsOf(configuration, shares, seatsMax))
    }
    // Those who are in a level that is gone are seen through; nobody new gets in.
    for (const name of levels.keys()) if (!wanted.has(name)) levels.delete(name)
    ordered = inOrderOfPrecedence(withMandatory(schemas, [exemptSchema, catchAllSchema]).values()).flatMap((schema) => {
      const level = levels.get(schema.priorityLevel)
      if (level === undefined) return []
      const headers = {
        [`${catalogue.names.headerPrefix}-pf-flowschema-uid`]: schema.uid,
        [`${catalogue.names.headerPrefix}-pf-prioritylevel-uid`]: level.uid,
      }
      return [{ schema, classification: { schema, level, series: metrics.seriesOf(level.name, schema.name), headers } }]
    })
    known = new WeakMap()
  }
  let isPlanned = false
  /** Changes come in groups: a turn of the event loop is arranged for once. */
  const plan = (_change: Followed<unknown>): void => {
    if (isPlanned) return
    isPlanned = true
    queueMicrotask(() => {
      isPlanned = false
      arrange()
    })
  }
  schemas.onChange(plan)
  configurations.onChange(plan)
  arrange()

  const search = (user: User, info: RequestInfo): Classification => {
    for (const { schema, classification } of ordered) if (schemaMatches(schema, user, info)) return classification
    throw new Error('no FlowSchema matches, not even catch-all')
  }
  return {
    classify(user, info) {
      let ofUser = known.get(user)
      if (ofUser === undefined) {
        ofUser = new Map()
        known.set(user, ofUser)
      }
      const key = keyOf(info)
      const found = ofUser.get(key)
      if (found !== undefined) return found
      const classification = search(user, info)
      if (key.length > limits.flowKeyLengthMax) return classification
      if (ofUser.size >= limits.flowMatchesMax) ofUser.clear()
      ofUser.set(key, classification)
      return classification
    },
    flowOf({ schema }, user, info) {
      switch (schema.distinguisher) {
        case 'ByUser':
          return `${schema.name}/${user.name}`
        case 'ByNamespace':
          return `${schema.name}/${info.kind === 'resource' ? info.namespace : ''}`
        case 'none':
          return schema.name
      }
    },
    widthOf(info, { limit, bodyBytes = limits.bodyBytesMax }) {
      if (info.kind === 'path' || info.verb !== 'list') return seatsFor(bodyBytes / limits.flowBytesPerSeat)
      const weight = (bytesOfLists.get(listKeyOf(info)) ?? 0) / limits.flowBytesPerSeat
      const seats = limit > 0 ? Math.min(weight, limit / limits.flowObjectsPerSeat) : weight
      return seatsFor(seats)
    },
    noteList(info, bytes) {
      const key = listKeyOf(info)
      if ((bytes < limits.flowBytesPerSeat && !bytesOfLists.has(key)) || key.length > limits.flowKeyLengthMax) return
      if (bytesOfLists.size >= limits.flowListsMax) bytesOfLists.clear()
      bytesOfLists.set(key, bytes)
    },
    metrics,
    get levels() {
      return [...levels.values()]
    },
    close: () => closed.abort(),
  }
}

function seatsFor(weight: number): number {
  return Math.max(1, Math.min(limits.flowSeatsPerRequestMax, Math.ceil(weight)))
}

/** The mandatory ones are there under any circumstances; of the stored ones only their uid counts. */
function withMandatory<T extends { readonly name: string; readonly uid: string }>(
  stored: Following<T>,
  mandatory: readonly T[],
): Map<string, T> {
  const all = new Map([...stored.values()].map((one) => [one.name, one]))
  for (const one of mandatory) all.set(one.name, { ...one, uid: all.get(one.name)?.uid ?? '' })
  return all
}

function sumOfShares(levels: Iterable<PriorityLevel>): number {
  let sum = 0
  for (const { kind } of levels) if (kind.kind === 'limited') sum += kind.shares
  return sum
}

/** A level's part of all seats, rounded up: none is left without any. */
function seatsOf({ kind }: PriorityLevel, shares: number, seatsMax: number): number {
  return kind.kind === 'exempt' ? 0 : Math.ceil((seatsMax * kind.shares) / shares)
}

function keyOf(info: RequestInfo): string {
  if (info.kind === 'path') return `${info.verb} ${info.path}`
  return `${info.verb} ${info.group} ${info.resource}/${info.subresource} ${info.namespace}`
}

function listKeyOf(info: RequestInfo): string {
  return info.kind === 'path' ? '' : `${info.group}/${info.resource}/${info.namespace}`
}

/** Storage holds nothing but objects that the gateway has checked. */
function objectIn(value: Uint8Array): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(value).toString()) as Readonly<Record<string, unknown>>
}
