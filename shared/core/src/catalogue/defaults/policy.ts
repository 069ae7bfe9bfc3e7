import type { Defaulter } from '../../kind/define-resource.ts'
import { child, children, type Draft, ensureChild, fill, fillEmpty } from '../../kind/draft.ts'
import { domainGroup, domainLabel, type Names } from '../../names.ts'
import { printBase64 } from '../../protobuf/base64.ts'
import { roundAmounts } from './round-amounts.ts'

/** Sets the label with the namespace's name: webhooks, policies and network policies select by it, so writers cannot change it. */
export function fillNamespace(namespace: Draft, names: Names): void {
  const metadata = ensureChild(namespace, 'metadata')
  const { name } = metadata
  if (typeof name === 'string' && name !== '') ensureChild(metadata, 'labels')[domainLabel(names, 'metadata.name')] = name
  fill(ensureChild(namespace, 'status'), { phase: 'Active' })
}

/** Moves text values to bytes, replacing bytes under the same keys. */
export function fillSecret(secret: Draft): void {
  fill(secret, { type: 'Opaque' })
  const texts = child(secret, 'stringData')
  delete secret['stringData']
  if (texts === undefined) return
  const data = ensureChild(secret, 'data')
  for (const [key, text] of Object.entries(texts)) data[key] = printBase64(new TextEncoder().encode(String(text)))
}

/** For containers, the default limit is `max`, and the default request is the default limit. */
export function fillResourceQuota(quota: Draft): void {
  roundAmounts(child(quota, 'spec'), 'hard')
  for (const name of ['hard', 'used']) roundAmounts(child(quota, 'status'), name)
}

export function fillLimitRange(range: Draft): void {
  for (const item of children(child(range, 'spec'), 'limits')) {
    for (const bound of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']) roundAmounts(item, bound)
    if (item['type'] !== 'Container') continue
    const given = { ...child(item, 'max'), ...child(item, 'default') }
    const asked = { ...child(item, 'min'), ...given, ...child(item, 'defaultRequest') }
    if (Object.keys(given).length > 0) item['default'] = given
    if (Object.keys(asked).length > 0) item['defaultRequest'] = asked
  }
}

export function fillPriorityClass(priorityClass: Draft): void {
  fill(priorityClass, { preemptionPolicy: 'PreemptLowerPriority' })
}

export function fillMutatingWebhooks(configuration: Draft): void {
  for (const webhook of children(configuration, 'webhooks')) {
    fillWebhook(webhook)
    fill(webhook, { reinvocationPolicy: 'Never' })
  }
}

export function fillValidatingWebhooks(configuration: Draft): void {
  for (const webhook of children(configuration, 'webhooks')) fillWebhook(webhook)
}

function fillWebhook(webhook: Draft): void {
  fill(webhook, { failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 })
  fill(child(child(webhook, 'clientConfig'), 'service'), { port: 443 })
  for (const rule of children(webhook, 'rules')) fill(rule, { scope: '*' })
}

/** The defaults of a policy. */
export function fillAdmissionPolicy(policy: Draft): void {
  const spec = ensureChild(policy, 'spec')
  fill(spec, { failurePolicy: 'Fail' })
  fillMatchResources(child(spec, 'matchConstraints'))
}

/** The defaults of a binding. */
export function fillPolicyBinding(binding: Draft): void {
  fillMatchResources(child(child(binding, 'spec'), 'matchResources'))
}

function fillMatchResources(resources: Draft | undefined): void {
  if (resources === undefined) return
  fill(resources, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} })
  for (const rule of [...children(resources, 'resourceRules'), ...children(resources, 'excludeResourceRules')]) fill(rule, { scope: '*' })
}

/** Fills in the group of a reference to a role. */
export function fillRoleBinding(binding: Draft, names: Names): void {
  const group = domainGroup(names, 'rbac.authorization')
  fillEmpty(child(binding, 'roleRef'), { apiGroup: group })
  for (const subject of children(binding, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') fillEmpty(subject, { apiGroup: group })
  }
}

export function fillFlowSchema(schema: Draft): void {
  const spec = ensureChild(schema, 'spec')
  if (spec['matchingPrecedence'] === 0) delete spec['matchingPrecedence']
  fill(spec, { matchingPrecedence: 1000 })
}

/** The first levels with shares that are lent, and with shares of exempt levels. */
const [lendingSince, exemptSince] = [26, 28]

/** The defaults of v1beta1 and v1beta2, which have another name for the shares. */
export const fillPriorityLevel: Defaulter = (object, _names, _isGateOn, level) => fillShares(object, 'assuredConcurrencyShares', level)

function fillQueuing(limited: Draft): void {
  const queuing = child(child(limited, 'limitResponse'), 'queuing')
  for (const [name, value] of Object.entries({ queues: 64, handSize: 8, queueLengthLimit: 50 })) {
    if (queuing !== undefined && !queuing[name]) queuing[name] = value
  }
}

/** The defaults of v1beta3, where zero shares mean the default. */
export const fillNominalPriorityLevel: Defaulter = (object, _names, _isGateOn, level) => fillShares(object, nominal, level)

/** The defaults of v1, where a level may have zero shares. */
export const fillPriorityLevelShares: Defaulter = (object, _names, _isGateOn, level) => fillShares(object, nominal, level, true)

const nominal = 'nominalConcurrencyShares'

function fillShares(object: Draft, shares: string, level: number, mayBeZero = false): void {
  const spec = child(object, 'spec')
  if (spec?.['type'] === 'Exempt' && level >= exemptSince) fill(ensureChild(spec, 'exempt'), { [nominal]: 0, lendablePercent: 0 })
  const limited = child(spec, 'limited')
  if (limited === undefined) return
  if (limited[shares] === 0 && !mayBeZero) delete limited[shares]
  fill(limited, level < lendingSince ? { [shares]: 30 } : { [shares]: 30, lendablePercent: 0 })
  fillQueuing(limited)
}

export function fillCustomResourceDefinition(definition: Draft): void {
  const spec = ensureChild(definition, 'spec')
  const kindNames = ensureChild(spec, 'names')
  const kind = typeof kindNames['kind'] === 'string' ? kindNames['kind'] : ''
  if (kind !== '') fillEmpty(kindNames, { singular: kind.toLowerCase(), listKind: `${kind}List` })
  fill(spec, { conversion: { strategy: 'None' } })
  fill(child(child(child(child(spec, 'conversion'), 'webhook'), 'clientConfig'), 'service'), { port: 443 })
}

export function fillApiService(service: Draft): void {
  fill(child(child(service, 'spec'), 'service'), { port: 443 })
}

export function fillTokenRequest(request: Draft): void {
  fill(ensureChild(request, 'spec'), { expirationSeconds: 3600 })
}
