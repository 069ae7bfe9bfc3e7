import type { Catalogue } from '@orch/core/catalogue'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '@orch/core/flow-control'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import type { BootstrapObject } from './bootstrap.ts'

/** The first level at which flow control is written in v1. */
const settledSince = 29

/** The first level whose priority levels lend nominal shares, and whose conditions are applied. */
const lendingSince = 26

/** Group and version in which flow control is written at a level, and the way in which conditions are written. */
export function flowControlGroup(names: Names, level: number) {
  const version = level < lendingSince ? 'v1beta2' : level < settledSince ? 'v1beta3' : 'v1'
  return { group: domainGroup(names, 'flowcontrol.apiserver'), version, appliesStatus: level >= lendingSince }
}

interface LevelOptions {
  readonly queues: number
  readonly handSize: number
  readonly lendablePercent: number
}

/** A FlowSchema: its name, its priority level, its precedence, its distinguisher, and its rules. */
type SchemaRow = readonly [
  name: string,
  level: string,
  precedence: number,
  distinguisher: 'ByUser' | 'ByNamespace' | undefined,
  rules: readonly object[],
]

/**
 * Bootstrap levels and schemas: the mandatory ones always equal these, the others unless a user takes them over. Schemas have the condition that the
 * controller would write.
 */
export function flowControlObjects({ names, level: minor }: Pick<Catalogue, 'names' | 'level'>, now: string): readonly BootstrapObject[] {
  const writer: Writer = { names, level: minor, now }
  const suggested = (object: BootstrapObject): BootstrapObject => ({ ...object, isTakenOver: (live) => isTakenOver(names, live) })
  const { systemNamespace } = names
  const leases = domainGroup(names, 'coordination')
  const inSystem = account(systemNamespace, '*')
  const manager = user('system:kube-controller-manager')
  const scheduler = user('system:kube-scheduler')
  const electing = ['get', 'create', 'update']
  const anywhere = { namespaces: ['*'] }
  const everybody = [group('system:unauthenticated'), group('system:authenticated')]
  const ofNodes = [
    rule(
      [group('system:nodes')],
      [
        { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, ...anywhere },
        { verbs: ['*'], apiGroups: [leases], resources: ['leases'], ...anywhere },
      ],
    ),
  ]
  const elections = [rule([manager, scheduler, inSystem], [{ verbs: electing, apiGroups: [leases], resources: ['leases'], ...anywhere }])]
  const rows: readonly SchemaRow[] = [
    ['probes', 'exempt', 2, undefined, [probes(everybody)]],
    ['system-leader-election', 'leader-election', 100, 'ByUser', elections],
    ...(minor > electionSchemasUntil ? [] : electionSchemas(names)),
    ['system-node-high', 'node-high', 400, 'ByUser', ofNodes],
    ['system-nodes', 'system', 500, 'ByUser', [all([group('system:nodes')])]],
    ['kube-controller-manager', 'workload-high', 800, 'ByNamespace', [all([manager])]],
    ['kube-scheduler', 'workload-high', 800, 'ByNamespace', [all([scheduler])]],
    [`${systemNamespace}-service-accounts`, 'workload-high', 900, 'ByNamespace', [all([inSystem])]],
    ['service-accounts', 'workload-low', 9_000, 'ByUser', [all([group('system:serviceaccounts')])]],
    ['global-default', 'global-default', 9_900, 'ByUser', [all(everybody)]],
  ]
  return [
    ...Object.entries(mandatoryPriorityLevels).map(([name, spec]) => anObject(writer, levels, name, specAt(minor, spec))),
    ...suggestedLevels(writer).map(suggested),
    ...Object.entries(mandatoryFlowSchemas).map(([name, spec]) => aFlowSchema(writer, name, spec)),
    ...rows.map((row) => suggested(aSchema(writer, row))),
  ]
}

/** The last level whose schemas know elections by Endpoints and ConfigMaps. */
const electionSchemasUntil = 33

function electionSchemas(names: Names): SchemaRow[] {
  const { systemNamespace } = names
  const request = (apiGroup: string, resources: readonly string[]) => ({
    ...{ verbs: ['get', 'create', 'update'], apiGroups: [apiGroup], resources },
    namespaces: ['*'],
  })
  const endpoints = ['endpoint-controller', 'endpointslicemirroring-controller'].map((name) => account(systemNamespace, name))
  const ofEndpoints = rule([user('system:kube-controller-manager'), ...endpoints], [request('', ['endpoints'])])
  const workloads = [request('', ['endpoints', 'configmaps']), request(domainGroup(names, 'coordination'), ['leases'])]
  return [
    ['endpoint-controller', 'workload-high', 150, 'ByUser', [ofEndpoints]],
    ['workload-leader-election', 'leader-election', 200, 'ByUser', [rule([account(systemNamespace, '*')], workloads)]],
  ]
}

