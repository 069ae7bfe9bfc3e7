import { string } from '../description/texts.ts'
import { list, ref } from '../description/values.ts'
import { checkLabel1035, checkSubdomain, type FieldError, type LevelText, textSince } from '../meta/index.ts'
import type { Names } from '../names.ts'
import { goValue } from '../schema/go-value.ts'
import type { Steps } from '../steps.ts'
import { immutableValue, invalidValue, requiredValue, requiredValueUntil, unsupportedValue } from '../validation/field-errors.ts'
import { type Part, partOf, repeatedPlaces, textOf } from '../validation/part.ts'
import type { RuleContext } from '../validation/rule-book.ts'
import { validateClientConfig } from '../validation/webhook-client.ts'
import { validateApproval } from './approval.ts'
import { findCaBundleProblem } from './ca-bundle.ts'
import {
  type DefinitionConversion,
  type DefinitionNames,
  type DefinitionSpec,
  type HoistedSpec,
  hoist,
  specOf,
  statusOf,
  type VersionParts,
} from './definition-spec.ts'
import { hasDefault, type SchemaProps, someSchemaInSteps } from './schema-props.ts'
import { reviewVersions, type Strictness, schemasOf, strictest, strictnessBeside } from './strictness.ts'
import {
  checkDeprecationWarning,
  forbidWithoutWebhook,
  validateColumn,
  validateSelectableFields,
  validateSubresources,
} from './validate-parts.ts'
import { validateSchema } from './validate-schema.ts'

const scopes = ['Cluster', 'Namespaced']

/**
 * The rules of a CustomResourceDefinition. Errors use the paths of kube-apiserver's internal form, where parts that all versions share
 * are at the top level, such as `spec.validation.openAPIV3Schema`.
 */
export function* validateResourceDefinition(
  definition: Part,
  live: Part | undefined,
  names: Names,
  { level }: Pick<RuleContext, 'level'>,
): Steps<FieldError[]> {
  const spec = hoist(specOf(definition))
  yield
  const strictness = { ...(live === undefined ? strictest : yield* strictnessBeside(spec, live)), level }
  const { acceptedNames = {}, storedVersions } = statusOf(definition)
  return [
    ...(live === undefined ? validateName(definition, spec) : []),
    ...(yield* validateSpec(spec, strictness)),
    ...(live === undefined ? [] : validateChange(spec, specOf(live), strictness)),
    ...validateDefinitionNames(acceptedNames, 'status.acceptedNames'),
    ...validateStoredVersions(storedVersions, spec),
    ...validateApproval(definition, live, names),
    ...validatePruning(spec, live),
  ]
}

/** The rules for a write of the status alone. */
export function validateResourceDefinitionStatus(definition: Part): FieldError[] {
  return validateDefinitionNames(statusOf(definition).acceptedNames ?? {}, 'status.acceptedNames')
}

