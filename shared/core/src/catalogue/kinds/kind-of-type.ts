import { fillTokenRequest } from '../defaults/policy.ts'
import { allKinds } from './all-kinds.ts'
import type { Defaulter, KindDefinition, KindTable, Rules, VersionDefinition } from './define-resource.ts'

/** A kind in the version that a type belongs to. */
interface KindInVersion {
  readonly kind: KindDefinition
  readonly version: VersionDefinition
}

let known: ReadonlyMap<string, KindInVersion> | undefined

function kindOfType(type: string): KindInVersion | undefined {
  known ??= new Map(allKinds.flatMap((kind) => kind.versions.map((version) => [version.type, { kind, version }] as const)))
  return known.get(type)
}

/** Types of bodies that are no resources, and have defaults. */
const otherDefaults: Readonly<Record<string, Defaulter>> = { 'authentication/v1.TokenRequest': fillTokenRequest }

/** The defaults of a type; absent: none beyond what the decoder prints anyway. */
export function defaultsOfType(type: string): Defaulter | undefined {
  const found = kindOfType(type)
  return found === undefined ? otherDefaults[type] : (found.version.defaults ?? found.kind.defaults)
}

/** The rules of a type; absent: those of its fields alone. */
export function rulesOfType(type: string): Rules | undefined {
  const found = kindOfType(type)
  return found?.version.validation ?? found?.kind.validation
}

/** What writers of objects of a type are warned of. */
export function warningsOfType(type: string): KindDefinition['warnings'] {
  return kindOfType(type)?.kind.warnings
}

let knownTables: ReadonlyMap<string, KindDefinition> | undefined

/** The table of a kind that is built in, by the kind's name. */
export function tableOfKind(kind: string): KindTable | undefined {
  knownTables ??= new Map(allKinds.map((definition) => [definition.kind, definition]))
  return knownTables.get(kind)?.table
}
