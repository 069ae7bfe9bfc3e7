import type { FieldRequirement, Scope, Selection } from '@orch/core/contracts'
import { fieldsOfKey, isInKey, isInShards, matchesFields, matchesLabels } from '@orch/core/selectors'
import { type FactSet, type StoredObject, uidOf } from './memory/stored-object.ts'

/** True if an object matches a selection. */
export type Matches = (object: StoredObject) => boolean

/** The test for a selection within a scope; undefined if every object passes. Tests each set of facts once. */
export function toMatches({ resource, name }: Scope, { labels, fields, shards }: Selection): Matches | undefined {
  const tests: Matches[] = []
  const fromKey = fields.filter(isInKey)
  const fromFacts = fields.filter((requirement) => !isInKey(requirement))
  if (name !== undefined) fromKey.push({ field: 'metadata.name', operator: 'Equals', value: name })
  if (fromKey.length > 0) tests.push(({ key }) => matchesFields(fromKey, fieldsOfKey(resource, key)))
  if (fromFacts.length > 0)
    tests.push(
      oncePerSet(
        ({ fields: set }) => set,
        (facts) => matchesFields(fromFacts, facts),
      ),
    )
  if (labels.length > 0)
    tests.push(
      oncePerSet(
        ({ labels: set }) => set,
        (facts) => matchesLabels(labels, facts),
      ),
    )
  if (shards !== undefined) {
    const fieldOf = (object: StoredObject) => (field: 'uid' | 'namespace') =>
      field === 'uid' ? uidOf(object) : (fieldsOfKey(resource, object.key)['metadata.namespace'] ?? '')
    tests.push((object) => isInShards(shards, fieldOf(object)))
  }
  return tests.length <= 1 ? tests[0] : (object) => tests.every((test) => test(object))
}

/** The single name that a scope and selection require, if they do. */
export function demandedName({ name }: Scope, { fields }: Selection): string | undefined {
  return name ?? demanded('metadata.name', fields)
}

/** The single namespace that a scope and selection require, if they do. */
export function demandedNamespace({ namespace }: Scope, { fields }: Selection): string | undefined {
  return namespace === undefined || namespace === '' ? demanded('metadata.namespace', fields) : namespace
}

function demanded(field: string, fields: readonly FieldRequirement[]): string | undefined {
  return fields.find((one) => one.field === field && one.operator === 'Equals')?.value
}

/** A list calls this for each object. The last result is cached, because neighbours often share a set. */
function oncePerSet(setOf: (object: StoredObject) => FactSet, test: (facts: FactSet['map']) => boolean): Matches {
  const verdicts = new Map<FactSet, boolean>()
  let last: FactSet | undefined
  let verdict = false
  return (object) => {
    const set = setOf(object)
    if (set === last) return verdict
    last = set
    const known = verdicts.get(set)
    verdict = known ?? test(set.map)
    if (known === undefined) verdicts.set(set, verdict)
    return verdict
  }
}
