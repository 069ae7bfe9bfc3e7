import { hasMembers } from '../json/member.ts'

/** Values by which field selectors choose among the stored objects of one kind. */
export interface SelectableFields {
  /** Accepted label → label under which the stored object is looked at. */
  readonly labels: Readonly<Record<string, string>>
  /** Labels that are accepted from a level on → the level. */
  readonly labelsSince?: Readonly<Record<string, number>>
  /** The values of a stored object; a label that it lacks counts as `''`. */
  readonly fieldsOf: (object: Readonly<Record<string, unknown>>) => Record<string, string>
}

/** The field labels of every namespaced object. */
export const common = { 'metadata.name': 'metadata.name', 'metadata.namespace': 'metadata.namespace' }

/** Labels that are paths in a stored object. */
export const same = (...labels: readonly string[]): Record<string, string> => Object.fromEntries(labels.map((label) => [label, label]))

/** The field labels that a kind accepts in a version at a level, with their names in storage. */
export function fieldLabelsOf(
  { selectable }: KindFields,
  { fieldLabels }: { readonly fieldLabels?: SelectableFields['labels'] },
  level: number,
): SelectableFields['labels'] {
  const labels = fieldLabels ?? selectable?.labels ?? common
  const { labelsSince } = selectable ?? {}
  if (labelsSince === undefined) return labels
  return Object.fromEntries(Object.entries(labels).filter(([label]) => (labelsSince[label] ?? 0) <= level))
}

interface KindFields {
  readonly selectable?: SelectableFields
}

/** The selectable fields of a stored object of a kind, metadata included. */
export function selectableFieldsOf({ selectable }: KindFields): SelectableFields['fieldsOf'] {
  const more = selectable?.fieldsOf ?? (() => ({}))
  return (object) => ({ ...textsAt(object, 'metadata', ['name', 'namespace']), ...more(object) })
}

/** The texts of members of a part of an object, by path: `spec.nodeName`. Empty ones are left out. */
export function textsAt(object: Readonly<Record<string, unknown>>, parent: string, names: readonly string[]): Record<string, string> {
  const source = object[parent]
  const result: Record<string, string> = {}
  for (const name of names) {
    const text = textOf(memberOf(source, name))
    if (text !== '') result[`${parent}.${name}`] = text
  }
  return result
}

export function memberOf(value: unknown, name: string): unknown {
  return hasMembers(value) ? value[name] : undefined
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
