import { list, ref } from '../../description/define.ts'
import type { Node } from '../../description/node.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035 } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { duplicateValue, invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { validateQualifiedDomain } from '../../validation/texts.ts'
import { validateClientConfig } from '../../validation/webhook-client.ts'
import { wordErrors } from './checks.ts'
import { validateMatchConditions } from './match-conditions.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
/** The former values that configurations from before v1 may keep. */
const formerSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']
const secondsMax = 30

/** The values that a stored configuration may keep, so that its other fields can still be changed. */
interface Tolerance {
  readonly sideEffects: boolean
  readonly reviewVersions: boolean
  readonly sameNames: boolean
}

/** The rules of both kinds of webhook configurations; `live` may be of a time when there were fewer. */
export function validateWebhookConfiguration(
  configuration: Part,
  live: Part | undefined,
  _names: Names,
  { level }: { readonly level: number },
): FieldError[] {
  const stored = live === undefined ? [] : itemsOf(live, 'webhooks')
  const tolerated = toleranceFor(stored)
  const conditions = new Set(stored.flatMap((webhook) => itemsOf(webhook, 'matchConditions').map((one) => textOf(one, 'expression'))))
  const seen = new Set<string>()
  return itemsOf(configuration, 'webhooks').flatMap((webhook, index) => {
    const at = `webhooks[${index}]`
    const name = textOf(webhook, 'name')
    const errors = [
      ...validateWebhook(webhook, at, tolerated),
      ...validateReviewVersions(itemsOf<string>(webhook, 'admissionReviewVersions'), `${at}.admissionReviewVersions`, tolerated),
      ...validateMatchConditions(webhook, `${at}.matchConditions`, { hasParams: false, stored: conditions, level }),
    ]
    if (!tolerated.sameNames && name !== '' && seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    seen.add(name)
    return errors
  })
}

function toleranceFor(stored: readonly Part[]): Tolerance {
  const names = stored.map((webhook) => textOf(webhook, 'name')).filter((name) => name !== '')
  return {
    sideEffects: stored.some((webhook) => !sideEffects.includes(textOf(webhook, 'sideEffects'))),
    reviewVersions: stored.some((webhook) => !itemsOf<string>(webhook, 'admissionReviewVersions').some(isKnownVersion)),
    sameNames: new Set(names).size < names.length,
  }
}

function isKnownVersion(version: string): boolean {
  return reviewVersions.includes(version)
}

function validateWebhook(webhook: Part, at: string, tolerated: Tolerance): FieldError[] {
  return [
    ...validateQualifiedDomain(textOf(webhook, 'name'), `${at}.name`),
    ...itemsOf(webhook, 'rules').flatMap((rule, index) => validateAdmissionRule(rule, `${at}.rules[${index}]`)),
    ...oneOf(webhook, 'failurePolicy', ['Fail', 'Ignore'], at),
    ...oneOf(webhook, 'matchPolicy', ['Equivalent', 'Exact'], at),
    ...validateSideEffects(webhook, at, tolerated.sideEffects ? formerSideEffects : sideEffects),
    ...validateTimeout(webhook['timeoutSeconds'], `${at}.timeoutSeconds`),
    ...validateLabelSelector(optionalPart(webhook, 'namespaceSelector'), `${at}.namespaceSelector`),
    ...validateLabelSelector(optionalPart(webhook, 'objectSelector'), `${at}.objectSelector`),
    ...oneOf(webhook, 'reinvocationPolicy', ['IfNeeded', 'Never'], at),
    ...validateClientConfig(partOf(webhook, 'clientConfig'), `${at}.clientConfig`),
  ]
}

function oneOf(parent: Part, name: string, allowed: readonly string[], at: string): FieldError[] {
  return parent[name] == null ? [] : wordErrors(`${at}.${name}`, parent[name], allowed)
}

function validateSideEffects(webhook: Part, at: string, known: readonly string[]): FieldError[] {
  return wordErrors(`${at}.sideEffects`, webhook['sideEffects'], known, `must specify one of ${known.join(', ')}`)
}

function validateTimeout(seconds: unknown, field: string): FieldError[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= secondsMax)) return []
  return [invalidValue(field, seconds, `the timeout value must be between 1 and ${secondsMax} seconds`)]
}

/** Operations, groups, versions, resources and scope of a rule. */
export function validateAdmissionRule(rule: Part, at: string): FieldError[] {
  const groups = itemsOf<string>(rule, 'apiGroups')
  const versions = itemsOf<string>(rule, 'apiVersions')
  const given = itemsOf<string>(rule, 'operations')
  return [
    ...validateWithWildcard(given, `${at}.operations`, 'operations', list(ref('admissionregistration/v1.OperationType'))),
    ...given.flatMap((operation, index) =>
      operations.includes(operation) ? [] : [unsupportedValue(`${at}.operations[${index}]`, operation, operations)],
    ),
    ...validateWithWildcard(groups, `${at}.apiGroups`, 'API groups'),
    ...validateWithWildcard(versions, `${at}.apiVersions`, 'API versions'),
    ...versions.flatMap((version, index) => (version === '' ? [requiredValue(`${at}.apiVersions[${index}]`)] : [])),
    ...validateResources(itemsOf<string>(rule, 'resources'), `${at}.resources`),
    ...oneOf(rule, 'scope', scopes, at),
  ]
}

/** `*` matches everything, so nothing may be beside it. */
function validateWithWildcard(list: readonly string[], field: string, what: string, type?: Node): FieldError[] {
  if (list.length === 0) return [requiredValue(field)]
  const isTooMuch = list.length > 1 && list.includes('*')
  return isTooMuch ? [invalidTexts(field, list, `if '*' is present, must not specify other ${what}`, type)] : []
}

function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [requiredValue(field)]
  const errors: FieldError[] = []
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let isLastWhole = false
  for (const [index, text] of resources.entries()) {
    if (text === '') errors.push(requiredValue(`${field}[${index}]`))
    const slash = text.indexOf('/')
    if (slash === -1) {
      if (text !== '') isLastWhole = text !== '*'
      continue
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    const refuse = (wildcard: string): number =>
      errors.push(invalidValue(`${field}[${index}]`, text, `if '${wildcard}' is present, must not specify ${text}`))
    if (wholeResources.has(resource)) refuse(`${resource}/*`)
    if (wholeSubresources.has(subresource)) refuse(`*/${subresource}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidTexts(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  // As in kube-apiserver, `*` may follow whole resources, but not precede them.
  if (resources.includes('*') && isLastWhole) {
    errors.push(invalidTexts(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

function validateReviewVersions(versions: readonly string[], field: string, tolerated: Tolerance): FieldError[] {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) return [requiredValue(field, `must specify one of ${known}`)]
  const repeated = repeatedPlaces(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index)
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : invalidFor(`${field}[${index}]`, version, checkLabel1035(version)),
  )
  if (!tolerated.reviewVersions && !versions.some(isKnownVersion)) {
    errors.push(invalidTexts(field, versions, `must include at least one of ${known}`))
  }
  return errors
}
