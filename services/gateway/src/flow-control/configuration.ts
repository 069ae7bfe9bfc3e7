import { isJsonObject } from '@orch/core/json'
import { type LimitShare, shareOf } from '../server/limit-share.ts'

/** The relevant contents of FlowSchemas and PriorityLevelConfigurations. */
export interface FlowSchema {
  readonly name: string
  readonly uid: string
  readonly priorityLevel: string
  /** Lowest first; equal ones are ordered by name. */
  readonly precedence: number
  readonly distinguisher: 'ByUser' | 'ByNamespace' | 'none'
  readonly rules: readonly FlowRule[]
}

export interface FlowRule {
  readonly subjects: readonly FlowSubject[]
  readonly resourceRules: readonly FlowResourceRule[]
  readonly nonResourceRules: readonly FlowPathRule[]
}

export type FlowSubject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string }

export interface FlowResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  /** `pods`, `pods/status`, `*`. */
  readonly resources: readonly string[]
  /** True if the rule matches requests without a namespace. */
  readonly clusterScope: boolean
  readonly namespaces: readonly string[]
}

interface FlowPathRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

export interface PriorityLevel {
  readonly name: string
  readonly uid: string
  readonly kind: PriorityLevelKind
}

type PriorityLevelKind =
  /** True if it has no limits. */
  { readonly kind: 'exempt' } | { readonly kind: 'limited'; readonly shares: number; readonly whenFull: WhenFull }

export type WhenFull =
  | { readonly kind: 'reject' }
  | { readonly kind: 'queue'; readonly queues: number; readonly handSize: number; readonly queueLengthMax: number }

type Json = Readonly<Record<string, unknown>>

/** A FlowSchema from its validated JSON; an absent member gets its default. */
export function parseFlowSchema(object: Json): FlowSchema {
  const metadata = child(object, 'metadata')
  const spec = child(object, 'spec')
  const method = child(spec, 'distinguisherMethod').type
  return {
    name: text(metadata.name),
    uid: text(metadata.uid),
    priorityLevel: text(child(spec, 'priorityLevelConfiguration').name),
    precedence: number(spec.matchingPrecedence, 1000),
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : 'none',
    rules: children(spec.rules).map((rule) => ({
      subjects: children(rule.subjects).flatMap(parseSubject),
      resourceRules: children(rule.resourceRules).map((one) => ({
        verbs: texts(one.verbs),
        apiGroups: texts(one.apiGroups),
        resources: texts(one.resources),
        clusterScope: one.clusterScope === true,
        namespaces: texts(one.namespaces),
      })),
      nonResourceRules: children(rule.nonResourceRules).map((one) => ({
        verbs: texts(one.verbs),
        nonResourceURLs: texts(one.nonResourceURLs),
      })),
    })),
  }
}

function parseSubject(subject: Json): FlowSubject[] {
  switch (subject.kind) {
    case 'User':
      return [{ kind: 'User', name: text(child(subject, 'user').name) }]
    case 'Group':
      return [{ kind: 'Group', name: text(child(subject, 'group').name) }]
    case 'ServiceAccount': {
      const account = child(subject, 'serviceAccount')
      return [{ kind: 'ServiceAccount', namespace: text(account.namespace), name: text(account.name) }]
    }
  }
  return []
}

/** A PriorityLevelConfiguration from its JSON. */
export function parsePriorityLevel(object: Json): PriorityLevel {
  const metadata = child(object, 'metadata')
  const spec = child(object, 'spec')
  const common = { name: text(metadata.name), uid: text(metadata.uid) }
  if (spec.type === 'Exempt') return { ...common, kind: { kind: 'exempt' } }
  const limited = child(spec, 'limited')
  const response = child(limited, 'limitResponse')
  const queuing = child(response, 'queuing')
  const whenFull: WhenFull =
    response.type === 'Queue'
      ? {
          kind: 'queue',
          queues: number(queuing.queues, 64),
          handSize: number(queuing.handSize, 8),
          queueLengthMax: number(queuing.queueLengthLimit, 50),
        }
      : { kind: 'reject' }
  return { ...common, kind: { kind: 'limited', shares: number(limited.assuredConcurrencyShares, 30), whenFull } }
}

/** The level with the share of each queue for one of several gateways, at least one place. */
export function shareOfLevel(level: PriorityLevel, share: LimitShare): PriorityLevel {
  const { kind } = level
  if (share.of === 1 || kind.kind === 'exempt' || kind.whenFull.kind === 'reject') return level
  const queueLengthMax = Math.max(1, shareOf(kind.whenFull.queueLengthMax, share))
  return { ...level, kind: { ...kind, whenFull: { ...kind.whenFull, queueLengthMax } } }
}

function child(object: Json, name: string): Json {
  const value = object[name]
  return isJsonObject(value) ? value : {}
}

function children(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((item): item is Json => typeof item === 'object' && item !== null) : []
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
