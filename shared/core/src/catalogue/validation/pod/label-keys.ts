import type { FieldError } from '../../../meta/status.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { validateLabelKey } from '../../../validation/selector.ts'

const inSelector = 'exists in both matchLabelKeys and labelSelector'

/** Validates the keys of an affinity term. On create, the Pod's labels with these keys were merged into its selector. */
export function validateMergedKeys(errors: FieldError[], term: Part, at: string): void {
  const [keys, otherKeys] = [itemsOf<string>(term, 'matchLabelKeys'), itemsOf<string>(term, 'mismatchLabelKeys')]
  if (keys.length + otherKeys.length === 0) return
  const selector = optionalPart(term, 'labelSelector')
  for (const name of ['matchLabelKeys', 'mismatchLabelKeys']) validateKeys(errors, term, `${at}.${name}`, itemsOf<string>(term, name))
  const taken = new Set<unknown>(Object.keys(partOf(selector, 'matchLabels')))
  for (const { key } of itemsOf(selector, 'matchExpressions')) {
    // A key that occurs twice in the selector was there before the merge. Like kube-apiserver, reports the key's index in the term.
    const index = keys.lastIndexOf(String(key))
    if (index >= 0 && taken.has(key)) errors.push(invalidValue(`${at}[${index}]`, key, inSelector))
    taken.add(key)
  }
  for (const [index, key] of keys.entries()) {
    if (!otherKeys.includes(key)) continue
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

/** Validates the keys of a spread constraint. */
export function validateSpreadKeys(errors: FieldError[], constraint: Part, at: string, { level }: RuleContext): void {
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
