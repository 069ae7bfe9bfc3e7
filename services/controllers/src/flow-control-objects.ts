import type { Catalogue } from '@orch/core/catalogue'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '@orch/core/flow-control'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import type { BootstrapObject } from './bootstrap.ts'

/** The first level at which flow control is written in v1. */
const settledSince = 29

/** Group and version in which flow control is written at a level. */
export function flowControlGroup(names: Names, level: number): { readonly group: string; readonly version: string } {
  return { group: domainGroup(names, 'flowcontrol.apiserver'), version: level < settledSince ? 'v1beta2' : 'v1' }
}

interface LevelOptions {
  readonly queues: number
  readonly handSize: number
  readonly lendablePercent: number
}

interface SchemaOptions {
  readonly level: string
  readonly precedence: number
  readonly distinguisher?: 'ByUser' | 'ByNamespace'
  readonly rules: readonly object[]
}

/**
 * Bootstrap levels and schemas: the mandatory ones always equal these, the others unless a user takes them over. Schemas have the condition that the
 * controller would write.
 */
export function flowControlObjects({ names, level: minor }: Pick<Catalogue, 'names' | 'level'>, now: string): readonly BootstrapObject[] {
  const writer: Writer = { names, level: minor, now }
  const suggested = (object: BootstrapObject): BootstrapObject => ({ ...object, isTakenOver: (live) => isTakenOver(names, live) })
  const schema = (name: string, options: SchemaOptions) => aSchema(writer, name, options)
  const { systemNamespace } = names
  const leases = domainGroup(names, 'coordination')
  const inSystem = account(systemNamespace, '*')
  const manager = user('system:kube-controller-manager')
  const scheduler = user('system:kube-scheduler')
  const electing = ['get', 'create', 'update']
  const anywhere = { namespaces: ['*'] }
  const everybody = [group('system:unauthenticated'), group('system:authenticated')]
  return [
    ...Object.entries(mandatoryPriorityLevels).map(([name, spec]) => anObject(writer, levels, name, specAt(minor, spec))),
    ...suggestedLevels(writer).map(suggested),
    ...Object.entries(mandatoryFlowSchemas).map(([name, spec]) => aFlowSchema(writer, name, spec)),
    suggested(schema('probes', { level: 'exempt', precedence: 2, rules: [probes(everybody)] })),
    suggested(
      schema('system-leader-election', {
        level: 'leader-election',
        precedence: 100,
        distinguisher: 'ByUser',
        rules: [rule([manager, scheduler, inSystem], [{ verbs: electing, apiGroups: [leases], resources: ['leases'], ...anywhere }])],
      }),
    ),
    ...(minor > electionSchemasUntil ? [] : electionSchemas(writer).map(suggested)),
    suggested(
      schema('system-node-high', {
        level: 'node-high',
        precedence: 400,
        distinguisher: 'ByUser',
        rules: [
          rule(
            [group('system:nodes')],
            [
              { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, ...anywhere },
              { verbs: ['*'], apiGroups: [leases], resources: ['leases'], ...anywhere },
            ],
          ),
        ],
      }),
    ),
    suggested(schema('system-nodes', { level: 'system', precedence: 500, distinguisher: 'ByUser', rules: [all([group('system:nodes')])] })),
    suggested(
      schema('kube-controller-manager', { level: 'workload-high', precedence: 800, distinguisher: 'ByNamespace', rules: [all([manager])] }),
    ),
    suggested(
      schema('kube-scheduler', { level: 'workload-high', precedence: 800, distinguisher: 'ByNamespace', rules: [all([scheduler])] }),
    ),
    suggested(
      schema(`${systemNamespace}-service-accounts`, {
        level: 'workload-high',
        precedence: 900,
        distinguisher: 'ByNamespace',
        rules: [all([inSystem])],
      }),
    ),
    suggested(
      schema('service-accounts', {
        level: 'workload-low',
        precedence: 9_000,
        distinguisher: 'ByUser',
        rules: [all([group('system:serviceaccounts')])],
      }),
    ),
    suggested(schema('global-default', { level: 'global-default', precedence: 9_900, distinguisher: 'ByUser', rules: [all(everybody)] })),
  ]
}

/** The last level whose schemas know elections by Endpoints and ConfigMaps. */
const electionSchemasUntil = 33

function electionSchemas(writer: Writer): BootstrapObject[] {
  const { systemNamespace } = writer.names
  const request = (apiGroup: string, resources: readonly string[]) => ({
    ...{ verbs: ['get', 'create', 'update'], apiGroups: [apiGroup], resources },
    namespaces: ['*'],
  })
  const endpoints = ['endpoint-controller', 'endpointslicemirroring-controller'].map((name) => account(systemNamespace, name))
  return [
    aSchema(writer, 'endpoint-controller', {
      level: 'workload-high',
      precedence: 150,
      distinguisher: 'ByUser',
      rules: [rule([user('system:kube-controller-manager'), ...endpoints], [request('', ['endpoints'])])],
    }),
    aSchema(writer, 'workload-leader-election', {
      level: 'leader-election',
      precedence: 200,
      distinguisher: 'ByUser',
      rules: [
        rule(
          [account(systemNamespace, '*')],
          [request('', ['endpoints', 'configmaps']), request(domainGroup(writer.names, 'coordination'), ['leases'])],
        ),
      ],
    }),
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

/** The spec of a priority level in the version of a release: v1 has nominal shares and lends them. */
function specAt(level: number, { type, limited }: LevelSpec): object {
  if (limited === undefined) return { type }
  const { assuredConcurrencyShares, lendablePercent, limitResponse } = limited
  if (level < settledSince) return { type, limited: { assuredConcurrencyShares, limitResponse } }
  return { type, limited: { nominalConcurrencyShares: assuredConcurrencyShares, lendablePercent, limitResponse } }
}

interface LevelSpec {
  readonly type: string
  readonly limited?: {
    readonly assuredConcurrencyShares: number
    /** Absent in v1beta2. */
    readonly lendablePercent?: number
    readonly limitResponse: object
  }
}

function aSchema(writer: Writer, name: string, { level, precedence, distinguisher, rules }: SchemaOptions): BootstrapObject {
  return aFlowSchema(writer, name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules,
  })
}

function aFlowSchema(writer: Writer, name: string, spec: SchemaSpec): BootstrapObject {
  const condition = { ...danglingOf(spec.priorityLevelConfiguration.name, true), lastTransitionTime: writer.now }
  const statusManager = writer.names.flowControlConsumer
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
