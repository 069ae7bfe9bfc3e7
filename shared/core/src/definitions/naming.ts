import type { Part } from '../validation/part.ts'
import { type DefinitionCondition, type DefinitionNames, specOf, statusOf } from './definition-spec.ts'

/** The names of other definitions in a group. Resources and short names share one namespace, kinds and list kinds another. */
export type TakenNames = ReturnType<typeof takenNames>

/** Collects accepted names. */
export function takenNames(accepted: Iterable<DefinitionNames>) {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { plural, singular, shortNames, kind, listKind } of accepted) {
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

/** Accepts each requested name that is free; a conflicting name keeps its accepted value. */
export function checkNames(definition: Part, taken: TakenNames) {
  const { names: wanted = {} } = specOf(definition)
  const { acceptedNames: before = {} } = statusOf(definition)
  const accepted: Record<string, unknown> = { ...before, categories: wanted.categories }
  let problem: Pick<DefinitionCondition, 'reason' | 'message'> | undefined
  const check = (name: 'plural' | 'singular' | 'kind' | 'listKind', space: ReadonlySet<string>, reason: string): void => {
    const text = wanted[name] ?? ''
    if (text !== (before[name] ?? '') && space.has(text)) problem = { reason, message: inUse(text) }
    else accepted[name] = wanted[name]
  }
  check('plural', taken.resources, 'PluralConflict')
  check('singular', taken.resources, 'SingularConflict')
  const strange = (wanted.shortNames ?? []).filter((name) => taken.resources.has(name) && !before.shortNames?.includes(name))
  if (strange.length > 0) problem = { reason: 'ShortNamesConflict', message: joined(strange.map(inUse)) }
  else accepted['shortNames'] = wanted.shortNames
  check('kind', taken.kinds, 'KindConflict')
  check('listKind', taken.kinds, 'ListKindConflict')
  const acceptedNames = Object.fromEntries(Object.entries(accepted).filter(([, value]) => value !== undefined))
  return { acceptedNames, condition: problem === undefined ? noConflicts : { type: 'NamesAccepted', status: 'False', ...problem } }
}

const noConflicts: DefinitionCondition = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}

function joined(texts: readonly string[]): string {
  const distinct = [...new Set(texts)]
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`
}
