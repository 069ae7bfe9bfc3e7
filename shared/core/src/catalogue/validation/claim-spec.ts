import { field, text } from '../../description/define.ts'
import { goQuote } from '../../json/go-quote.ts'
import { joinTexts, textSince } from '../../meta/level-text.ts'
import { parseQuantity, quantitySign } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { jsonSince } from '../../schema/go-value.ts'
import { invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateAccessModes } from './access-modes.ts'
import { requireText } from './checks.ts'

/** A claim of storage, or a template of one. */
export const claimSpecRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PersistentVolumeClaimSpec': [
    ...['accessModes', 'selector'],
    validateModes,
    validateSize,
    as('storageClassName', field(text('subdomain'))),
    'volumeMode',
    { passedOver: ['resources'] },
    validateSources,
  ],
}

function validateModes(errors: FieldError[], spec: Part, at: string, { level }: RuleContext): void {
  errors.push(...validateAccessModes(itemsOf<string>(spec, 'accessModes'), `${at}.accessModes`, level))
}

function validateSources(errors: FieldError[], spec: Part, at: string): void {
  const [source, reference] = ['dataSource', 'dataSourceRef'].map((name) => {
    const given = optionalPart(spec, name)
    if (given !== undefined) validateDataSource(errors, given, `${at}.${name}`)
    return given
  })
  if (source === undefined || reference === undefined || isSame(source, reference)) return
  // The value is the path of a field. As JSON it has no members.
  const value = textSince(jsonSince, { before: goQuote(`${at}.dataSource`), after: '{}' })
  const message = joinTexts(['Invalid value', value, 'must match dataSourceRef'], ': ')
  errors.push({ reason: 'FieldValueInvalid', field: at, message })
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
