import { ref } from '../../../description/values.ts'
import { checkLabel, checkLabelValue, type FieldError, joinTexts } from '../../../meta/index.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { validateLabelKey, validateNodeSelectorTerm } from '../../../validation/selector.ts'
import { allowOneOf, isGiven, onceForShared } from '../checks.ts'
import { numberProblem } from '../whole-number.ts'

/** Node affinity, Pod affinity and topology spread constraints. */
export const schedulingRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.NodeSelector': [{ passedOver: ['nodeSelectorTerms'] }, validateTerms],
  'core/v1.NodeSelectorTerm': [(errors, term, at) => void errors.push(...validateNodeSelectorTerm(term, at))],
  'core/v1.PodAffinityTerm': ['labelSelector', 'namespaceSelector', validateNamespaces, validateMergedKeys, 'topologyKey'],
  'core/v1.Toleration': [onceForShared(validateToleration)],
  'core/v1.TopologySpreadConstraint': [
    ...['maxSkew', 'topologyKey', 'whenUnsatisfiable', 'minDomains'],
    validateMinDomains,
    ...['nodeAffinityPolicy', 'nodeTaintsPolicy'],
    validateSpreadKeys,
    'labelSelector',
  ],
}

/** The first level at which kube-apiserver is known to check the values of required node terms. */
const valuesSince = 34

/** Values that are no valid label values are allowed if the live object has any such value. */
function validateTerms(errors: FieldError[], selector: Part, at: string, context: RuleContext): void {
  const terms = itemsOf(selector, 'nodeSelectorTerms')
  if (terms.length === 0) errors.push(requiredValue(`${at}.nodeSelectorTerms`, 'must have at least one node selector term'))
  const before = itemsOf(liveAt(context, at), 'nodeSelectorTerms').flatMap((term) => itemsOf(term, 'matchExpressions'))
  const areKept = before.some((one) => itemsOf<string>(one, 'values').some((value) => checkLabelValue(value).length > 0))
  const checksValues = context.level >= valuesSince && !areKept
  for (const [index, term] of terms.entries()) {
    errors.push(...validateNodeSelectorTerm(term, `${at}.nodeSelectorTerms[${index}]`, checksValues))
  }
}

