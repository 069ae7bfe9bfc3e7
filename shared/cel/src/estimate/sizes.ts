import type { Constant, Expr } from '../ast.ts'
import type { Bounds } from '../library.ts'
import type { CelType } from '../types.ts'
import { fixed } from './bounds.ts'

/** The size of a literal in the text; undefined for a computed value. */
export function literalSize(expr: Expr): Bounds | undefined {
  switch (expr.kind) {
    case 'constant':
      return fixed(constantSize(expr.constant))
    case 'list':
      return fixed(BigInt(expr.elements.length))
    case 'map':
      return fixed(BigInt(expr.entries.length))
    default:
      return undefined
  }
}

function constantSize(constant: Constant): bigint {
  if (constant.type === 'string') return BigInt([...constant.value].length)
  return constant.type === 'bytes' ? BigInt(constant.value.length) : 1n
}

/** The size of all values of a type; undefined if values differ in size. */
export function sizeOfType(type: CelType): Bounds | undefined {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return fixed(1n)
    case 'optional':
    case 'wrapper':
      return type.value.kind === 'string' || type.value.kind === 'bytes' ? undefined : sizeOfType(type.value)
    default:
      return undefined
  }
}
