import { child, type Draft, readMember } from '../../kind/draft.ts'
import { parseQuantity, printQuantity, roundUpQuantity } from '../../meta/quantity.ts'

const thousandths = -3

/** Rounds amounts up to thousandths, the stored resolution. */
export function roundAmounts(parent: Draft | undefined, name: string): void {
  const given = readMember(parent, name)
  for (const resource in given) {
    const rounded = roundedAmount(String(given[resource]))
    if (rounded !== undefined) Object.assign(child(parent, name) ?? {}, { [resource]: rounded })
  }
}

/** The rounded amount; undefined if it is not finer than a thousandth. */
function roundedAmount(text: string): string | undefined {
  // Only these suffixes, or digits after a point, can express a finer amount.
  if (!/[nu.eE]/.test(text)) return undefined
  const quantity = parseQuantity(text)
  if (quantity === undefined || quantity.exponent >= thousandths) return undefined
  const mantissa = roundUpQuantity(quantity, thousandths)
  return printQuantity({ mantissa, exponent: thousandths, format: quantity.format })
}
