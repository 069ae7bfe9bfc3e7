import type { ComprehensionExpr, Constant, Expr } from './ast.ts'
import type { CelType } from './types.ts'

/** Functions, macros, constants and types that expressions may use together. */
export interface Library {
  readonly name: string
  /** The first minor version of Kubernetes 1.x that has the library. */
  readonly since: number
  /** The minor version in which another library replaces this one. */
  readonly until?: number
  readonly functions: Functions
  readonly macros?: readonly Macro[]
  readonly constants?: Readonly<Record<string, { readonly type: CelType; readonly value: unknown }>>
  /** Types that an expression may name, such as `net.IP`. */
  readonly types?: Readonly<Record<string, CelType>>
  /** True if the library allows `a.?b`, `a[?b]`, `[?a]` and `{?a: b}`. */
  readonly optionals?: boolean
}

/** The overloads of functions by the name with which expressions call them. For the names of operators, see `operators`. */
export type Functions = Readonly<Record<string, readonly Overload[]>>

/** A function with the overloads of all libraries. */
export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

/** One overload of a function: its types and its estimated cost. */
export interface Overload {
  /** cel-go's id. */
  readonly id: string
  /** True for a call of the form `receiver.f(…)`; the receiver is the first parameter. */
  readonly member: boolean
  readonly parameters: readonly CelType[]
  readonly result: CelType
  /** Estimates the cost of one call without its arguments, and the size of its result. Default: cost 1, unknown size. */
  readonly estimate?: (call: CallSizes) => CallEstimate
}

/** Bounds of a cost or a size, both of which saturate at 2^64 - 1. */
export interface Bounds {
  readonly min: bigint
  readonly max: bigint
}

/** An argument of a call, or an element of an argument, as an estimate sees it. */
export interface SizedExpr {
  /** Undefined for an element. */
  readonly expr: Expr | undefined
  readonly type: CelType
  /** The size; 0 to 2^64 - 1 if unknown. */
  readonly size: Bounds
  readonly isSized: boolean
  /** An element of the argument; undefined if the argument is not a list. */
  element(): SizedExpr | undefined
}

/** The arguments of a call, the receiver first. */
export interface CallSizes {
  readonly args: readonly SizedExpr[]
}

export interface CallEstimate {
  readonly cost: Bounds
  /** The size of the result, if known. */
  readonly size?: Bounds
}

/** A call that the parser replaces with another expression. */
export interface Macro {
  readonly name: string
  /** True for a call of the form `target.name(…)`. */
  readonly member: boolean
  /** The number of arguments. Default: any number. */
  readonly arguments?: number
  /** The expression that replaces the call; undefined leaves the call unchanged. */
  readonly expand: (builder: ExprBuilder, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined
}

/** Makes expressions with new ids, at the offset of the macro's call. */
export interface ExprBuilder {
  /** The name of a comprehension's accumulator, which no expression can spell. */
  readonly accumulator: string
  constant(constant: Constant): Expr
  ident(name: string): Expr
  select(operand: Expr, field: string, test?: boolean): Expr
  call(name: string, ...args: readonly Expr[]): Expr
  memberCall(name: string, target: Expr, ...args: readonly Expr[]): Expr
  list(...elements: readonly Expr[]): Expr
  map(...entries: readonly { readonly key: Expr; readonly value: Expr }[]): Expr
  comprehension(parts: ComprehensionParts): Expr
  /** A copy with new ids, for a macro that repeats an expression. */
  copy(expr: Expr): Expr
  /** Adds an error at an expression, or at the macro's call. */
  fail(message: string, at?: Expr): undefined
}

/** The parts of a comprehension that a macro makes. */
export interface ComprehensionParts extends Pick<ComprehensionExpr, 'variable' | 'range' | 'init' | 'condition' | 'step' | 'result'> {
  readonly variable2?: string
  readonly accumulator?: string
}

type OverloadParts = Pick<Overload, 'estimate'>

/** An overload that is called as `f(…)`. */
export function overload(id: string, parameters: readonly CelType[], result: CelType, parts: OverloadParts = {}): Overload {
  return { id, member: false, parameters, result, ...parts }
}

/** An overload that is called as `receiver.f(…)`; the receiver is the first parameter. */
export function memberOverload(id: string, parameters: readonly CelType[], result: CelType, parts: OverloadParts = {}): Overload {
  return { id, member: true, parameters, result, ...parts }
}
