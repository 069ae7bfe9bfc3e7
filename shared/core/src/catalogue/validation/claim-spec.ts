import { parseQuantity, quantitySign } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkSubdomain } from '../../meta/validate-names.ts'
import { invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { validateAccessModes } from './access-modes.ts'
import { allowChecked, allowOneOf, isGiven, requireText } from './checks.ts'

/** What a claim of storage asks for, in a PersistentVolumeClaim or in a template of one. */
export function validateClaimSpec(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = []
  const modes = itemsOf<string>(spec, 'accessModes')
  if (modes.length === 0) errors.push(requiredValue(`${path}.accessModes`, 'at least 1 access mode is required'))
  errors.push(...validateLabelSelector(optionalPart(spec, 'selector'), `${path}.selector`))
  errors.push(...validateAccessModes(modes, `${path}.accessModes`))
  validateSize(errors, partOf(partOf(spec, 'resources'), 'requests')['storage'], `${path}.resources[storage]`)
  allowChecked(errors, { part: spec, name: 'storageClassName', at: path }, checkSubdomain)
  allowOneOf(errors, { part: spec, name: 'volumeMode', at: path }, ['Block', 'Filesystem'])
  for (const name of ['dataSource', 'dataSourceRef']) {
    const source = optionalPart(spec, name)
    if (source !== undefined) validateDataSource(errors, source, `${path}.${name}`)
  }
  if (['dataSource', 'dataSourceRef'].every((name) => isGiven(spec, name)) && !isSame(spec['dataSource'], spec['dataSourceRef'])) {
    errors.push(invalidValue(path, `${path}.dataSource`, 'must match dataSourceRef'))
  }
  return errors
}

function validateSize(errors: FieldError[], size: unknown, path: string): void {
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
