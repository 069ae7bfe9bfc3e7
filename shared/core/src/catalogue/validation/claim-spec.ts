import { field } from '../../description/fields.ts'
import { text } from '../../description/texts.ts'
import { goQuote } from '../../json/go-quote.ts'
import { checkLabel, checkSubdomain, type FieldError, joinTexts, type LevelText, textSince } from '../../meta/index.ts'
import { parseQuantity, quantitySign } from '../../meta/quantity.ts'
import { jsonSince } from '../../schema/go-value.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { allowChecked, requireText } from './checks.ts'

/** The spec of a PersistentVolumeClaim, also in a template. */
export const claimSpecRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PersistentVolumeClaimSpec': [
    ...['accessModes', 'selector'],
    validateModes,
    validateSize,
    as('storageClassName', field(text('subdomain'))),
    'volumeMode',
    { passedOver: ['resources'] },
    validateSources,
    { gate: 'VolumeAttributesClass', step: as('volumeAttributesClassName', field(text('subdomain'))) },
  ],
}

/** Validates the access modes of a volume or of a claim. */
export function validateModes(errors: FieldError[], spec: Part, at: string, { level }: RuleContext): void {
  errors.push(...validateAccessModes(itemsOf<string>(spec, 'accessModes'), `${at}.accessModes`, level))
}

/** The first level at which kube-apiserver is known to check the groups of data sources. */
const groupsSince = 34
const sourceNames = ['dataSource', 'dataSourceRef'] as const

function validateSources(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const keepsGroup = sourceNames.some((name) => checkGroup(partOf(liveAt(context, at), name)).length > 0)
  const [source, reference] = sourceNames.map((name) => {
    const given = optionalPart(spec, name)
    if (given === undefined) return undefined
    const path = `${at}.${name}`
    validateDataSource(errors, given, path)
    if (context.level < groupsSince) return given
    if (!keepsGroup) errors.push(...invalidFor(`${path}.apiGroup`, given['apiGroup'], checkGroup(given)))
    allowChecked(errors, { part: given, name: 'namespace', at: path }, checkLabel)
    return given
  })
  if (source === undefined || reference === undefined) return
  const { namespace = '', ...local } = reference
  if (isSame(source, local) && namespace === '') return
  // kube-apiserver passes a field path as the value; its JSON is `{}`.
  const value = textSince(jsonSince, { before: goQuote(`${at}.dataSource`), after: '{}' })
  const problem = namespace === '' ? 'must match dataSourceRef' : 'may not be specified when dataSourceRef.namespace is specified'
  const message = joinTexts(['Invalid value', value, problem], ': ')
  errors.push({ reason: 'FieldValueInvalid', field: at, message })
}

function checkGroup(source: Part): readonly LevelText[] {
  const group = textOf(source, 'apiGroup')
  return group === '' ? [] : checkSubdomain(group)
}

function validateSize(errors: FieldError[], spec: Part, at: string): void {
  const path = `${at}.resources[storage]`
  const size = partOf(partOf(spec, 'resources'), 'requests')['storage']
  const quantity = typeof size === 'string' ? parseQuantity(size) : undefined
  if (quantity === undefined) errors.push(requiredValue(path))
  else if (quantitySign(quantity) <= 0) errors.push(invalidValue(path, size, 'must be greater than zero'))
}

function validateDataSource(errors: FieldError[], source: Part, path: string): void {
  requireText(errors, { part: source, name: 'name', at: path })
  requireText(errors, { part: source, name: 'kind', at: path })
  const kind = textOf(source, 'kind')
  if (textOf(source, 'apiGroup') !== '' || kind === 'PersistentVolumeClaim') return
  errors.push(invalidValue(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
}

const shared = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
/** The first level at which messages also list ReadWriteOncePod. */
const oncePodSince = 27
/** This mode needs a feature; `gated-values.ts` checks that it is on. */
const oncePod = 'ReadWriteOncePod'

/** The errors of a volume's access modes. */
function validateAccessModes(modes: readonly string[], path: string, level: number): FieldError[] {
  const known = level < oncePodSince ? shared : [...shared, oncePod]
  const errors = modes.filter((mode) => mode !== oncePod && !shared.includes(mode)).map((mode) => unsupportedValue(path, mode, known))
  if (modes.includes(oncePod) && modes.some((mode) => shared.includes(mode))) {
    errors.push(forbiddenValue(path, `may not use ${oncePod} with other access modes`))
  }
  return errors
}
