/** The comparison operator in a path's filter. */
export type Comparison = '==' | '!=' | '<=' | '>=' | '<' | '>'

/** True if a comparison holds. Values of different kinds are never equal and have no order. */
export function compareValues(operator: Comparison, left: unknown, right: unknown): boolean {
  switch (operator) {
    case '==':
      return isSame(left, right)
    case '!=':
      return !isSame(left, right)
    case '<=':
      return isSame(left, right) || isLess(left, right)
    case '>=':
      return isSame(left, right) || isLess(right, left)
    case '<':
      return isLess(left, right)
    case '>':
      return isLess(right, left)
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return isNumber(left) && isNumber(right) ? Number(left) === Number(right) : left === right
}

function isLess(left: unknown, right: unknown): boolean {
  if (isNumber(left) && isNumber(right)) return left < right
  return typeof left === 'string' && typeof right === 'string' && left < right
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
