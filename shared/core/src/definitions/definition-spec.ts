import type { BuiltIn } from '../schema/built-in.ts'
import { isSame, type Part, partOf } from '../validation/part.ts'
import type { SchemaProps } from './schema-props.ts'

/** The decoded `spec` of a definition. */
export interface DefinitionSpec {
  readonly group?: string
  readonly names?: DefinitionNames
  readonly scope?: string
  readonly versions?: readonly DefinitionVersion[] | null
  readonly conversion?: DefinitionConversion
  readonly preserveUnknownFields?: boolean
}

/** The names that a definition requests, or its accepted names. */
export type DefinitionNames = Partial<BuiltIn<'apiextensions/v1.CustomResourceDefinitionNames'>>

/** A version of a custom resource. */
export interface DefinitionVersion extends VersionParts {
  readonly name?: string
  readonly served?: boolean
  readonly storage?: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
}

/** The parts of a version that several versions often share. */
export interface VersionParts {
  readonly schema?: { readonly openAPIV3Schema?: SchemaProps }
  readonly subresources?: DefinitionSubresources
  readonly additionalPrinterColumns?: readonly DefinitionColumn[]
  readonly selectableFields?: readonly { readonly jsonPath?: string }[]
}

/** The subresources of a version. */
export interface DefinitionSubresources {
  readonly status?: object
  readonly scale?: Partial<BuiltIn<'apiextensions/v1.CustomResourceSubresourceScale'>>
}

/** A printer column. */
export type DefinitionColumn = Partial<BuiltIn<'apiextensions/v1.CustomResourceColumnDefinition'>>

/** The conversion of objects between versions. */
export interface DefinitionConversion {
  readonly strategy?: string
  readonly webhook?: { readonly clientConfig?: Part; readonly conversionReviewVersions?: readonly string[] }
}

export type DefinitionCondition = Partial<BuiltIn<'apiextensions/v1.CustomResourceDefinitionCondition'>>

/** The decoded `status` of a definition. */
export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null
  readonly acceptedNames?: DefinitionNames
  readonly storedVersions?: readonly string[] | null
  readonly observedGeneration?: number
}

/** The spec of a decoded definition. */
export function specOf(definition: Part | undefined): DefinitionSpec {
  return partOf(definition, 'spec')
}

/** The status of a decoded definition. */
export function statusOf(definition: Part | undefined): DefinitionStatus {
  return partOf(definition, 'status')
}

/** True if a condition of that type is True. */
export function isConditionTrue(definition: Part | undefined, type: string): boolean {
  return (statusOf(definition).conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

/**
 * A spec in the form that kube-apiserver validates and uses in messages: parts that all versions share
 * are at the top level. `shared` of the versions A {schema: s, columns: c} and B {schema: s, columns: d} is {schema: s}.
 */
export type HoistedSpec = ReturnType<typeof hoist>

const partNames = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

/**
 * Moves the parts that all versions share to the top level. A part that every version lacks is also shared. Selectable fields depend on the
 * schema and are moved only with it.
 */
export function hoist(spec: DefinitionSpec) {
  const versions = spec.versions ?? []
  const [first, ...others] = versions
  const same = partNames.filter((name) => others.every((version) => isSame(version[name], first?.[name])))
  const shared = same.includes('schema') ? same : same.filter((name) => name !== 'selectableFields')
  return {
    ...spec,
    shared: pick(first ?? {}, shared),
    given: spec.versions,
    /** The versions without the shared parts. */
    versions: versions.map((version) => Object.fromEntries(Object.entries(version).filter(([name]) => !isOneOf(shared, name)))),
  }
}

/** Finds the schema of a version, or the shared schema. */
export function schemaFinder({ versions, shared }: HoistedSpec): (name: string) => VersionParts['schema'] {
  const own = partsByVersion(versions)
  const isShared = versions.every(({ schema }) => schema === undefined)
  return (name) => (isShared ? shared.schema : own.get(name)?.schema)
}

/** The parts of versions by name; the first of several with one name counts. */
export function partsByVersion(versions: HoistedSpec['versions']): ReadonlyMap<string, VersionParts> {
  return new Map(versions.toReversed().map((version) => [version.name ?? '', version]))
}

function pick(parts: VersionParts, names: readonly (typeof partNames)[number][]): VersionParts {
  return Object.fromEntries(names.flatMap((name) => (parts[name] === undefined ? [] : [[name, parts[name]]])))
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name)
}
