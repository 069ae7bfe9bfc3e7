import { at } from '../at.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import { memo } from '../memo.ts'
import type { CelType } from '../types.ts'
import { partsOf } from './walk.ts'

/** An overload, and the names of the type parameters in its result and its parameters, in this order. */
export interface Signature {
  readonly overload: Overload
  readonly names: readonly string[]
}

/** The signatures of a function, cached. */
export const signaturesOf: (declaration: FunctionDeclaration) => readonly Signature[] = memo((declaration: FunctionDeclaration) =>
  declaration.overloads.map((overload) => {
    const names = new Set<string>()
    for (const type of [overload.result, ...overload.parameters]) addNames(type, names)
    return { overload, names: [...names] }
  }),
)

function addNames(type: CelType, names: Set<string>): void {
  if (type.kind === 'parameter') names.add(type.name)
  for (const part of partsOf(type)) addNames(part, names)
}

/** True if an argument and its parameter have kinds that no type binding can match. */
export function isOutOfQuestion(args: readonly CelType[], parameters: readonly CelType[]): boolean {
  for (let index = 0; index < args.length; index += 1) {
    const given = at(args, index).kind
    const taken = at(parameters, index).kind
    if (given !== taken && isOfOwnKind(given) && isOfOwnKind(taken)) return true
  }
  return false
}

/** True if a type of this kind matches only types of the same kind. */
function isOfOwnKind(kind: CelType['kind']): boolean {
  return !['parameter', 'dyn', 'error', 'null', 'wrapper'].includes(kind)
}

/** The style of a call: on a receiver, or with its name's first part as the receiver. */
export interface CallStyle {
  readonly isMember: boolean
  readonly isQualified: boolean
}

/** `f(x)`, `a.f(x)`, and `a.f(x)` where `a.f` is the name. */
export const callStyles = {
  global: { isMember: false, isQualified: false },
  member: { isMember: true, isQualified: false },
  qualified: { isMember: false, isQualified: true },
} as const satisfies Readonly<Record<string, CallStyle>>
