import type { Attributes } from '@orch/core/contracts'
import { hasMembers } from '@orch/core/json'
import { internal, type StatusError } from '@orch/core/meta'
import { matchesLabels } from '@orch/core/selectors'
import type { Criteria, ReadSelector, WebhookRule } from './criteria.ts'
import type { Equivalents, RequestVersion } from './equivalents.ts'

/** The labels of a namespace, or the reason why they are unknown. */
export type NamespaceLabels =
  | { readonly kind: 'labels'; readonly labels: Readonly<Record<string, string>> }
  | { readonly kind: 'unknown'; readonly error: StatusError }

/** The inputs of matching besides the request. */
export interface MatchNeeds {
  readonly equivalents: Equivalents
  labelsOf(namespace: string): Promise<NamespaceLabels>
}

/** Decides if a webhook is called, and returns the version of the request for it. */
export type Match =
  | { readonly kind: 'called'; readonly asVersion: RequestVersion }
  | { readonly kind: 'passed over' }
  /** The call is possible, but cannot be decided yet. */
  | { readonly kind: 'undecided'; readonly error: StatusError }

const passedOver: Match = { kind: 'passed over' }

/** Cheap checks come first, as most requests match no rule. */
export async function matchWebhook(webhook: Criteria, attributes: Attributes, needs: MatchNeeds): Promise<Match> {
  const asVersion = versionFor(webhook, attributes, needs.equivalents)
  if (asVersion === undefined) return passedOver
  return (await matchSelectors(webhook, attributes, needs)) ?? { kind: 'called', asVersion }
}

/** The reason why the selectors exclude a request or cannot decide; undefined if they match. */
export async function matchSelectors(
  { objectSelector, namespaceSelector }: Pick<Criteria, 'objectSelector' | 'namespaceSelector'>,
  attributes: Attributes,
  needs: MatchNeeds,
): Promise<Match | undefined> {
  return matchObject(objectSelector, attributes) ?? (await matchNamespace(namespaceSelector, attributes, needs))
}

/** The version of the request for the webhook; undefined if no rule matches. */
export function versionFor(
  webhook: Pick<Criteria, 'rules' | 'isEquivalentMatched'>,
  attributes: Attributes,
  equivalents: Equivalents,
): RequestVersion | undefined {
  const { operation } = attributes
  const isNamespaced = attributes.namespace !== '' && !isOfNamespace(attributes)
  const { group, version, resource, subresource } = attributes
  const subject = { operation, isNamespaced, group, version, resource, subresource }
  if (webhook.rules.some((rule) => matchesRule(rule, subject))) return equivalents.own(attributes)
  if (!webhook.isEquivalentMatched) return undefined
  for (const rule of webhook.rules) {
    const other = equivalents.others(attributes).find((asVersion) => matchesRule(rule, { operation, isNamespaced, ...asVersion }))
    if (other !== undefined) return other
  }
  return undefined
}

/** The attributes that rules compare. */
export interface RuleSubject {
  readonly operation: string
  readonly group: string
  readonly version: string
  readonly resource: string
  /** '' for the resource itself. */
  readonly subresource: string
  /** A subresource has the scope of its parent; a Namespace has no namespace. */
  readonly isNamespaced: boolean
}

/** True if one rule matches a request. */
export function matchesRule({ operations, groups, versions, resources, scope }: WebhookRule, subject: RuleSubject): boolean {
  return (
    includes(operations, subject.operation) &&
    includes(groups, subject.group) &&
    includes(versions, subject.version) &&
    resources.some((pattern) => matchesResource(pattern, subject)) &&
    (scope === '*' || (scope === 'Namespaced') === subject.isNamespaced)
  )
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

/** `pods/*` includes all subresources of pods, and pods themselves. */
function matchesResource(pattern: string, { resource, subresource }: RuleSubject): boolean {
  const slash = pattern.indexOf('/')
  const wanted = slash === -1 ? pattern : pattern.slice(0, slash)
  const part = slash === -1 ? '' : pattern.slice(slash + 1)
  return (wanted === '*' || wanted === resource) && (part === '*' || part === subresource)
}

/** A request for a Namespace or its subresource. */
export function isOfNamespace({ group, resource }: Attributes): boolean {
  return group === '' && resource === 'namespaces'
}

/** The new or the old object must match; an absent object, or one without labels, does not. */
function matchObject(selector: ReadSelector, { object, oldObject }: Attributes): Match | undefined {
  if (selector.kind !== 'some') return matchAny(selector)
  const carries = (value: unknown) => {
    const metadata = metadataOf(value)
    return metadata !== undefined && matchesLabels(selector.requirements, metadata.labels)
  }
  return carries(object) || carries(oldObject) ? undefined : passedOver
}

/** The match of a selector that needs no labels. */
function matchAny(selector: Exclude<ReadSelector, { kind: 'some' }>): Match | undefined {
  return selector.kind === 'all' ? undefined : { kind: 'undecided', error: internal(selector.message) }
}

function metadataOf(object: unknown): { readonly labels?: Readonly<Record<string, string>> } | undefined {
  const metadata = hasMembers(object) ? object['metadata'] : undefined
  return hasMembers(metadata) ? metadata : undefined
}

/** A cluster-scoped object other than a Namespace is never excluded. */
async function matchNamespace(selector: ReadSelector, attributes: Attributes, { labelsOf }: MatchNeeds): Promise<Match | undefined> {
  const isNamespace = isOfNamespace(attributes)
  if (attributes.namespace === '' && !isNamespace) return undefined
  if (selector.kind !== 'some') return matchAny(selector)
  const found = isNamespace ? await namespaceLabels(attributes, labelsOf) : await labelsOf(attributes.namespace)
  if (found.kind === 'unknown') return { kind: 'undecided', error: found.error }
  return matchesLabels(selector.requirements, found.labels) ? undefined : passedOver
}

/** A Namespace in a write has its new labels, and in a deletion its current ones. */
async function namespaceLabels(attributes: Attributes, labelsOf: MatchNeeds['labelsOf']): Promise<NamespaceLabels> {
  const { operation, subresource, object, oldObject, name } = attributes
  if (subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return toLabels(object)
  return metadataOf(oldObject) === undefined ? labelsOf(name) : toLabels(oldObject)
}

function toLabels(object: unknown): NamespaceLabels {
  return { kind: 'labels', labels: metadataOf(object)?.labels ?? {} }
}
