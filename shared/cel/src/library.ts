import type { Constant, Expr } from './ast.ts'
import type { CelType } from './types.ts'

/** Functions, macros, constants and types that expressions may use together. */
export interface Library {
  readonly name: string
  /** The minor version of Kubernetes 1.x that knows it first. */
  readonly since: number
  /** The minor version from which another library takes its place. */
  readonly until?: number
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  readonly constants?: Readonly<Record<string, { readonly type: CelType; readonly value: unknown }>>
  /** Types that an expression may name, as `net.IP`. */
  readonly types?: Readonly<Record<string, CelType>>
  /** True if it allows `a.?b`, `a[?b]`, `[?a]` and `{?a: b}`. */
  readonly optionals?: boolean
}

/** A function under the name by which expressions call it; operators have names of their own, see `operators`. */
export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

/** One overload of a function: its types and its estimated cost. */
export interface Overload {
  /** cel-go's id. */
  readonly id: string
  /** True if it is called as `receiver.f(…)`; the receiver is the first parameter. */
  readonly member: boolean
  readonly parameters: readonly CelType[]
  readonly result: CelType
  /** The estimated cost of one call, that of the arguments aside, and the size of its result; absent: 1, and unknown. */
  readonly estimate?: (call: CallSizes) => CallEstimate
}

/** Bounds of a cost or a size, both of which saturate at 2^64 - 1. */
export interface Bounds {
  readonly min: bigint
  readonly max: bigint
}

/** An estimate's facts about an argument of a call, or an element of it. */
export interface SizedExpr {
  /** Absent for an element. */
  readonly expr: Expr | undefined
  readonly type: CelType
  /** Its size; 0 to 2^64 - 1 where that is unknown. */
  readonly size: Bounds
  readonly isSized: boolean
  /** An element of a list; undefined where the argument is none. */
  element(): SizedExpr | undefined
}

/** The arguments of a call, the receiver first. */
export interface CallSizes {
  readonly args: readonly SizedExpr[]
}

/** An estimate of a call. */
export interface CallEstimate {
  readonly cost: Bounds
  /** The size of the result, where it is known. */
  readonly size?: Bounds
}

/** A call that becomes another expression when it is parsed. */
export interface Macro {
  readonly name: string
  /** True if it is called as `target.name(…)`. */
  readonly member: boolean
  /** The number of arguments it takes; any where it is absent. */
  readonly arguments?: number
  /** The expression instead of the call; undefined leaves the call unchanged. */
  readonly expand: (builder: ExprBuilder, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined
}

/** Makes expressions with ids of their own, at the offset of the macro's call. */
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
  /** The same expression with ids of its own, for a macro that repeats one. */
  copy(expr: Expr): Expr
  /** Adds an error at an expression, or at the macro's call. */
  fail(message: string, at?: Expr): undefined
}

/** The parts of a comprehension that a macro makes. */
export interface ComprehensionParts {
  readonly variable: string
  readonly variable2?: string
  readonly accumulator?: string
  readonly range: Expr
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
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
