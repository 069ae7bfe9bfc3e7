import { ref } from '../../../description/define.ts'
import { joinTexts } from '../../../meta/level-text.ts'
import type { FieldError } from '../../../meta/status.ts'
import { checkLabel, checkLabelValue } from '../../../meta/validate-names.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { validateLabelKey, validateLabelSelector, validateNodeSelector, validateNodeSelectorTerm } from '../../../validation/selector.ts'
import { allowOneOf, isGiven, numberOf, onceForShared, requireText } from '../checks.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Which nodes a Pod wants, and which other Pods it wants near or far. */
export function validateAffinity(errors: FieldError[], affinity: Part | undefined, path: string): void {
  if (affinity === undefined) return
  const node = optionalPart(affinity, 'nodeAffinity')
  if (node !== undefined) validateNodeAffinity(errors, node, `${path}.nodeAffinity`)
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    const pods = optionalPart(affinity, name)
    if (pods !== undefined) validatePodAffinity(errors, pods, `${path}.${name}`)
  }
}

function validateNodeAffinity(errors: FieldError[], affinity: Part, path: string): void {
  const selector = optionalPart(affinity, required)
  if (selector !== undefined) errors.push(...validateNodeSelector(selector, `${path}.${required}`))
  for (const [index, term] of itemsOf(affinity, preferred).entries()) {
    const at = `${path}.${preferred}[${index}]`
    validateWeight(errors, term, at)
    errors.push(...validateNodeSelectorTerm(partOf(term, 'preference'), `${at}.preference`))
  }
}

function validatePodAffinity(errors: FieldError[], affinity: Part, path: string): void {
  for (const [index, term] of itemsOf(affinity, required).entries()) validatePodTerm(errors, term, `${path}.${required}[${index}]`)
  for (const [index, term] of itemsOf(affinity, preferred).entries()) {
    const at = `${path}.${preferred}[${index}]`
    validateWeight(errors, term, at)
    validatePodTerm(errors, partOf(term, 'podAffinityTerm'), `${at}.podAffinityTerm`)
  }
}

function validateWeight(errors: FieldError[], term: Part, at: string): void {
  const weight = numberOf(term, 'weight') ?? 0
  if (weight < 1 || weight > 100) errors.push(invalidValue(`${at}.weight`, weight, 'must be in the range 1-100'))
}

function validatePodTerm(errors: FieldError[], term: Part, at: string): void {
  for (const name of ['labelSelector', 'namespaceSelector']) {
    errors.push(...validateLabelSelector(optionalPart(term, name), `${at}.${name}`))
  }
  for (const namespace of itemsOf<string>(term, 'namespaces')) {
    for (const problem of checkLabel(namespace)) errors.push(invalidValue(`${at}.namespace`, namespace, problem))
  }
  validateTopologyKey(errors, term, at)
}

function validateTopologyKey(errors: FieldError[], term: Part, at: string): void {
  requireText(errors, { part: term, name: 'topologyKey', at }, 'can not be empty')
  errors.push(...validateLabelKey(textOf(term, 'topologyKey'), `${at}.topologyKey`))
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Which taints of nodes a Pod puts up with. */
export function validateTolerations(errors: FieldError[], tolerations: readonly Part[], path: string): void {
  for (const [index, toleration] of tolerations.entries()) validateToleration(errors, toleration, `${path}[${index}]`)
}

const validateToleration = onceForShared((errors, toleration, at) => {
  const [key, operator, effect] = [textOf(toleration, 'key'), textOf(toleration, 'operator'), textOf(toleration, 'effect')]
  if (key !== '') errors.push(...validateLabelKey(key, `${at}.key`))
  else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalidValue(`${at}.operator`, operator, detail))
  }
  if (isGiven(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    errors.push(invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
  }
  validateTolerationValue(errors, toleration, operator, `${at}.operator`)
  if (effect !== '') allowOneOf(errors, { part: toleration, name: 'effect', at }, effects)
})

function validateTolerationValue(errors: FieldError[], toleration: Part, operator: string, path: string): void {
  const value = textOf(toleration, 'value')
  if (operator === 'Exists') {
    if (value !== '')
      errors.push(invalidValue(path, goValue(ref('core/v1.Toleration'), toleration), "value must be empty when `operator` is 'Exists'"))
  } else if (operator === 'Equal' || operator === '') {
    const problems = checkLabelValue(value)
    if (problems.length > 0) errors.push(invalidValue(path, value, joinTexts(problems, ';')))
  } else errors.push(unsupportedValue(path, operator, ['Equal', 'Exists']))
}

const actions = ['DoNotSchedule', 'ScheduleAnyway']

/** How evenly Pods are spread over a topology. */
export function validateSpread(errors: FieldError[], constraints: readonly Part[], path: string): void {
  const pairs = constraints.map((constraint) => `{${textOf(constraint, 'topologyKey')}, ${textOf(constraint, 'whenUnsatisfiable')}}`)
  const lastOf = new Map(pairs.map((pair, index) => [pair, index]))
  for (const [index, constraint] of constraints.entries()) {
    const at = `${path}[${index}]`
    validatePositive(errors, constraint, 'maxSkew', at)
    requireText(errors, { part: constraint, name: 'topologyKey', at }, 'can not be empty')
    const action = textOf(constraint, 'whenUnsatisfiable')
    if (!actions.includes(action)) errors.push(unsupportedValue(`${at}.whenUnsatisfiable`, action, actions))
    const pair = pairs[index] ?? ''
    if (lastOf.get(pair) !== index) errors.push(duplicateValue(`${at}.{topologyKey, whenUnsatisfiable}`, pair))
    if (isGiven(constraint, 'minDomains')) validateMinDomains(errors, constraint, action, at)
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) allowOneOf(errors, { part: constraint, name, at }, ['Honor', 'Ignore'])
    validateMatchKeys(errors, constraint, at)
    errors.push(...validateLabelSelector(optionalPart(constraint, 'labelSelector'), `${at}.labelSelector`))
  }
}

function validatePositive(errors: FieldError[], part: Part, name: string, at: string): void {
  const value = numberOf(part, name) ?? 0
  if (value <= 0) errors.push(invalidValue(`${at}.${name}`, value, 'must be greater than zero'))
}

function validateMinDomains(errors: FieldError[], constraint: Part, action: string, at: string): void {
  validatePositive(errors, constraint, 'minDomains', at)
  if (action === 'DoNotSchedule') return
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
  errors.push(invalidValue(`${at}.minDomains`, constraint['minDomains'], detail))
}

function validateMatchKeys(errors: FieldError[], constraint: Part, at: string): void {
  const keys = itemsOf<string>(constraint, 'matchLabelKeys')
  if (keys.length === 0) return
  const selector = optionalPart(constraint, 'labelSelector')
  if (selector === undefined) {
    errors.push(forbiddenValue(`${at}.matchLabelKeys`, 'must not be specified when labelSelector is not set'))
    return
  }
  const taken = new Set([
    ...Object.keys(partOf(selector, 'matchLabels')),
    ...itemsOf(selector, 'matchExpressions').map((term) => term['key']),
  ])
  for (const [index, key] of keys.entries()) {
    errors.push(...validateLabelKey(key, `${at}.matchLabelKeys[${index}]`))
    if (!taken.has(key)) continue
    errors.push(invalidValue(`${at}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'))
  }
}
