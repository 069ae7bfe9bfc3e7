import { child, type Draft, readMember } from '../../kind/draft.ts'
import { parseQuantity, printQuantity, roundUpQuantity } from '../../meta/quantity.ts'

const thousandths = -3

/** Amounts of resources are stored in thousandths: finer ones are rounded up. */
export function roundAmounts(parent: Draft | undefined, name: string): void {
  const given = readMember(parent, name)
  for (const resource in given) {
    const rounded = roundedAmount(String(given[resource]))
    if (rounded !== undefined) Object.assign(child(parent, name) ?? {}, { [resource]: rounded })
  }
}

/** Undefined: nothing of the amount is finer. */
function roundedAmount(text: string): string | undefined {
  // Only these suffixes, or digits after a point, express something finer.
  if (!/[nu.eE]/.test(text)) return undefined
  const quantity = parseQuantity(text)
  if (quantity === undefined || quantity.exponent >= thousandths) return undefined
  const mantissa = roundUpQuantity(quantity, thousandths)
  return printQuantity({ mantissa, exponent: thousandths, format: quantity.format })
}
