import { string } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidFor, invalidTexts, invalidValue } from '../../validation/field-errors.ts'
import { checkCanonicalCidr, cidrFamilyOf } from '../../validation/ip-address.ts'
import { itemsOf, type Part } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'

/** Addresses and ranges of Services. */
export const serviceRangeRules: Readonly<Record<string, TypeRules>> = {
  'networking/v1.ParentReference': ['group', 'resource', 'name', 'namespace'],
  'networking/v1.ServiceCIDRSpec': [
    { when: (_spec, { live }) => live === undefined, steps: [{ decisive: validateCount }, 'cidrs', validateFamilies] },
    { when: (_spec, { live }) => live !== undefined, steps: [validateChange] },
    { passedOver: ['cidrs'] },
  ],
  // Conditions are not validated: the condition of the default range has no reason.
  'networking/v1.ServiceCIDRStatus': [{ passedOver: ['conditions'] }],
}

function validateCount(errors: FieldError[], spec: Part, at: string): void {
  if (itemsOf(spec, 'cidrs').length <= 2) return
  errors.push(invalidValue(`${at}.cidrs`, goValue(ref('networking/v1.ServiceCIDRSpec'), spec), 'may only hold up to 2 values'))
}

function validateFamilies(errors: FieldError[], spec: Part, at: string): void {
  const ranges = itemsOf<string>(spec, 'cidrs')
  const [family, other] = ranges.map(cidrFamilyOf)
  if (ranges.length !== 2 || family === undefined || family !== other) return
  const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
  errors.push(invalidTexts(`${at}.cidrs`, ranges, detail))
}

/** A range of the other IP family may be added; existing ranges are immutable. */
function validateChange(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const [ranges, before] = [itemsOf<string>(spec, 'cidrs'), itemsOf<string>(liveAt(context, at), 'cidrs')]
  const isAdded = before.length === 1 && ranges.length === 2
  if (ranges.length !== before.length && !isAdded) {
    errors.push(invalidValue(`${at}.cidrs`, goValue(list(string()), spec['cidrs']), 'field is immutable'))
    return
  }
  for (const [index, range] of before.entries()) {
    if (range !== ranges[index]) errors.push(invalidValue(`${at}.cidrs[${index}]`, ranges[index], 'field is immutable'))
  }
  if (!isAdded) return
  for (const [index, range] of ranges.entries()) errors.push(...invalidFor(`${at}.cidrs[${index}]`, range, checkCanonicalCidr(range)))
  validateFamilies(errors, spec, at)
}
