import type { Expr } from './ast.ts'
import type { Overload } from './library.ts'
import type { CelType } from './types.ts'

/**
 * An expression whose names are resolved. If it was compiled without a check, all types are dyn, references hold all overloads of a
 * name, and a name without overloads is an error at evaluation.
 */
export interface CheckedAst {
  readonly text: string
  readonly expr: Expr
  /** The type of the whole expression. */
  readonly type: CelType
  /** The type of each part, by the id of its expression. */
  readonly types: ReadonlyMap<number, CelType>
  /** The meaning of each name, by the id of the identifier, selection, call or struct. */
  readonly references: ReadonlyMap<number, Reference>
}

/**
 * The meaning of a name. A selection (`a.b.c`) with a reference to a variable, constant or type is that name as a whole, not a field.
 * Local variables are the variables and accumulators of comprehensions; `.x` means the global variable even if a local one has the name.
 */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly isLocal: boolean }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'type'; readonly type: CelType }
  | FunctionReference

/**
 * The overloads that a call may mean. There are several if the types of the arguments are known only at run time. A call whose target
 * is the first part of the function's name (`sets.contains(a, b)`) is qualified: the target is not an argument.
 */
export interface FunctionReference {
  readonly kind: 'function'
  readonly name: string
  readonly isQualified: boolean
  readonly overloads: readonly Overload[]
}
