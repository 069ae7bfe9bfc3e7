import type { Change, Facts, FieldRequirement, LabelRequirement, Scope, Selection } from '@orch/core'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Whether an object with this key and these facts is selected. */
export type Matches = (key: string, facts: Facts) => boolean

/** What a change is to someone who sees only the selected objects; undefined: nothing. */
export function eventTypeOf({ key, before, after }: Change, matches: Matches): EventType | undefined {
  const was = before !== undefined && matches(key, before.facts)
  const is = after !== undefined && matches(key, after.facts)
  if (is) return was ? 'MODIFIED' : 'ADDED'
  return was ? 'DELETED' : undefined
}

/** The predicate of a selection. The scope is not looked at: only changes inside it are asked about. */
export function matcherOf(scope: Scope, { labels, fields }: Selection): Matches {
  if (labels.length === 0 && fields.length === 0) return () => true
  const fieldValue = fieldReader(scope)
  return (key, facts) =>
    labels.every((requirement) => labelHolds(requirement, facts.labels)) &&
    fields.every((requirement) => fieldHolds(requirement, fieldValue(requirement.field, key, facts)))
}

/** `metadata.name` and `metadata.namespace` stand in the key; the other fields are facts. */
function fieldReader({ resource }: Scope): (field: string, key: string, facts: Facts) => string {
  const start = resource.length + 1
  return (field, key, facts) => {
    const slash = key.indexOf('/', start)
    if (field === 'metadata.name') return key.slice(slash < 0 ? start : slash + 1)
    if (field === 'metadata.namespace') return slash < 0 ? '' : key.slice(start, slash)
    return facts.fields[field] ?? ''
  }
}

function fieldHolds({ operator, value }: FieldRequirement, actual: string): boolean {
  switch (operator) {
    case 'Equals':
      return actual === value
    case 'NotEquals':
      return actual !== value
  }
}

function labelHolds({ key, operator, values }: LabelRequirement, labels: Facts['labels']): boolean {
  const actual = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return actual !== undefined && values.includes(actual)
    case 'NotIn':
      return actual === undefined || !values.includes(actual)
    case 'Exists':
      return actual !== undefined
    case 'DoesNotExist':
      return actual === undefined
    case 'Gt':
      return actual !== undefined && isInteger(actual) && BigInt(actual) > BigInt(values[0] as string)
    case 'Lt':
      return actual !== undefined && isInteger(actual) && BigInt(actual) < BigInt(values[0] as string)
  }
}

function isInteger(text: string): boolean {
  return /^-?\d{1,19}$/.test(text)
}