function validateName(definition: Part, { names = {}, group = '' }: HoistedSpec): FieldError[] {
  const name = textOf(partOf(definition, 'metadata'), 'name')
  if (name === '' || name === `${names.plural ?? ''}.${group}`) return []
  return [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function* validateSpec(spec: HoistedSpec, strictness: Strictness): Steps<FieldError[]> {
  const { shared, versions, names = {} } = spec
  const isPruning = spec.preserveUnknownFields !== true
  const schemas = schemasOf(spec)
  const hasDefaults = yield* someIn(schemas, hasDefault)
  const needsStructure = isPruning || hasDefaults || (yield* someIn(schemas, hasExtension)) || (yield* strictness.needsStructure())
  const errors = [
    ...validateGroup(spec.group ?? ''),
    ...checkOneOf('spec.scope', spec.scope ?? '', scopes),
    ...requireSchemas(spec, strictness, isPruning),
  ]
  if (hasDefaults && !isPruning) {
    errors.push(invalidValue('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'))
  }
  for (const [index, version] of versions.entries()) {
    for (const error of yield* validateVersion(version, `spec.versions[${index}]`, spec, { strictness, needsStructure })) errors.push(error)
  }
  errors.push(...validateVersionSet(spec))
  // The internal form also has the first version's name in `spec.version`.
  if (versions[0]?.name) errors.push(...checkLabelField('spec.version', versions[0].name))
  errors.push(...requireNames(names, 'spec.names'), ...validateDefinitionNames(names, 'spec.names'))
  const hasStatus = [shared, ...versions].some(({ subresources }) => subresources?.status !== undefined)
  const context = { hasStatus, name: versions[0]?.name ?? '', key: '', strictness, needsStructure }
  for (const error of yield* validateParts(shared, sharedPlaces, context)) errors.push(error)
  if ((spec.conversion?.strategy ?? 'None') !== 'None' && !isPruning) {
    const detail = 'must be None if spec.preserveUnknownFields is true'
    errors.push(invalidValue('spec.conversion.strategy', spec.conversion?.strategy, detail))
  }
  return [...errors, ...validateConversion(spec.conversion, 'spec.conversion', strictness)]
}

function* someIn(schemas: readonly SchemaProps[], predicate: (schema: SchemaProps) => boolean): Steps<boolean> {
  for (const schema of schemas) if (yield* someSchemaInSteps(schema, predicate)) return true
  return false
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [requiredValue('spec.group')]
  const problems = checkSubdomain(group)
  if (problems.length > 0) return [invalidValue('spec.group', group, problems.join(','))]
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

function hasExtension(schema: SchemaProps): boolean {
  return (
    schema['x-kubernetes-embedded-resource'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] !== undefined ||
    schema['x-kubernetes-int-or-string'] === true ||
    (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
    schema['x-kubernetes-list-type'] !== undefined ||
    (schema['x-kubernetes-validations'] ?? []).length > 0
  )
}

function requireSchemas({ shared, versions }: HoistedSpec, { needsSchema }: Strictness, isPruning: boolean): FieldError[] {
  if (shared.schema?.openAPIV3Schema !== undefined) return []
  return versions.flatMap(({ schema, served }, index) => {
    if (schema?.openAPIV3Schema !== undefined) return []
    const field = `spec.versions[${index}].schema.openAPIV3Schema`
    if (needsSchema) return [requiredValueUntil(33, field, 'schemas are required')]
    return isPruning && served === true ? [requiredValue(field, 'because otherwise all fields are pruned')] : []
  })
}

type Version = HoistedSpec['versions'][number]

function* validateVersion(
  version: Version,
  at: string,
  { shared }: HoistedSpec,
  checks: Pick<PartContext, 'strictness' | 'needsStructure'>,
): Steps<FieldError[]> {
  const { name = '', deprecated = false, deprecationWarning } = version
  const field = `${at}.deprecationWarning`
  const subresources = version.subresources ?? shared.subresources
  return [
    ...checkLabelField(`${at}.name`, name),
    ...checkDeprecationWarning(deprecated, deprecationWarning).map((problem) => invalidValue(field, deprecationWarning, problem)),
    ...(yield* validateParts(version, placesIn(at), { ...checks, hasStatus: subresources?.status !== undefined, name, key: name })),
  ]
}

/** The paths of the parts of a version. */
interface PartPlaces {
  readonly schema: string
  readonly subresources: string
  readonly columns: string
  readonly selectableFields: string
  /** The error of selectable fields without a schema. It also applies if all versions share the schema but not the fields. */
  readonly schemaIsMissing: LevelText
}

const sharedPlaces: PartPlaces = {
  schema: 'spec.validation.openAPIV3Schema',
  subresources: 'spec.subresources',
  columns: 'spec.additionalPrinterColumns',
  selectableFields: 'spec.selectableFields',
  schemaIsMissing: textSince(34, {
    before: 'selectableFields may only be set when validations.schema is included',
    after: 'may only be set when validations.schema is included',
  }),
}

function placesIn(version: string): PartPlaces {
  return {
    schema: `${version}.schema.openAPIV3Schema`,
    subresources: `${version}.subresources`,
    columns: `${version}.additionalPrinterColumns`,
    selectableFields: `${version}.selectableFields`,
    schemaIsMissing: textSince(34, {
      before: 'selectableFields may only be set when version.schema.openAPIV3Schema is not included',
      after: 'may only be set when `version.schema.openAPIV3Schema` is not included',
    }),
  }
}

interface PartContext {
  readonly hasStatus: boolean
  /** The version that has the schema; for a shared schema, the first version. */
  readonly name: string
  /** The version for looking up selectable fields; `''` for shared ones. */
  readonly key: string
  readonly strictness: Strictness
  readonly needsStructure: boolean
}

function* validateParts(parts: VersionParts, places: PartPlaces, context: PartContext): Steps<FieldError[]> {
  const { name, key, strictness } = context
  const isUnchanged = strictness.unchangedSchemas.has(name)
  const schema = parts.schema?.openAPIV3Schema
  const fields = parts.selectableFields ?? []
  const allowsMany = strictness.manySelectableFields.has(key)
  return [
    ...(schema === undefined ? [] : yield* validateSchema(schema, places.schema, { ...context, isUnchanged })),
    ...validateSubresources(parts.subresources, places.subresources),
    ...(parts.additionalPrinterColumns ?? []).flatMap((column, index) => validateColumn(column, `${places.columns}[${index}]`)),
    ...(fields.length === 0 ? [] : checkSelectable(fields, schema, places, allowsMany)),
  ]
}

function checkSelectable(
  fields: NonNullable<VersionParts['selectableFields']>,
  schema: SchemaProps | undefined,
  { selectableFields: at, schemaIsMissing }: PartPlaces,
  allowsMany: boolean,
): FieldError[] {
  if (schema === undefined) return [invalidValue(at, '', schemaIsMissing)]
  return validateSelectableFields(fields, schema, at, { allowsMany })
}

const versionList = list(ref('apiextensions/v1.CustomResourceDefinitionVersion'))

function validateVersionSet({ versions, given }: HoistedSpec): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string): number =>
    errors.push(invalidValue('spec.versions', goValue(versionList, versions.length === 0 ? given : versions), detail))
  if (new Set(versions.map(({ name }) => name)).size < versions.length) refuse('must contain unique version names')
  if (versions.filter(({ storage }) => storage === true).length !== 1) refuse('must have exactly one version marked as storage version')
  return errors
}

/** The storage identity of objects is immutable; names become immutable once objects can exist. */
function validateChange(spec: HoistedSpec, before: DefinitionSpec, { keepsNames }: Strictness): FieldError[] {
  return [
    ...(keepsNames
      ? [
          ...immutableValue('spec.scope', spec.scope, before.scope),
          ...immutableValue('spec.names.kind', spec.names?.kind, before.names?.kind),
        ]
      : []),
    ...immutableValue('spec.group', spec.group, before.group),
    ...immutableValue('spec.names.plural', spec.names?.plural, before.names?.plural),
  ]
}

function validateStoredVersions(given: readonly string[] | null | undefined, { versions }: HoistedSpec): FieldError[] {
  const field = 'status.storedVersions'
  const stored = given ?? []
  if (stored.length === 0) return [invalidValue(field, goValue(list(string()), given), 'must have at least one stored version')]
  const known = new Set(versions.map(({ name }) => name))
  const kept = new Set(stored)
  const repeated = repeatedPlaces(versions.map(({ name }) => name))
  return [
    // As in kube-apiserver, a stored version is that of the first version with its name.
    ...versions.flatMap(({ name = '', storage }, index) => {
      const isKept = kept.has(name) && !repeated.has(index)
      return storage === true && !isKept ? [invalidValue(field, stored, `must have the storage version ${name}`)] : []
    }),
    ...stored.flatMap((version, index) => {
      if (known.has(version)) return []
      const why = `${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from ${field}`
      return [invalidValue(`${field}[${index}]`, version, `missing from spec.versions; ${why}`)]
    }),
  ]
}

function validatePruning({ preserveUnknownFields }: HoistedSpec, live: Part | undefined): FieldError[] {
  if (preserveUnknownFields !== true || specOf(live).preserveUnknownFields === true) return []
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalidValue('spec.preserveUnknownFields', true, detail)]
}

/** Validates requested or accepted names; they may be absent. */
function validateDefinitionNames(names: DefinitionNames, at: string): FieldError[] {
  const { kind = '', listKind = '' } = names
  const errors = [...checkOptional(`${at}.plural`, names.plural), ...checkOptional(`${at}.singular`, names.singular)]
  errors.push(...checkMixedCase(`${at}.kind`, kind), ...checkMixedCase(`${at}.listKind`, listKind))
  errors.push(...(names.shortNames ?? []).flatMap((name, index) => checkLabelField(`${at}.shortNames[${index}]`, name)))
  if (kind !== '' && kind === listKind) errors.push(invalidValue(`${at}.listKind`, listKind, 'kind and listKind may not be the same'))
  errors.push(...(names.categories ?? []).flatMap((name, index) => checkLabelField(`${at}.categories[${index}]`, name)))
  return errors
}

/** Requires the names that a definition must have. */
function requireNames(names: DefinitionNames, at: string): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const).flatMap((name) =>
    (names[name] ?? '') === '' ? [requiredValue(`${at}.${name}`)] : [],
  )
}

