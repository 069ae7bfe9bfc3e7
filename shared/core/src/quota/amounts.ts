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

/** Amounts in their printed form. */
export type PrintedAmounts = Readonly<Record<string, string>>

/** Reads `spec.hard` and the like; a text that is no quantity is left out. */
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

/** Amounts for a message: `pods=1,requests.cpu=500m`. */
export function describeAmounts(amounts: Amounts): string {
  return sorted(amounts)
    .map(([name, quantity]) => `${name}=${printQuantity(quantity)}`)
    .join(',')
}

/** The sum, of every resource that one of the sides names. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  if (right.size === 0) return left
  const sum = new Map(left)
  for (const [name, quantity] of right) sum.set(name, addQuantities(sum.get(name) ?? zeroQuantity, quantity))
  return sum
}

/** The amounts to add to `before` so that it is no less than `after` in any resource; a decrease is left out. */
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

/** Resources whose amounts exceed the limits; a resource without limit is not limited. */
export function exceededNames(amounts: Amounts, limits: Amounts): Set<string> {
  const exceeded = new Set<string>()
  for (const [name, quantity] of amounts) {
    const limit = limits.get(name)
    if (limit !== undefined && compareQuantities(quantity, limit) > 0) exceeded.add(name)
  }
  return exceeded
}

/** Resources of which the amount is below zero. */
export function negativeNames(amounts: Amounts): string[] {
  return sorted(amounts).flatMap(([name, quantity]) => (quantitySign(quantity) < 0 ? [name] : []))
}

/** True if both are equal for every resource, in any format. */
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
