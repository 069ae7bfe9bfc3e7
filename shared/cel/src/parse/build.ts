import type { Constant, Expr, MapEntry } from '../ast.ts'
import type { ComprehensionParts, ExprBuilder } from '../library.ts'
import type { Issue } from './source.ts'

/** The accumulator of comprehensions; `@` is no part of any identifier. */
const accumulator = '@result'

/** Maximum number of parts: a macro may repeat its target, so nested macros would multiply. */
export const partsMax = 200_000

/** Assigns the ids of an expression's parts and collects its errors. */
export class Parts {
  readonly issues: Issue[] = []
  /** The last assigned id. */
  last = 0

  next(): number {
    this.last += 1
    return this.last
  }

  get isFull(): boolean {
    return this.last > partsMax
  }

  /** A builder of expressions at the place of a macro's call. */
  builder(offset: number): ExprBuilder {
    return new PlacedBuilder(this, offset)
  }
}

class PlacedBuilder implements ExprBuilder {
  readonly accumulator = accumulator
  readonly #parts: Parts
  readonly #offset: number

  constructor(parts: Parts, offset: number) {
    this.#parts = parts
    this.#offset = offset
  }

  constant(constant: Constant): Expr {
    return { kind: 'constant', id: this.#parts.next(), offset: this.#offset, constant }
  }

  ident(name: string): Expr {
    return { kind: 'ident', id: this.#parts.next(), offset: this.#offset, name }
  }

  select(operand: Expr, field: string, test = false): Expr {
    return { kind: 'select', id: this.#parts.next(), offset: this.#offset, operand, field, test }
  }

  call(name: string, ...args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.#parts.next(), offset: this.#offset, name, target: undefined, args }
  }

  memberCall(name: string, target: Expr, ...args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.#parts.next(), offset: this.#offset, name, target, args }
  }

  list(...elements: readonly Expr[]): Expr {
    return { kind: 'list', id: this.#parts.next(), offset: this.#offset, elements, optional: [] }
  }

  map(...entries: readonly { readonly key: Expr; readonly value: Expr }[]): Expr {
    const placed = entries.map(
      ({ key, value }): MapEntry => ({ id: this.#parts.next(), offset: this.#offset, key, value, optional: false }),
    )
    return { kind: 'map', id: this.#parts.next(), offset: this.#offset, entries: placed }
  }

  comprehension({ variable, variable2, accumulator: name = accumulator, ...parts }: ComprehensionParts): Expr {
    const { range, init, condition, step, result } = parts
    const id = this.#parts.next()
    return { kind: 'comprehension', id, offset: this.#offset, variable, variable2, accumulator: name, range, init, condition, step, result }
  }

  copy(expr: Expr): Expr {
    return copyExpr(expr, this.#parts)
  }

  fail(message: string, at?: Expr): undefined {
    this.#parts.issues.push({ offset: at?.offset ?? this.#offset, message })
  }
}

/** A copy with new ids. It is incomplete if the expression has too many parts. */
function copyExpr(expr: Expr, parts: Parts): Expr {
  if (parts.isFull) return expr
  const id = parts.next()
  const copy = (part: Expr) => copyExpr(part, parts)
  switch (expr.kind) {
    case 'constant':
    case 'ident':
      return { ...expr, id }
    case 'select':
      return { ...expr, id, operand: copy(expr.operand) }
    case 'call':
      return { ...expr, id, target: expr.target && copy(expr.target), args: expr.args.map(copy) }
    case 'list':
      return { ...expr, id, elements: expr.elements.map(copy) }
    case 'map':
      return {
        ...expr,
        id,
        entries: expr.entries.map((entry) => ({ ...entry, id: parts.next(), key: copy(entry.key), value: copy(entry.value) })),
      }
    case 'struct':
      return { ...expr, id, fields: expr.fields.map((field) => ({ ...field, id: parts.next(), value: copy(field.value) })) }
    case 'comprehension':
      return {
        ...expr,
        id,
        range: copy(expr.range),
        init: copy(expr.init),
        condition: copy(expr.condition),
        step: copy(expr.step),
        result: copy(expr.result),
      }
  }
}
