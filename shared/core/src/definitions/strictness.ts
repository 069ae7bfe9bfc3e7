import type { Steps } from '../steps.ts'
import type { StoredExpressions } from '../structural/rules/limits.ts'
import { isSame, type Part } from '../validation/part.ts'
import { findCaBundleProblem } from './ca-bundle.ts'
import { hasUnprunedDefault } from './default-values.ts'
import { type HoistedSpec, hoist, isConditionTrue, partsByVersion, schemaFinder, specOf, type VersionParts } from './definition-spec.ts'
import { hasGranularSetItems, validateListItems } from './list-grammar.ts'
import { hasDefault, type SchemaProps, someSchemaInSteps } from './schema-props.ts'
import { isStructuralInSteps } from './structural-grammar.ts'

/** The valid types of a schema. */
export const knownTypes: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Versions of ConversionReview that this server supports. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1']

/** The strictness of validating a definition. Stored errors may stay, so that other fields can still be changed. */
export interface Strictness {
  readonly needsSchema: boolean
  readonly needsKnownTypes: boolean
  /** Called only if nothing else requires a structural schema, because it walks over the stored schemas. */
  readonly needsStructure: () => Steps<boolean>
  readonly needsPrunedDefaults: boolean
  readonly needsAtomicSets: boolean
  readonly needsSoundListItems: boolean
  readonly needsKnownReviewVersion: boolean
  readonly needsCaBundle: boolean
  /** True if scope and kind can no longer change. */
  readonly keepsNames: boolean
  /** Versions with an unchanged schema. */
  readonly unchangedSchemas: ReadonlySet<string>
  /** Versions whose selectable fields exceed the limit and are unchanged. Fields shared by all versions have the name `''`. */
  readonly manySelectableFields: ReadonlySet<string>
  readonly storedExpressions: StoredExpressions
  /** The minor version of the release whose rules apply. */
  readonly level: number
}

/** The part of the strictness that depends on the replaced definition. */
type Leniency = Omit<Strictness, 'level'>

// biome-ignore lint/correctness/useYield: no schema is checked.
function* always(): Steps<boolean> {
  return true
}

/** The strictness for a new definition. Its CA bundle matters only when it is served. */
export const strictest: Leniency = {
  needsSchema: true,
  needsKnownTypes: true,
  needsStructure: always,
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

/** The strictness for an update of a definition. */
export function* strictnessBeside(spec: HoistedSpec, live: Part): Steps<Leniency> {
  const before = hoist(specOf(live))
  yield
  const schemas = schemasOf(before)
  const unchanged = unchangedSchemas(spec, before)
  yield
  const stored = yield* findStored(schemas)
  const hasUnpruned = stored.hasDefaults && (yield* someUnpruned(schemas))
  const isEstablished = isConditionTrue(live, 'Established')
  const versionsBefore = before.conversion?.webhook?.conversionReviewVersions ?? []
  return {
    needsSchema: hasSchema(before.shared) || before.versions.every(hasSchema),
    needsKnownTypes: !stored.hasUnknownTypes,
    needsStructure: () => areStructural(schemas),
    needsPrunedDefaults: !hasUnpruned,
    needsAtomicSets: !stored.hasGranularSets,
    needsSoundListItems: !stored.hasUnsoundItems,
    needsKnownReviewVersion: versionsBefore.length === 0 || versionsBefore.some((version) => reviewVersions.includes(version)),
    needsCaBundle: isEstablished && findCaBundleProblem(before.conversion?.webhook?.clientConfig) === undefined,
    keepsNames: isEstablished,
    unchangedSchemas: unchanged,
    manySelectableFields: unchangedSelectableFields(spec, before),
    storedExpressions: { rules: stored.rules, messageExpressions: stored.messageExpressions },
  }
}

function hasSchema({ schema }: VersionParts): boolean {
  return schema?.openAPIV3Schema !== undefined
}

/** The schemas of a spec; a shared schema is listed once. */
export function schemasOf(spec: HoistedSpec): SchemaProps[] {
  return [spec.shared, ...spec.versions].flatMap(({ schema }) => schema?.openAPIV3Schema ?? [])
}

function unchangedSchemas(spec: HoistedSpec, before: HoistedSpec): ReadonlySet<string> {
  const [schemaOf, schemaBefore] = [schemaFinder(spec), schemaFinder(before)]
  const known = partsByVersion(before.versions)
  const isAnyIn = before.versions.every(({ schema }) => schema === undefined)
  const names = spec.versions.flatMap(({ name = '' }) =>
    (isAnyIn || known.has(name)) && isSame(schemaOf(name), schemaBefore(name)) ? [name] : [],
  )
  return new Set(names)
}

function unchangedSelectableFields(spec: HoistedSpec, before: HoistedSpec): ReadonlySet<string> {
  const known = partsByVersion(before.versions)
  const pairs = [
    { name: '', fields: spec.shared.selectableFields, fieldsBefore: before.shared.selectableFields },
    ...spec.versions.map(({ name = '', selectableFields }) => ({
      name,
      fields: selectableFields,
      fieldsBefore: known.get(name)?.selectableFields,
    })),
  ]
  return new Set(pairs.filter(({ fields, fieldsBefore }) => isSame(fields, fieldsBefore)).map(({ name }) => name))
}

/** The properties of stored schemas on which the strictness for new ones depends. */
interface Stored {
  hasUnknownTypes: boolean
  hasDefaults: boolean
  hasGranularSets: boolean
  hasUnsoundItems: boolean
  readonly rules: Set<string>
  readonly messageExpressions: Set<string>
}

/** Finds all properties in one walk. */
function* findStored(schemas: readonly SchemaProps[]): Steps<Stored> {
  const stored: Stored = {
    hasUnknownTypes: false,
    hasDefaults: false,
    hasGranularSets: false,
    hasUnsoundItems: false,
    rules: new Set(),
    messageExpressions: new Set(),
  }
  for (const root of schemas) {
    yield* someSchemaInSteps(root, (schema) => {
      const { type = '', 'x-kubernetes-validations': rules = [] } = schema
      stored.hasUnknownTypes ||= type !== '' && !knownTypes.includes(type)
      stored.hasDefaults ||= hasDefault(schema)
      stored.hasGranularSets ||= hasGranularSetItems(schema)
      stored.hasUnsoundItems ||= validateListItems(schema, '').length > 0
      for (const { rule, messageExpression } of rules) {
        if (rule !== undefined) stored.rules.add(rule)
        if (messageExpression !== undefined) stored.messageExpressions.add(messageExpression)
      }
      return false
    })
  }
  return stored
}

function* someUnpruned(schemas: readonly SchemaProps[]): Steps<boolean> {
  for (const schema of schemas) if ((yield* isStructuralInSteps(schema)) && (yield* hasUnprunedDefault(schema))) return true
  return false
}

function* areStructural(schemas: readonly SchemaProps[]): Steps<boolean> {
  for (const schema of schemas) if (!(yield* isStructuralInSteps(schema))) return false
  return true
}
