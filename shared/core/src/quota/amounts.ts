import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantitySign,
  subtractQuantities,
  zeroQuantity,
} from '../meta/quantity.ts'

/** Amounts by quota resource: `pods`, `requests.cpu`, `count/deployments.apps`. */
export type Amounts = ReadonlyMap<string, Quantity>

/** Printed amounts. */
export type PrintedAmounts = Readonly<Record<string, string>>

/** Parses `spec.hard` and the like; invalid quantities are skipped. */
export function parseAmounts(printed: Readonly<Record<string, unknown>> | undefined): Amounts {
  const amounts = new Map<string, Quantity>()
  for (const [name, value] of Object.entries(printed ?? {})) {
    const quantity = parseQuantity(String(value))
    if (quantity !== undefined) amounts.set(name, quantity)
  }
  return amounts
}

/** Prints amounts for an object. */
export function printAmounts(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(sorted(amounts).map(([name, quantity]) => [name, printQuantity(quantity)]))
}

/** Prints amounts for a message: `pods=1,requests.cpu=500m`. */
export function describeAmounts(amounts: Amounts): string {
  return sorted(amounts)
    .map(([name, quantity]) => `${name}=${printQuantity(quantity)}`)
    .join(',')
}

/** The sum of two lists, for every resource in either. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  if (right.size === 0) return left
  const sum = new Map(left)
  for (const [name, quantity] of right) sum.set(name, addQuantities(sum.get(name) ?? zeroQuantity, quantity))
  return sum
}

/** The amounts by which resources grow from `before` to `after`; decreases are omitted. */
export function growthOf(before: Amounts, after: Amounts): Amounts {
  const growth = new Map<string, Quantity>()
  for (const [name, quantity] of after) {
    const difference = subtractQuantities(quantity, before.get(name) ?? zeroQuantity)
    if (quantitySign(difference) > 0) growth.set(name, difference)
  }
  return growth
}

/** Only the named resources. */
export function maskAmounts(amounts: Amounts, names: { has(name: string): boolean }): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)))
}

/** Resources whose amounts exceed the limits; resources without a limit are unlimited. */
export function exceededNames(amounts: Amounts, limits: Amounts): Set<string> {
  const exceeded = new Set<string>()
  for (const [name, quantity] of amounts) {
    const limit = limits.get(name)
    if (limit !== undefined && compareQuantities(quantity, limit) > 0) exceeded.add(name)
  }
  return exceeded
}

/** Resources with a negative amount. */
export function negativeNames(amounts: Amounts): string[] {
  return sorted(amounts).flatMap(([name, quantity]) => (quantitySign(quantity) < 0 ? [name] : []))
}

/** True if both are equal for every resource, whatever the format. */
export function sameAmounts(left: Amounts, right: Amounts): boolean {
  if (left.size !== right.size) return false
  return [...left].every(([name, quantity]) => {
    const other = right.get(name)
    return other !== undefined && compareQuantities(quantity, other) === 0
  })
}

function sorted(amounts: Amounts): [string, Quantity][] {
  return [...amounts].sort(([left], [right]) => (left < right ? -1 : 1))
}
