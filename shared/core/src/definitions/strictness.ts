import { type Part, print } from '../catalogue/validation/part.ts'
import type { StoredExpressions } from '../structural/rules/limits.ts'
import { findCaBundleProblem } from './ca-bundle.ts'
import { hasUnprunedDefault } from './default-values.ts'
import { type HoistedSpec, hoist, isConditionTrue, schemaOfVersion, specOf, type VersionParts } from './definition-spec.ts'
import { hasGranularSetItems, validateListItems } from './list-grammar.ts'
import { hasDefault, type SchemaProps, someSchema } from './schema-props.ts'
import { isStructural } from './structural-grammar.ts'

/** The types that a schema may name. */
export const knownTypes: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Versions of conversion reviews that this server speaks. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1']

/** How strictly a definition is checked. A mistake that is stored may stay, so that the rest can still be changed. */
export interface Strictness {
  readonly needsSchema: boolean
  readonly needsKnownTypes: boolean
  /** Asked only where nothing else needs a structure: it takes a walk over the stored schemas. */
  readonly needsStructure: () => boolean
  readonly needsPrunedDefaults: boolean
  readonly needsAtomicSets: boolean
  readonly needsSoundListItems: boolean
  readonly needsKnownReviewVersion: boolean
  readonly needsCaBundle: boolean
  /** Scope and kind can no longer be changed. */
  readonly keepsNames: boolean
  /** Versions whose schema is as it was. */
  readonly unchangedSchemas: ReadonlySet<string>
  /** Versions whose selectable fields are as they were, and more than there may be; `''`: those that all versions share. */
  readonly manySelectableFields: ReadonlySet<string>
  readonly storedExpressions: StoredExpressions
}

/** How a new definition is checked. Its bundle of authorities matters once it is served. */
export const strictest: Strictness = {
  needsSchema: true,
  needsKnownTypes: true,
  needsStructure: () => true,
  needsPrunedDefaults: true,
  needsAtomicSets: true,
  needsSoundListItems: true,
  needsKnownReviewVersion: true,
  needsCaBundle: false,
  keepsNames: false,
  unchangedSchemas: new Set(),
  manySelectableFields: new Set(),
  storedExpressions: { rules: new Set(), messageExpressions: new Set() },
}

/** How a definition is checked that replaces another. */
export function strictnessBeside(spec: HoistedSpec, live: Part): Strictness {
  const before = hoist(specOf(live))
  const schemas = schemasOf(before)
  const isEstablished = isConditionTrue(live, 'Established')
  const versionsBefore = before.conversion?.webhook?.conversionReviewVersions ?? []
  const has = (predicate: (schema: SchemaProps) => boolean): boolean => schemas.some((schema) => someSchema(schema, predicate))
  return {
    needsSchema: hasSchema(before.shared) || before.versions.every(hasSchema),
    needsKnownTypes: !has(({ type = '' }) => type !== '' && !knownTypes.includes(type)),
    needsStructure: () => schemas.every(isStructural),
    needsPrunedDefaults: !schemas.some((schema) => someSchema(schema, hasDefault) && isStructural(schema) && hasUnprunedDefault(schema)),
    needsAtomicSets: !has(hasGranularSetItems),
    needsSoundListItems: !has((schema) => validateListItems(schema, '').length > 0),
    needsKnownReviewVersion: versionsBefore.length === 0 || versionsBefore.some((version) => reviewVersions.includes(version)),
    needsCaBundle: isEstablished && findCaBundleProblem(before.conversion?.webhook?.clientConfig) === undefined,
    keepsNames: isEstablished,
    unchangedSchemas: unchangedSchemas(spec, before),
    manySelectableFields: unchangedSelectableFields(spec, before),
    storedExpressions: { rules: expressionsIn(schemas, 'rule'), messageExpressions: expressionsIn(schemas, 'messageExpression') },
  }
}

function hasSchema({ schema }: VersionParts): boolean {
  return schema?.openAPIV3Schema !== undefined
}

/** The schemas of a spec, a shared one once. */
export function schemasOf(spec: HoistedSpec): SchemaProps[] {
  return [spec.shared, ...spec.versions].flatMap(({ schema }) => schema?.openAPIV3Schema ?? [])
}

function unchangedSchemas(spec: HoistedSpec, before: HoistedSpec): ReadonlySet<string> {
  const names = spec.versions.flatMap(({ name = '' }) => {
    const [schema, schemaBefore] = [schemaOfVersion(spec, name), schemaOfVersion(before, name)]
    const isIn = before.versions.every(({ schema: own }) => own === undefined) || before.versions.some((version) => version.name === name)
    return isIn && print(schema) === print(schemaBefore) ? [name] : []
  })
  return new Set(names)
}

function unchangedSelectableFields(spec: HoistedSpec, before: HoistedSpec): ReadonlySet<string> {
  const pairs = [
    { name: '', fields: spec.shared.selectableFields, fieldsBefore: before.shared.selectableFields },
    ...spec.versions.map(({ name = '', selectableFields }) => ({
      name,
      fields: selectableFields,
      fieldsBefore: before.versions.find((version) => version.name === name)?.selectableFields,
    })),
  ]
  return new Set(pairs.filter(({ fields, fieldsBefore }) => print(fields) === print(fieldsBefore)).map(({ name }) => name))
}

function expressionsIn(schemas: readonly SchemaProps[], name: 'rule' | 'messageExpression'): ReadonlySet<string> {
  const found = new Set<string>()
  for (const root of schemas) {
    someSchema(root, (schema) => {
      for (const rule of schema['x-kubernetes-validations'] ?? []) if (rule[name] !== undefined) found.add(rule[name])
      return false
    })
  }
  return found
}
