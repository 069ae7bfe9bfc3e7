import { parseQuantity, printQuantity, roundUpQuantity } from '../../meta/quantity.ts'
import { child, type Draft } from './draft.ts'

const thousandths = -3

/** Amounts of resources are kept in thousandths: what is finer is rounded up. */
export function roundAmounts(parent: Draft | undefined, name: string): void {
  const amounts = child(parent, name)
  for (const resource in amounts) {
    const text = String(amounts[resource])
    // Only these suffixes, or digits behind a point, say something finer.
    if (!/[nu.eE]/.test(text)) continue
    const quantity = parseQuantity(text)
    if (quantity === undefined || quantity.exponent >= thousandths) continue
    const mantissa = roundUpQuantity(quantity, thousandths)
    amounts[resource] = printQuantity({ mantissa, exponent: thousandths, format: quantity.format })
  }
}