/** Like kube-apiserver, reports the absent field `namespace`. */
function validateNamespaces(errors: FieldError[], term: Part, at: string): void {
  for (const namespace of itemsOf<string>(term, 'namespaces')) {
    for (const problem of checkLabel(namespace)) errors.push(invalidValue(`${at}.namespace`, namespace, problem))
  }
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** The first level that knows the numeric operators, by name even while their feature is off. */
const numbersSince = 35

function validateToleration(errors: FieldError[], toleration: Part, at: string, context: RuleContext): void {
  const [key, operator, effect] = [textOf(toleration, 'key'), textOf(toleration, 'operator'), textOf(toleration, 'effect')]
  if (key !== '') errors.push(...validateLabelKey(key, `${at}.key`))
  else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalidValue(`${at}.operator`, operator, detail))
  }
  if (isGiven(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    errors.push(invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
  }
  validateTolerationValue(errors, toleration, at, context)
  if (effect !== '') allowOneOf(errors, { part: toleration, name: 'effect', at }, effects)
}

/** The first level whose message shows only the value. */
const valuesShownSince = 32

function validateTolerationValue(errors: FieldError[], toleration: Part, at: string, context: RuleContext): void {
  const [operator, value] = [textOf(toleration, 'operator'), textOf(toleration, 'value')]
  const path = `${at}.operator`
  if (operator === 'Exists') {
    const shown = context.level < valuesShownSince ? goValue(ref('core/v1.Toleration'), toleration) : value
    if (value !== '') errors.push(invalidValue(path, shown, "value must be empty when `operator` is 'Exists'"))
  } else if (operator === 'Equal' || operator === '') {
    const problems = checkLabelValue(value)
    if (problems.length > 0) errors.push(invalidValue(path, value, joinTexts(problems, ';')))
  } else {
    const isOfNumbers = context.level >= numbersSince && numeric.includes(operator)
    if (isOfNumbers && comparesNumbers(at, context)) validateNumber(errors, value, `${at}.value`)
    else errors.push(unsupportedValue(path, operator, ['Equal', 'Exists', ...(isOfNumbers ? numeric : [])]))
  }
}

const numeric = ['Lt', 'Gt']

function validateNumber(errors: FieldError[], value: string, path: string): void {
  const isCanonical = /^(0|-?[1-9]\d*)$/.test(value)
  if (!isCanonical)
    errors.push(invalidValue(path, value, value === '' ? 'must be non-empty' : 'must be a valid decimal integer in canonical form'))
  const problem = numberProblem(value)
  if (problem !== undefined) errors.push(invalidValue(path, value, problem))
}

/** Numeric operators need their feature, unless the live object has one at the same place. */
function comparesNumbers(at: string, context: RuleContext): boolean {
  if (context.isGateOn('TaintTolerationComparisonOperators')) return true
  const before = itemsOf(liveAt(context, at.replace(/\.tolerations\[\d+\]$/, '')), 'tolerations')
  return before.some((one) => numeric.includes(textOf(one, 'operator')))
}

/** Two constraints must not have the same topology key and action. */
export function refuseSameSpread(errors: FieldError[], spec: Part, at: string): void {
  const pairs = itemsOf(spec, 'topologySpreadConstraints').map(
    (constraint) => `{${textOf(constraint, 'topologyKey')}, ${textOf(constraint, 'whenUnsatisfiable')}}`,
  )
  const lastOf = new Map(pairs.map((pair, index) => [pair, index]))
  for (const [index, pair] of pairs.entries()) {
    if (lastOf.get(pair) === index) continue
    errors.push(duplicateValue(`${at}.topologySpreadConstraints[${index}].{topologyKey, whenUnsatisfiable}`, pair))
  }
}

function validateMinDomains(errors: FieldError[], constraint: Part, at: string): void {
  const action = textOf(constraint, 'whenUnsatisfiable')
  if (action === 'DoNotSchedule' || !isGiven(constraint, 'minDomains')) return
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
  errors.push(invalidValue(`${at}.minDomains`, constraint['minDomains'], detail))
}

const inSelector = 'exists in both matchLabelKeys and labelSelector'

/** Validates the keys of an affinity term. On create, the Pod's labels with these keys were merged into its selector. */
function validateMergedKeys(errors: FieldError[], term: Part, at: string): void {
  const [keys, otherKeys] = [itemsOf<string>(term, 'matchLabelKeys'), itemsOf<string>(term, 'mismatchLabelKeys')]
  if (keys.length + otherKeys.length === 0) return
  const selector = optionalPart(term, 'labelSelector')
  for (const name of ['matchLabelKeys', 'mismatchLabelKeys']) validateKeys(errors, term, `${at}.${name}`, itemsOf<string>(term, name))
  const taken = new Set<unknown>(Object.keys(partOf(selector, 'matchLabels')))
  const places = new Map(keys.map((key, index) => [key, index]))
  for (const { key } of itemsOf(selector, 'matchExpressions')) {
    // A key that occurs twice in the selector was there before the merge. Like kube-apiserver, reports the key's index in the term.
    const index = places.get(String(key))
    if (index !== undefined && taken.has(key)) errors.push(invalidValue(`${at}[${index}]`, key, inSelector))
    taken.add(key)
  }
  const others = new Set(otherKeys)
  for (const [index, key] of keys.entries()) {
    if (!others.has(key)) continue
    errors.push(invalidValue(`${at}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'))
  }
}

function validateKeys(errors: FieldError[], term: Part, path: string, keys: readonly string[]): void {
  if (keys.length === 0) return
  if (optionalPart(term, 'labelSelector') === undefined) errors.push(forbiddenValue(path, noSelector))
  else for (const [index, key] of keys.entries()) errors.push(...validateLabelKey(key, `${path}[${index}]`))
}

const noSelector = 'must not be specified when labelSelector is not set'

/** The first level that merges the keys of spread constraints: the gate MatchLabelKeysInPodTopologySpreadSelectorMerge. */
const spreadMergedSince = 34

function validateSpreadKeys(errors: FieldError[], constraint: Part, at: string, { level }: RuleContext): void {
  if (itemsOf(constraint, 'matchLabelKeys').length === 0) return
  if (level >= spreadMergedSince) validateMergedKeys(errors, constraint, at)
  else validateUnmergedKeys(errors, constraint, at)
}

/** Keys that the scheduler merges must not be in the selector. */
function validateUnmergedKeys(errors: FieldError[], constraint: Part, at: string): void {
  const [keys, path] = [itemsOf<string>(constraint, 'matchLabelKeys'), `${at}.matchLabelKeys`]
  const selector = optionalPart(constraint, 'labelSelector')
  if (selector === undefined) {
    errors.push(forbiddenValue(path, noSelector))
    return
  }
  const taken = new Set([
    ...Object.keys(partOf(selector, 'matchLabels')),
    ...itemsOf(selector, 'matchExpressions').map((term) => term['key']),
  ])
  for (const [index, key] of keys.entries()) {
    errors.push(...validateLabelKey(key, `${path}[${index}]`))
    if (taken.has(key)) errors.push(invalidValue(`${path}[${index}]`, key, inSelector))
  }
}
