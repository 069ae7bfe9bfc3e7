import { allKinds } from './all-kinds.ts'
import type { KindDefinition, KindTable } from './define-resource.ts'

let known: ReadonlyMap<string, KindDefinition> | undefined

/** The table of a kind whose events watch prints, which are those of built-in kinds, by the kind's name. */
export function tableOfKind(kind: string): KindTable | undefined {
  known ??= new Map(allKinds.map((definition) => [definition.kind, definition]))
  return known.get(kind)?.table
}
