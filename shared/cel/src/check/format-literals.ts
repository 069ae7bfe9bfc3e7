import type { CallExpr, Expr } from '../ast.ts'
import { at } from '../at.ts'
import type { CheckedAst } from '../checked.ts'
import { canPrint, FormatRefused, visitClauses, wrongArgument } from '../libraries/format-clauses.ts'
import type { Issue } from '../parse/source.ts'
import type { CelType } from '../types.ts'

type Types = CheckedAst['types']

/** The error of a call of `format` whose text and list are literals. Types that only the evaluation knows are not checked. */
export function checkFormat({ target, args: [list], offset }: CallExpr, types: Types): Issue | undefined {
  if (target?.kind !== 'constant' || target.constant.type !== 'string' || list?.kind !== 'list') return undefined
  const { elements } = list
  let wrong: Issue | undefined
  try {
    const used = visitClauses(target.constant.value, elements.length, {
      clause: (letter, index) => {
        const isPrinted = (part: Expr): boolean => isDynamic(types.get(part.id)) || canPrint(letter, types.get(part.id)?.kind ?? '')
        const part = firstOf(at(elements, index), letter === 's', (one) => !isPrinted(one))
        if (part !== undefined) wrong ??= { offset: part.offset, message: wrongArgument(letter, nameOf(types.get(part.id))) }
      },
    })
    const surplus = `too many arguments supplied to string.format (expected ${used}, got ${elements.length})`
    return wrong ?? (used < elements.length ? { offset, message: surplus } : undefined)
  } catch (error) {
    if (!(error instanceof FormatRefused)) throw error
    return wrong ?? { offset, message: error.message }
  }
}

/** The first part for which `isWanted` holds: the expression itself or, with `isDeep`, a part of its list and map literals. */
function firstOf(expr: Expr, isDeep: boolean, isWanted: (part: Expr) => boolean): Expr | undefined {
  const waiting = [expr]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (isWanted(part)) return part
    if (isDeep && part.kind === 'list') waiting.push(...part.elements.toReversed())
    if (isDeep && part.kind === 'map') waiting.push(...part.entries.flatMap(({ key, value }) => [key, value]).toReversed())
  }
  return undefined
}

function isDynamic(type: CelType | undefined): boolean {
  return type === undefined || type.kind === 'dyn'
}

function nameOf(type: CelType | undefined): string {
  if (type?.kind === 'opaque' || type?.kind === 'object') return type.name
  return type?.kind === 'optional' ? 'optional_type' : (type?.kind ?? '')
}
