import { hasMembers } from '../json/member.ts'

/** The values of a kind's stored objects for field selectors. */
export interface SelectableFields {
  /** Accepted label → label in the stored object. */
  readonly labels: Readonly<Record<string, string>>
  /** Labels that are accepted only from a level on → that level. */
  readonly labelsSince?: Readonly<Record<string, number>>
  /** The values of a stored object other than its name and namespace; a missing label counts as `''`. */
  readonly fieldsOf: (object: Readonly<Record<string, unknown>>) => Record<string, string>
}

/** The field labels of every namespaced object. */
export const common = { 'metadata.name': 'metadata.name', 'metadata.namespace': 'metadata.namespace' }

/** Labels that equal paths in the stored object. */
export const same = (...labels: readonly string[]): Record<string, string> => Object.fromEntries(labels.map((label) => [label, label]))

/** The accepted field labels of a kind in a version at a level, with their names in storage. */
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

/** The selectable fields of a stored object of a kind, without those of metadata. */
export function selectableFieldsOf({ selectable }: KindFields): SelectableFields['fieldsOf'] {
  return selectable?.fieldsOf ?? (() => ({}))
}

/** Adds the texts of some members of an object, by path. */
type AddTexts = (object: Readonly<Record<string, unknown>>, texts?: Record<string, string>) => Record<string, string>

/** Returns a function that adds the texts of members of a part: `spec.nodeName`. Empty texts are omitted. Each write calls it, so paths are made once. */
export function textsAt(parent: string, names: readonly string[]): AddTexts {
  const paths = names.map((name) => ({ name, path: `${parent}.${name}` }))
  return (object, texts = {}) => {
    const source = object[parent]
    if (!hasMembers(source)) return texts
    for (const { name, path } of paths) {
      const text = textOf(source[name])
      if (text !== '') texts[path] = text
    }
    return texts
  }
}

/** The fields of a kind that is selected by name and by texts of one part. */
export function selectedBy(parent: string, ...names: readonly string[]): SelectableFields {
  return { labels: same('metadata.name', ...names.map((name) => `${parent}.${name}`)), fieldsOf: textsAt(parent, names) }
}

export function memberOf(value: unknown, name: string): unknown {
  return hasMembers(value) ? value[name] : undefined
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
