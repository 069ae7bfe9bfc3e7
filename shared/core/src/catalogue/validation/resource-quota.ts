import { list, ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkQualifiedName } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { invalidTexts, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { countedResources, validateAmountOf } from './pod/resources.ts'

const operators = ['DoesNotExist', 'Exists', 'In', 'NotIn']
const scopes = ['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating']
/** Scopes that answer yes or no, so that there is nothing to compare with. */
const plainScopes = new Set(['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'Terminating'])
const contradictions = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

/** Resources without a prefix that are measured, beside huge pages. */
const measured = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.ephemeral-storage', 'requests.storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
])

/** The resources without a prefix that scopes cover: those that pods use. */
const scoped = new Set(['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

/** The rules of a ResourceQuota's spec. Scopes decide the counting and are immutable; a scope selector may change. */
export function validateResourceQuotaSpec(quota: Part, live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const { body } = context
  const spec = partOf(quota, 'spec')
  const limited = Object.keys(partOf(spec, 'hard'))
  return [
    ...validateAmounts(partOf(spec, 'hard'), 'spec.hard', partOf(partOf(partOf({ body }, 'body'), 'spec'), 'hard')),
    ...validateScopes(itemsOf<string>(spec, 'scopes'), limited),
    ...validateSelector(optionalPart(spec, 'scopeSelector'), limited, context),
    ...(live === undefined ? [] : validateScopeChange(spec, partOf(live, 'spec'))),
  ]
}

/** The rules of a ResourceQuota's status. */
export function validateResourceQuotaStatus(quota: Part, _live: Part | undefined, _names: Names, { body }: RuleContext): FieldError[] {
  const [status, given] = [partOf(quota, 'status'), partOf(partOf({ body }, 'body'), 'status')]
  return ['hard', 'used'].flatMap((name) => validateAmounts(partOf(status, name), `status.${name}`, partOf(given, name)))
}

/** Amounts are validated in their stored form, and shown in their given form. */
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
  return problems.map((problem) => invalidValue(at, name, problem))
}

function isKnown(name: string): boolean {
  return countedResources.has(name) || measured.has(name) || /^(requests\.)?hugepages-/.test(name)
}

function validateScopes(given: readonly string[], limited: readonly string[]): FieldError[] {
  const refuse = (detail: string): FieldError => invalidTexts('spec.scopes', given, detail, list(ref('core/v1.ResourceQuotaScope')))
  const errors = given.flatMap((scope) =>
    scopes.includes(scope)
      ? limited.filter((name) => !isUsable(scope, name)).map(() => refuse('unsupported scope applied to resource'))
      : [refuse('unsupported scope')],
  )
  return [...errors, ...contradictionsIn(given).map(() => refuse('conflicting scopes'))]
}

function validateSelector(selector: Part | undefined, limited: readonly string[], context: RuleContext): FieldError[] {
  const validate = context.rules.of('core/v1.ScopedResourceSelectorRequirement')
  const path = 'spec.scopeSelector.matchExpressions'
  const terms = itemsOf(selector, 'matchExpressions')
  const errors = terms.flatMap((term, index) => {
    const at = `${path}[${index}]`
    const found: FieldError[] = []
    validate(found, term, at, context)
    return [...found, ...validateUse(textOf(term, 'scopeName'), limited, `${at}.scopeName`)]
  })
  const named = terms.map((term) => textOf(term, 'scopeName'))
  return [...errors, ...contradictionsIn(named).map(() => invalidValue(path, named, 'conflicting scopes'))]
}

/** A quota with a scope counts only pods' resources in it: any other one would never be counted. */
function validateUse(scope: string, limited: readonly string[], at: string): FieldError[] {
  if (!scopes.includes(scope)) return []
  const wrong = limited.filter((name) => !isUsable(scope, name))
  return wrong.map((name) => invalidValue(at, scope, `unsupported scope applied to resource ${name}`))
}

/** Pods in the first scope ask for nothing that could be measured. What is no resource of every cluster is not judged. */
function isUsable(scope: string, name: string): boolean {
  if (!isKnown(name)) return true
  return scope === 'BestEffort' ? name === 'pods' : scoped.has(name)
}

function contradictionsIn(given: readonly string[]): readonly unknown[] {
  return contradictions.filter((pair) => pair.every((scope) => given.includes(scope)))
}

/** A term of a selector of scopes. */
export const scopeTermRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.ScopedResourceSelectorRequirement': ['scopeName', 'operator', validateTerm],
}

function validateTerm(errors: FieldError[], term: Part, at: string): void {
  const scope = textOf(term, 'scopeName')
  const operator = textOf(term, 'operator')
  const values = itemsOf<string>(term, 'values')
  if (plainScopes.has(scope) && operators.includes(operator) && operator !== 'Exists') {
    errors.push(invalidValue(`${at}.operator`, operator, 'must be "Exist" when scope is any of the scopes that take no values'))
  }
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    errors.push(requiredValue(`${at}.values`, 'must be at least one value when `operator` is `In` or `NotIn` for scope selector'))
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    errors.push(invalidValue(`${at}.values`, values, 'must be no value when `operator` is `Exists` or `DoesNotExist` for scope selector'))
  }
}

function validateScopeChange(spec: Part, live: Part): FieldError[] {
  const [after, before] = [itemsOf<string>(spec, 'scopes'), itemsOf<string>(live, 'scopes')]
  const [wanted, known] = [new Set(after), new Set(before)]
  const isChanged = wanted.size !== known.size || after.some((scope) => !known.has(scope))
  return isChanged ? [invalidTexts('spec.scopes', after, 'field is immutable', list(ref('core/v1.ResourceQuotaScope')))] : []
}
