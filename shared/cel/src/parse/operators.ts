import { type Expr, operators } from '../ast.ts'
import { at } from '../at.ts'

/** The position of a part of an expression, and its id. */
export interface Place {
  readonly id: number
  readonly offset: number
}

/** An operator between two operands; the stronger one binds first. */
export interface BinaryOperator {
  readonly name: string
  readonly strength: number
}

/** An operator that waits for its right operand. */
export interface WaitingOperator extends BinaryOperator, Place {}

/** Binary operators by their text. */
export const binaryOperators = new Map<string, BinaryOperator>([
  ['<', { name: operators.less, strength: 0 }],
  ['<=', { name: operators.lessEquals, strength: 0 }],
  ['>', { name: operators.greater, strength: 0 }],
  ['>=', { name: operators.greaterEquals, strength: 0 }],
  ['==', { name: operators.equals, strength: 0 }],
  ['!=', { name: operators.notEquals, strength: 0 }],
  ['in', { name: operators.in, strength: 0 }],
  ['+', { name: operators.add, strength: 1 }],
  ['-', { name: operators.subtract, strength: 1 }],
  ['*', { name: operators.multiply, strength: 2 }],
  ['/', { name: operators.divide, strength: 2 }],
  ['%', { name: operators.modulo, strength: 2 }],
])

/** Joins the last operands while the operator between them binds at least as strongly as the next one. */
export function joinStronger(operands: Expr[], waiting: WaitingOperator[], strength: number): void {
  for (let last = waiting.at(-1); last !== undefined && last.strength >= strength; last = waiting.at(-1)) {
    waiting.pop()
    const [left, right] = [at(operands, operands.length - 2), at(operands, operands.length - 1)]
    operands.splice(-2, 2, { kind: 'call', id: last.id, offset: last.offset, name: last.name, target: undefined, args: [left, right] })
  }
}

/** Operands of `&&` or `||`. They become a balanced tree, so that a long chain is not deeply nested. */
export class Operands {
  nextPlace: Place | undefined
  readonly #name: string
  readonly #operands: Expr[] = []
  readonly #places: Place[] = []

  constructor(name: string) {
    this.#name = name
  }

  /** Adds an operand, with the place of the operator before it. */
  add(operand: Expr, place?: Place): void {
    this.#operands.push(operand)
    if (place !== undefined) this.#places.push(place)
  }

  /** All operands joined by the operators from `low` to `high`, the middle one on top. */
  join(low = 0, high = this.#places.length - 1): Expr {
    if (low > high) return at(this.#operands, low)
    const middle = (low + high + 1) >> 1
    const args = [this.join(low, middle - 1), this.join(middle + 1, high)]
    const { id, offset } = at(this.#places, middle)
    return { kind: 'call', id, offset, name: this.#name, target: undefined, args }
  }
}
