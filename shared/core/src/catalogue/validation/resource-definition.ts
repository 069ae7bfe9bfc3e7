import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkSubdomain } from '../../meta/validate-names.ts'
import { list, ref, string } from '../../schema/define.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, immutableValue, invalidTexts, invalidValue, requiredValue, unsupportedValue } from './field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf, textsOf } from './part.ts'
import { validateClientConfig } from './webhook.ts'

const scopes = ['Cluster', 'Namespaced']
const strategies = ['None', 'Webhook']
const reviewVersions = ['v1', 'v1beta1']
const deprecationWarningMax = 256

/** The rules of a CustomResourceDefinition: its names, versions and conversion. What its schemas say is not looked at. */
export function validateResourceDefinition(definition: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(definition, 'spec')
  const status = partOf(definition, 'status')
  return [
    ...(live === undefined ? validateName(definition, spec) : []),
    ...validateSpec(spec),
    ...(live === undefined ? [] : validateChange(spec, live)),
    ...validateNames(partOf(status, 'acceptedNames'), 'status.acceptedNames'),
    ...validateStoredVersions(status, itemsOf(spec, 'versions')),
    ...validatePruning(spec, live),
  ]
}

/** The rules of its status, when that is written alone. */
export function validateResourceDefinitionStatus(definition: Part): FieldError[] {
  return validateNames(partOf(partOf(definition, 'status'), 'acceptedNames'), 'status.acceptedNames')
}

