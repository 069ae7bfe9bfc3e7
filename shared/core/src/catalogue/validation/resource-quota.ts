import { list, ref } from '../../description/values.ts'
import { checkQualifiedName, type FieldError } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidResourceName, invalidTexts, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { countedResources, validateAmountOf } from './pod/resources.ts'

const scopes: ReadonlySet<string> = new Set([
  ...['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating'],
  'VolumeAttributesClass',
])
const volumeScopeSince = 33
/** Scopes without values: the selector can only test that the scope applies. */
const plainScopes = new Set(['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'Terminating'])
const contradictions = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

/** Unprefixed resources with quotas, besides huge pages. */
const measured = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.ephemeral-storage', 'requests.storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
])

/** Unprefixed resources that scopes apply to, which are those that Pods use. */
const scoped: ReadonlySet<string> = new Set(['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

/** Scopes that apply to other resources. */
const scopedBy: Readonly<Record<string, ReadonlySet<string>>> = {
  BestEffort: new Set(['pods']),
  VolumeAttributesClass: new Set(['persistentvolumeclaims', 'requests.storage']),
}

/** The rules of a ResourceQuota's spec. Scopes are immutable because they decide what is counted; a scope selector may change. */
export function validateResourceQuotaSpec(quota: Part, live: Part | undefined, _names: Names, { body, level }: RuleContext): FieldError[] {
  const spec = partOf(quota, 'spec')
  const limited = Object.keys(partOf(spec, 'hard'))
  return [
    ...validateAmounts(partOf(spec, 'hard'), 'spec.hard', partOf(partOf(partOf({ body }, 'body'), 'spec'), 'hard')),
    ...validateScopes(itemsOf<string>(spec, 'scopes'), limited, level),
    ...validateSelector(spec, limited, level),
    ...(live === undefined ? [] : validateScopeChange(spec, partOf(live, 'spec'))),
  ]
}

/** The rules of a ResourceQuota's status. */
export function validateResourceQuotaStatus(quota: Part, _live: Part | undefined, _names: Names, { body }: RuleContext): FieldError[] {
  const [status, given] = [partOf(quota, 'status'), partOf(partOf({ body }, 'body'), 'status')]
  return ['hard', 'used'].flatMap((name) => validateAmounts(partOf(status, name), `status.${name}`, partOf(given, name)))
}

/** Amounts are validated in their stored form, and messages show the given form. */
function validateAmounts(amounts: Part, path: string, given: Part): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`
    return [...validateName(name, at), ...validateAmountOf(name, String(amount), at, String(given[name] ?? amount))]
  })
}

function validateName(name: string, at: string): FieldError[] {
  const problems = [...checkQualifiedName(name)]
  if (!name.includes('/') && !isKnown(name)) {
    if (problems.length === 0 && name !== 'storage') problems.push('must be a standard resource type or fully qualified')
    problems.push('must be a standard resource for quota')
  }
  return problems.map((problem) => invalidResourceName(at, name, problem))
}

function isKnown(name: string): boolean {
  return countedResources.has(name) || measured.has(name) || /^(requests\.)?hugepages-/.test(name)
}

function validateScopes(given: readonly string[], limited: readonly string[], level: number): FieldError[] {
  const refuse = (detail: string): FieldError => invalidTexts('spec.scopes', given, detail, list(ref('core/v1.ResourceQuotaScope')))
  const errors = given.flatMap((scope) =>
    isScope(scope, level)
      ? limited.filter((name) => !isUsable(scope, name)).map(() => refuse('unsupported scope applied to resource'))
      : [refuse('unsupported scope')],
  )
  return [...errors, ...contradictionsIn(given).map(() => refuse('conflicting scopes'))]
}

function isScope(scope: string, level: number): boolean {
  return scopes.has(scope) && (scope !== 'VolumeAttributesClass' || level >= volumeScopeSince)
}

/** Like kube-apiserver, reports the list and not its item. */
function validateSelector(spec: Part, limited: readonly string[], level: number): FieldError[] {
  const at = 'spec.scopeSelector.matchExpressions'
  const selector = optionalPart(spec, 'scopeSelector')
  const terms = itemsOf(selector, 'matchExpressions')
  const errors = terms.flatMap((term) => {
    const scope = textOf(term, 'scopeName')
    // A quota with a scope may only list resources to which the scope applies: others would never be counted.
    const unused = isScope(scope, level) ? limited.filter((name) => !isUsable(scope, name)) : []
    return [
      ...(isScope(scope, level) ? [] : [invalidValue(`${at}.scopeName`, scope, 'unsupported scope')]),
      ...unused.map(() => invalidValue(at, goValue(ref('core/v1.ScopeSelector'), selector), 'unsupported scope applied to resource')),
      ...validateTerm(term, at),
    ]
  })
  const given = itemsOf<string>(spec, 'scopes')
  const conflicts = contradictionsIn(terms.map((term) => textOf(term, 'scopeName')))
  return [...errors, ...conflicts.map(() => invalidTexts(at, given, 'conflicting scopes', list(ref('core/v1.ResourceQuotaScope'))))]
}

/** True if a scope applies to a resource. Pods in the scope BestEffort request no measured resource. Non-standard resources always pass. */
function isUsable(scope: string, name: string): boolean {
  return !isKnown(name) || (scopedBy[scope] ?? scoped).has(name)
}

function contradictionsIn(given: readonly string[]): readonly unknown[] {
  return contradictions.filter((pair) => pair.every((scope) => given.includes(scope)))
}

const plainScopeRule =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, " +
  'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'

function validateTerm(term: Part, at: string): FieldError[] {
  const operator = textOf(term, 'operator')
  const values = itemsOf<string>(term, 'values')
  const isPlain = plainScopes.has(textOf(term, 'scopeName'))
  const errors = isPlain && operator !== 'Exists' ? [invalidValue(`${at}.operator`, operator, plainScopeRule)] : []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return errors
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    return [...errors, requiredValue(`${at}.values`, detail)]
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return errors
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    return [...errors, invalidTexts(`${at}.values`, values, detail)]
  }
  return [...errors, invalidValue(`${at}.operator`, operator, 'not a valid selector operator')]
}

function validateScopeChange(spec: Part, live: Part): FieldError[] {
  const [after, before] = [itemsOf<string>(spec, 'scopes'), itemsOf<string>(live, 'scopes')]
  const [wanted, known] = [new Set(after), new Set(before)]
  const isChanged = wanted.size !== known.size || after.some((scope) => !known.has(scope))
  return isChanged ? [invalidTexts('spec.scopes', after, 'field is immutable', list(ref('core/v1.ResourceQuotaScope')))] : []
}
