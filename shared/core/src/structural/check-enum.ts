import { goQuote } from '../json/go-quote.ts'
import { printJson } from '../json/print.ts'
import { canonicalText } from './canonical.ts'
import { fieldError, joinedPath } from './field-path.ts'
import { kindOfValue } from './go-text.ts'
import type { Run } from './run.ts'

/** Checks that a value is in the list. Null never is, even if the list contains null. */
export function checkEnum(values: readonly unknown[] | undefined, value: unknown, { names, errors }: Run): number {
  if (values === undefined || values.some((listed) => isListed(listed, value))) return 0
  const texts = values.map((listed) => goQuote(typeof listed === 'string' ? listed : printJson(listed)))
  errors.push(
    fieldError('FieldValueNotSupported', joinedPath(names), {
      title: 'Unsupported value',
      value,
      detail: `supported values: ${texts.join(', ')}`,
    }),
  )
  return 0
}

/** True if a value equals a listed value; numbers are compared with the listed value's number type. */
function isListed(listed: unknown, value: unknown): boolean {
  if (value === null || listed === null) return false
  if (listed === value) return true
  if (typeof listed === 'object' || typeof value === 'object')
    return typeof listed === typeof value && canonicalText(listed) === canonicalText(value)
  if (kindOfValue(listed) === 'int' && kindOfValue(value) === 'float') return Math.trunc(Number(value)) === Number(listed)
  return false
}