/** The priority levels that a user may modify. */
function suggestedLevels(writer: Writer): BootstrapObject[] {
  const level = (name: string, shares: number, options: LevelOptions) => aLevel(writer, name, shares, options)
  return [
    level('system', 30, { queues: 64, handSize: 6, lendablePercent: 33 }),
    level('node-high', 40, { queues: 64, handSize: 6, lendablePercent: 25 }),
    level('leader-election', 10, { queues: 16, handSize: 4, lendablePercent: 0 }),
    level('workload-high', 40, { queues: 128, handSize: 6, lendablePercent: 50 }),
    level('workload-low', 100, { queues: 128, handSize: 6, lendablePercent: 90 }),
    level('global-default', 20, { queues: 128, handSize: 6, lendablePercent: 50 }),
  ]
}

/** An object with the annotation `false` is never restored, nor an object changed before the annotation existed. */
function isTakenOver(names: Names, { metadata }: ApiObject): boolean {
  const kept = metadata.annotations?.[updateAnnotation(names)]
  if (kept === undefined) return metadata.generation !== 1
  return kept !== 'true'
}

function updateAnnotation(names: Names): string {
  return subdomainLabel(names, 'apf', 'autoupdate-spec')
}

const levels = { kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations' }
const schemas = { kind: 'FlowSchema', plural: 'flowschemas' }

/** Profile, level and time of the written objects. */
interface Writer extends Pick<Catalogue, 'names' | 'level'> {
  readonly now: string
}

function anObject({ names, level }: Writer, { kind, plural }: typeof levels, name: string, spec: object): BootstrapObject {
  const { group, version } = flowControlGroup(names, level)
  return {
    resource: { group, version, plural, namespaced: false },
    object: { apiVersion: `${group}/${version}`, kind, metadata: { name, annotations: { [updateAnnotation(names)]: 'true' } }, spec },
    fieldManager: names.flowControlProducer,
  }
}

function aLevel(writer: Writer, name: string, shares: number, options: LevelOptions): BootstrapObject {
  const { queues, handSize, lendablePercent } = options
  const limitResponse = { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } }
  const limited = { assuredConcurrencyShares: shares, lendablePercent, limitResponse }
  return anObject(writer, levels, name, specAt(writer.level, { type: 'Limited', limited }))
}

/** The spec of a priority level in the version of a release: versions after v1beta2 have nominal shares and lend them. */
function specAt(level: number, { type, limited }: LevelSpec): object {
  if (limited === undefined) return { type }
  const { assuredConcurrencyShares, lendablePercent, limitResponse } = limited
  if (level < lendingSince) return { type, limited: { assuredConcurrencyShares, limitResponse } }
  return { type, limited: { nominalConcurrencyShares: assuredConcurrencyShares, lendablePercent, limitResponse } }
}

interface LevelSpec {
  readonly type: string
  readonly limited?: {
    readonly assuredConcurrencyShares: number
    /** Absent below level 26. */
    readonly lendablePercent?: number
    readonly limitResponse: object
  }
}

function aSchema(writer: Writer, [name, level, precedence, distinguisher, rules]: SchemaRow): BootstrapObject {
  return aFlowSchema(writer, name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules,
  })
}

function aFlowSchema(writer: Writer, name: string, spec: SchemaSpec): BootstrapObject {
  const condition = { ...danglingOf(spec.priorityLevelConfiguration.name, true), lastTransitionTime: writer.now }
  const { appliesStatus: applies } = flowControlGroup(writer.names, writer.level)
  const statusManager = { name: writer.names.flowControlConsumer, applies }
  return { ...anObject(writer, schemas, name, spec), status: { conditions: [condition] }, statusManager }
}

interface SchemaSpec extends Readonly<Record<string, unknown>> {
  readonly priorityLevelConfiguration: { readonly name: string }
}

type Dangling = Required<Omit<BuiltIn<'flowcontrol/v1.FlowSchemaCondition'>, 'lastTransitionTime'>>

/** The condition of a FlowSchema for a present or absent priority level. */
export function danglingOf(level: string, isThere: boolean): Dangling {
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${about} but there is no such object` }
}

function user(name: string) {
  return { kind: 'User', user: { name } }
}

function group(name: string) {
  return { kind: 'Group', group: { name } }
}

function account(namespace: string, name: string) {
  return { kind: 'ServiceAccount', serviceAccount: { namespace, name } }
}

function rule(subjects: readonly object[], resourceRules: readonly object[]) {
  return { subjects, resourceRules }
}

function all(subjects: readonly object[]) {
  return {
    subjects,
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }
}

function probes(subjects: readonly object[]) {
  return { subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] }
}

/** True if FlowSchemas are served. */
export function servesFlowControl({ names, level, find }: Catalogue): boolean {
  const { group, version } = flowControlGroup(names, level)
  return find(group, version, 'flowschemas') !== undefined
}
