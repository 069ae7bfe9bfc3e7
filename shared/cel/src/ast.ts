/** The fields that all expressions have: an id that is unique within the text, from 1, and the UTF-16 offset that errors point to. */
interface Node {
  readonly id: number
  readonly offset: number
}

/** A literal value. */
export type Constant =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array }

/** `1`, `'text'`, `null` */
interface ConstantExpr extends Node {
  readonly kind: 'constant'
  readonly constant: Constant
}

/** `self`; a leading dot (`.self`) is part of the name. */
interface IdentExpr extends Node {
  readonly kind: 'ident'
  readonly name: string
}

/** `operand.field`; with `test`, `has(operand.field)`. */
export interface SelectExpr extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  readonly test: boolean
}

/** `f(x)`, `target.f(x)`, and every operator under cel-go's name for it: see `operators`. */
export interface CallExpr extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

/** `[a, ?b]`; `optional` holds the indices of the elements with a question mark. */
export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  readonly optional: readonly number[]
}

/** An entry of a map; it has the id of its colon. */
export interface MapEntry extends Node {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

/** `{a: b, ?c: d}` */
export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

/** A field of a struct; it has the id of its colon. */
export interface StructField extends Node {
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/** `Object.spec{replicas: 1}` */
export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly StructField[]
}

/**
 * The form of a macro: `accumulator = init; for (variable in range) { if (!condition) break; accumulator = step }; result`.
 * With one variable it is the element of a list or the key of a map; with two, index and element, or key and value.
 */
export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension'
  readonly variable: string
  readonly variable2: string | undefined
  readonly accumulator: string
  readonly range: Expr
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** An expression. */
export type Expr = ConstantExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr

/** The function names of operators. */
export const operators = {
  conditional: '_?_:_',
  and: '_&&_',
  or: '_||_',
  not: '!_',
  negate: '-_',
  equals: '_==_',
  notEquals: '_!=_',
  less: '_<_',
  lessEquals: '_<=_',
  greater: '_>_',
  greaterEquals: '_>=_',
  add: '_+_',
  subtract: '_-_',
  multiply: '_*_',
  divide: '_/_',
  modulo: '_%_',
  index: '_[_]',
  optionalIndex: '_[?_]',
  optionalSelect: '_?._',
  in: '@in',
  notStrictlyFalse: '@not_strictly_false',
} as const

/** The direct subexpressions of an expression, in the order of the text. */
export function subexpressions(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'constant':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
  }
}