function validateName(definition: Part, spec: Part): FieldError[] {
  const name = textOf(partOf(definition, 'metadata'), 'name')
  if (name === '' || name === `${textOf(partOf(spec, 'names'), 'plural')}.${textOf(spec, 'group')}`) return []
  return [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function validateSpec(spec: Part): FieldError[] {
  return [
    ...validateGroup(textOf(spec, 'group')),
    ...oneOf('spec.scope', textOf(spec, 'scope'), scopes),
    ...itemsOf(spec, 'versions').flatMap(validateSchema),
    ...validateVersions(spec),
    ...['plural', 'singular', 'kind', 'listKind'].flatMap((name) =>
      textOf(partOf(spec, 'names'), name) === '' ? [requiredValue(`spec.names.${name}`)] : [],
    ),
    ...validateNames(partOf(spec, 'names'), 'spec.names'),
    ...validateConversion(optionalPart(spec, 'conversion'), 'spec.conversion'),
  ]
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [requiredValue('spec.group')]
  const problems = checkSubdomain(group)
  if (problems.length > 0) return [invalidValue('spec.group', group, problems.join(','))]
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

function oneOf(field: string, value: string, allowed: readonly string[]): FieldError[] {
  if (value === '') return [requiredValue(field)]
  return allowed.includes(value) ? [] : [unsupportedValue(field, value, allowed)]
}

function validateSchema(version: Part, index: number): FieldError[] {
  if (optionalPart(optionalPart(version, 'schema'), 'openAPIV3Schema') !== undefined) return []
  return [requiredValue(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required')]
}

function validateVersions(spec: Part): FieldError[] {
  const versions = itemsOf(spec, 'versions')
  const refuse = (detail: string): FieldError =>
    invalidValue('spec.versions', goValue(list(ref('apiextensions/v1.CustomResourceDefinitionVersion')), spec['versions']), detail)
  const errors = versions.flatMap((version, index) => [
    ...checkLabel(`spec.versions[${index}].name`, textOf(version, 'name')),
    ...validateDeprecation(version, `spec.versions[${index}].deprecationWarning`),
  ])
  if (textsOf(versions, 'name').size < versions.length) errors.push(refuse('must contain unique version names'))
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(refuse('must have exactly one version marked as storage version'))
  }
  return errors
}

function checkLabel(field: string, text: string): FieldError[] {
  const problems = checkLabel1035(text)
  return problems.length === 0 ? [] : [invalidValue(field, text, problems.join(','))]
}

function validateDeprecation({ deprecated, deprecationWarning: warning }: Part, field: string): FieldError[] {
  if (typeof warning !== 'string') return []
  const refuse = (detail: string): FieldError[] => [invalidValue(field, warning, detail)]
  if (deprecated !== true) return refuse('can only be set for deprecated versions')
  if (warning === '') return refuse('must not be an empty string')
  const tooLong = warning.length > deprecationWarningMax ? refuse(`must be <= ${deprecationWarningMax} characters long`) : []
  const unprintable = warning.search(/[^\P{C}]|[^\P{Z} ]/u)
  if (unprintable < 0) return tooLong
  return [...tooLong, ...refuse(`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`)]
}

function validateNames(names: Part, at: string): FieldError[] {
  const [kind, listKind] = [textOf(names, 'kind'), textOf(names, 'listKind')]
  const errors = ['plural', 'singular'].flatMap((name) => checkOptionalLabel(`${at}.${name}`, textOf(names, name)))
  errors.push(...checkMixedCase(`${at}.kind`, kind), ...checkMixedCase(`${at}.listKind`, listKind))
  errors.push(...itemsOf<string>(names, 'shortNames').flatMap((name, index) => checkLabel(`${at}.shortNames[${index}]`, name)))
  if (kind !== '' && kind === listKind) errors.push(invalidValue(`${at}.listKind`, listKind, 'kind and listKind may not be the same'))
  errors.push(...itemsOf<string>(names, 'categories').flatMap((name, index) => checkLabel(`${at}.categories[${index}]`, name)))
  return errors
}

function checkOptionalLabel(field: string, text: string): FieldError[] {
  return text === '' ? [] : checkLabel(field, text)
}

function checkMixedCase(field: string, text: string): FieldError[] {
  const problems = text === '' ? [] : checkLabel1035(text.toLowerCase())
  if (problems.length === 0) return []
  return [invalidValue(field, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

/** The path of the client’s configuration is that of kube-apiserver’s own form of the object. */
function validateConversion(conversion: Part | undefined, at: string): FieldError[] {
  if (conversion === undefined) return []
  const strategy = textOf(conversion, 'strategy')
  const webhook = optionalPart(conversion, 'webhook')
  const config = optionalPart(webhook, 'clientConfig')
  const versions = itemsOf<string>(webhook, 'conversionReviewVersions')
  const errors = oneOf(`${at}.strategy`, strategy, strategies)
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook'
    if (config !== undefined) errors.push(forbiddenValue(`${at}.webhookClientConfig`, why))
    if (versions.length > 0) errors.push(forbiddenValue(`${at}.conversionReviewVersions`, why))
    return errors
  }
  if (config === undefined) errors.push(requiredValue(`${at}.webhookClientConfig`, 'required when strategy is set to Webhook'))
  else errors.push(...validateClientConfig(config, `${at}.webhookClientConfig`))
  return [...errors, ...validateReviewVersions(versions, `${at}.conversionReviewVersions`)]
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [requiredValue(field)]
  const repeated = repeatedPlaces(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index) ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')] : checkLabel(`${field}[${index}]`, version),
  )
  if (versions.some((version) => reviewVersions.includes(version))) return errors
  return [...errors, invalidTexts(field, versions, `must include at least one of ${reviewVersions.join(', ')}`)]
}

/** What objects are kept under stays; what they are called stays once they can be there. */
function validateChange(spec: Part, live: Part): FieldError[] {
  const before = partOf(live, 'spec')
  const [names, namesBefore] = [partOf(spec, 'names'), partOf(before, 'names')]
  const isEstablished = itemsOf(partOf(live, 'status'), 'conditions').some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
  const ifEstablished = isEstablished
    ? [
        ...immutableValue('spec.scope', spec['scope'], before['scope']),
        ...immutableValue('spec.names.kind', names['kind'], namesBefore['kind']),
      ]
    : []
  return [
    ...ifEstablished,
    ...immutableValue('spec.group', spec['group'], before['group']),
    ...immutableValue('spec.names.plural', names['plural'], namesBefore['plural']),
  ]
}

function validateStoredVersions(status: Part, versions: readonly Part[]): FieldError[] {
  const field = 'status.storedVersions'
  const stored = itemsOf<string>(status, 'storedVersions')
  if (stored.length === 0) {
    return [invalidValue(field, goValue(list(string()), status['storedVersions']), 'must have at least one stored version')]
  }
  const known = textsOf(versions, 'name')
  return stored.flatMap((version, index) => {
    if (known.has(version)) return []
    const why = `${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from ${field}`
    return [invalidValue(`${field}[${index}]`, version, `missing from spec.versions; ${why}`)]
  })
}

function validatePruning(spec: Part, live: Part | undefined): FieldError[] {
  const isKept = (part: Part): boolean => part['preserveUnknownFields'] === true
  if (!isKept(spec) || (live !== undefined && isKept(partOf(live, 'spec')))) return []
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalidValue('spec.preserveUnknownFields', true, detail)]
}
