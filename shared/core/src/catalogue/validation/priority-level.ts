import { ref } from '../../description/define.ts'
import { mandatoryPriorityLevels } from '../../flow-control/mandatory.ts'
import { textSince } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { numberOf } from './checks.ts'
import { plainly, validateLimitResponse, wrongWord } from './flow-control.ts'

const at = { limited: 'spec.limited', exempt: 'spec.exempt' }

const neededLimits = plainly('Required value', 'must not be empty when type is Limited')
const exemptAlone = textSince(34, {
  before: "type must be 'Exempt' if and only if `name` is 'exempt'",
  after: "must be 'Exempt' if and only if `name` is 'exempt'",
})
const shown = (spec: Part) => goValue(ref('flowcontrol/v1.PriorityLevelConfigurationSpec'), spec)

/** The rules of a PriorityLevelConfiguration in v1beta3 and v1: its shares are nominal, and it lends and borrows. */
export function validateNominalPriorityLevel(object: Part, _live: Part | undefined, _names: Names, { level }: RuleContext): FieldError[] {
  const spec = partOf(object, 'spec')
  const name = textOf(partOf(object, 'metadata'), 'name')
  return [...validateSpec(spec, name, level), ...validateMandatory(spec, name)]
}

function validateSpec(spec: Part, name: string, level: number): FieldError[] {
  const type = textOf(spec, 'type')
  const [limited, exempt] = [optionalPart(spec, 'limited'), optionalPart(spec, 'exempt')]
  const errors: FieldError[] = []
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(invalidValue('spec.type', type, exemptAlone))
  }
  switch (type) {
    case 'Exempt':
      if (limited !== undefined)
        errors.push({
          reason: 'FieldValueForbidden',
          field: at.limited,
          message: plainly('Forbidden', 'must be nil if the type is not Limited'),
        })
      return exempt === undefined ? errors : [...errors, ...validateShares(exempt, at.exempt)]
    case 'Limited':
      if (exempt !== undefined)
        errors.push({
          reason: 'FieldValueForbidden',
          field: at.exempt,
          message: plainly('Forbidden', 'must be nil if the type is Limited'),
        })
      if (limited === undefined) return [...errors, { reason: 'FieldValueRequired', field: at.limited, message: neededLimits }]
      return [...errors, ...validateLimited(limited, level)]
    default:
      return [...errors, wrongWord('spec.type', { word: type, level }, ['Exempt', 'Limited'])]
  }
}

function validateLimited(limited: Part, level: number): FieldError[] {
  const borrowed = Number(numberOf(limited, 'borrowingLimitPercent') ?? 0)
  const errors = validateShares(limited, at.limited)
  if (borrowed < 0) {
    errors.push(invalidValue(`${at.limited}.borrowingLimitPercent`, borrowed, 'if specified, must be a non-negative integer'))
  }
  return [...errors, ...validateLimitResponse(limited, level)]
}

function validateShares(shares: Part, field: string): FieldError[] {
  const amount = (name: string): number => Number(numberOf(shares, name) ?? 0)
  const [nominal, lent] = [amount('nominalConcurrencyShares'), amount('lendablePercent')]
  const errors = nominal < 0 ? [invalidValue(`${field}.nominalConcurrencyShares`, nominal, 'must be a non-negative integer')] : []
  if (lent >= 0 && lent <= 100) return errors
  return [...errors, invalidValue(`${field}.lendablePercent`, lent, 'must be between 0 and 100, inclusive')]
}

/** Levels that the server keeps unchanged; the shares of the level exempt may change. */
function validateMandatory(spec: Part, name: string): FieldError[] {
  if (name === 'exempt') {
    const { exempt: _exempt, ...others } = spec
    const isFixed = isSame(others, mandatoryPriorityLevels.exempt)
    return isFixed ? [] : [invalidValue('spec', shown(spec), "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")]
  }
  const { limited, ...rest } = mandatoryPriorityLevels['catch-all']
  const { assuredConcurrencyShares: nominalConcurrencyShares, limitResponse } = limited
  const fixed = { ...rest, limited: { nominalConcurrencyShares, limitResponse, lendablePercent: 0 } }
  return name !== 'catch-all' || isSame(spec, fixed)
    ? []
    : [invalidValue('spec', shown(spec), "spec of 'catch-all' must equal the fixed value")]
}
