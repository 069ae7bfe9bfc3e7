import {
  type DeviceExpressionFault,
  type DeviceLanguage,
  type DevicePurpose,
  findDeviceFault,
} from '../../../expressions/device-selector.ts'
import type { FieldError } from '../../../meta/status.ts'
import type { Names } from '../../../names.ts'
import type { Steps } from '../../../steps.ts'
import { forbiddenValue, invalidValue, tooLongValue } from '../../../validation/field-errors.ts'
import { isSame, itemsOf, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../../validation/rule-book.ts'
import { bytesOf } from '../../../validation/texts.ts'

const expressionBytesMax = 10 * 1024

/** CEL expressions about devices. */
export const expressionRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.CELDeviceSelector': [validateSelector],
}

function validateSelector(errors: FieldError[], selector: Part, at: string, context: RuleContext): void {
  if (areStored(context)) return
  validateExpression(errors, { text: textOf(selector, 'expression'), purpose: 'selector', field: `${at}.expression` }, context)
}

/** True for unchanged selectors of a class, which were compiled before. */
function areStored({ object, live }: RuleContext): boolean {
  if (live === undefined || object['kind'] !== 'DeviceClass') return false
  return isSame(partOf(object, 'spec')['selectors'], partOf(live, 'spec')['selectors'])
}

interface PlacedExpression {
  readonly text: string
  readonly purpose: DevicePurpose
  readonly field: string
}

/** Adds the error of an expression that was already compiled. */
export function validateExpression(errors: FieldError[], { text, purpose, field }: PlacedExpression, context: RuleContext): void {
  if (isTooLong(text)) {
    errors.push(tooLongValue(field, expressionBytesMax))
    return
  }
  const fault = context.faults?.get(keyOf(text, purpose))
  if (fault === undefined) return
  errors.push(fault.kind === 'costly' ? forbiddenValue(field, fault.problem) : invalidValue(field, text, fault.problem))
}

function isTooLong(text: string): boolean {
  return text.length * 3 > expressionBytesMax && bytesOf(text) > expressionBytesMax
}

function keyOf(text: string, purpose: DevicePurpose): string {
  return `${purpose} ${text}`
}

/** The rules of a kind with expressions about devices. The expressions are compiled first, in steps. */
export function* validateWithExpressions(object: Part, type: string, context: RuleContext): Steps<FieldError[]> {
  const language: DeviceLanguage = {
    level: context.level,
    hasSharing: context.isGateOn('DRAConsumableCapacity'),
    hasLists: context.isGateOn('DRAListTypeAttributes'),
  }
  const faults = new Map<string, DeviceExpressionFault | undefined>()
  for (const { text, purpose } of expressionsOf(object)) {
    const key = keyOf(text, purpose)
    if (faults.has(key) || isTooLong(text)) continue
    faults.set(key, yield* findDeviceFault(text, purpose, language))
    yield
  }
  return context.rules.checkObject(type, 'main', { ...context, object, faults })
}

/** The expressions of a class, a claim or a template. */
function* expressionsOf(object: Part): Generator<Omit<PlacedExpression, 'field'>> {
  const spec = partOf(object, 'spec')
  const inner = partOf(spec, 'spec')
  const requests = itemsOf(partOf(object['kind'] === 'ResourceClaimTemplate' ? inner : spec, 'devices'), 'requests')
  const parts = requests.flatMap((request) => [partOf(request, 'exactly'), ...itemsOf(request, 'firstAvailable')])
  for (const part of [spec, ...parts]) {
    for (const selector of itemsOf(part, 'selectors')) {
      const text = partOf(selector, 'cel')['expression']
      if (typeof text === 'string') yield { text, purpose: 'selector' }
    }
    for (const attribute of itemsOf(part, 'derivedAttributes')) yield { text: textOf(attribute, 'expression'), purpose: 'derived' }
  }
}

/** The rules of a kind whose objects have expressions about devices. */
export function rulesWithExpressions(type: string) {
  return (object: Part, _live: Part | undefined, _names: Names, context: RuleContext) => validateWithExpressions(object, type, context)
}