/** Requires a DNS-1035 label. */
function checkLabelField(field: string, text: string): FieldError[] {
  const problems = checkLabel1035(text)
  return problems.length === 0 ? [] : [invalidValue(field, text, problems.join(','))]
}

function checkOptional(field: string, text = ''): FieldError[] {
  return text === '' ? [] : checkLabelField(field, text)
}

function checkMixedCase(field: string, text: string): FieldError[] {
  const problems = text === '' ? [] : checkLabel1035(text.toLowerCase())
  if (problems.length === 0) return []
  return [invalidValue(field, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

const strategies = ['None', 'Webhook']

/** Validates the conversion between versions. Paths are those of kube-apiserver's internal form. */
function validateConversion(conversion: DefinitionConversion | undefined, at: string, strictness: Strictness): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = '', webhook } = conversion
  const versions = webhook?.conversionReviewVersions ?? []
  const errors = checkOneOf(`${at}.strategy`, strategy, strategies)
  if (strategy === 'Webhook') {
    return [
      ...errors,
      ...checkClient(webhook?.clientConfig, `${at}.webhookClientConfig`, strictness),
      ...checkReviewVersions(versions, `${at}.conversionReviewVersions`, strictness),
    ]
  }
  if (webhook?.clientConfig !== undefined) errors.push(forbidWithoutWebhook(`${at}.webhookClientConfig`))
  if (versions.length > 0) errors.push(forbidWithoutWebhook(`${at}.conversionReviewVersions`))
  return errors
}

/** Requires a text to be one of several. */
function checkOneOf(field: string, value: string, allowed: readonly string[]): FieldError[] {
  if (value === '') return [requiredValue(field)]
  return allowed.includes(value) ? [] : [unsupportedValue(field, value, allowed)]
}

type ClientConfig = NonNullable<DefinitionConversion['webhook']>['clientConfig']

function checkClient(config: ClientConfig, at: string, { needsCaBundle }: Strictness): FieldError[] {
  if (config === undefined) return [requiredValue(at, 'required when strategy is set to Webhook')]
  const problem = needsCaBundle ? findCaBundleProblem(config) : undefined
  const errors = validateClientConfig(config, at)
  return problem === undefined ? errors : [...errors, invalidValue(`${at}.caBundle`, config['caBundle'], problem)]
}

function checkReviewVersions(versions: readonly string[], field: string, { needsKnownReviewVersion }: Strictness): FieldError[] {
  if (versions.length === 0) return [requiredValue(field)]
  const repeated = repeatedPlaces(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index)
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : checkLabel1035(version).map((problem) => invalidValue(`${field}[${index}]`, version, problem)),
  )
  if (!needsKnownReviewVersion || versions.some((version) => reviewVersions.includes(version))) return errors
  return [...errors, invalidValue(field, versions, `must include at least one of ${reviewVersions.join(', ')}`)]
}
