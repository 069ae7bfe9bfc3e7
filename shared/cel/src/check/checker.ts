import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapEntry,
  type MapExpr,
  operators,
  type SelectExpr,
  type StructExpr,
  type StructField,
} from '../ast.ts'
import { at } from '../at.ts'
import type { CheckedAst, Reference } from '../checked.ts'
import { noneLarge, partsPerStep, type Steps } from '../large.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import type { Issue } from '../parse/source.ts'
import { type CelType, listOf, mapOf, optionalOf, printType, types } from '../types.ts'
import { beginningsOf, chainName, findInContainer, type GlobalName, type Names } from './names.ts'
import { Scope } from './scope.ts'
import { type CallStyle, callStyles, isOutOfQuestion, signaturesOf } from './signatures.ts'
import { substitute, TypeSolver } from './solver.ts'
import { isDynOrError } from './walk.ts'

/** The strictness of a check. */
export interface CheckOptions {
  /** True if the elements of a list literal, and the entries of a map literal, may have different types. */
  readonly mixedLiterals: boolean
}

/** The types of an expression, or its errors. */
export type CheckResult =
  | { readonly kind: 'checked'; readonly ast: CheckedAst }
  | { readonly kind: 'invalid'; readonly issues: readonly Issue[] }

/** The variables within a comprehension. */
type LoopVariables = readonly { readonly name: string; readonly type: CelType }[]

/** The types that the entries of a map literal have in common. */
interface JoinedEntries {
  key: CelType | undefined
  value: CelType | undefined
}

/** Finds the types of one expression and the meaning of its names. */
export class Checker {
  readonly #names: Names
  readonly #options: CheckOptions
  readonly #solver = new TypeSolver()
  readonly #types = new Map<number, CelType>()
  readonly #references = new Map<number, Reference>()
  readonly #issues: Issue[] = []
  /** Literals with values of several types, reported if there is no other issue. */
  readonly #mixed: Issue[] = []
  #takesMixed = false
  readonly #locals = new Scope()

  /** Parts that are checked in steps. */
  readonly #large: ReadonlySet<Expr>
  /** The variables of large comprehensions. */
  readonly #variables = new Map<Expr, LoopVariables>()
  #partsAtPause = partsPerStep

  constructor(names: Names, options: CheckOptions, large = noneLarge) {
    this.#names = names
    this.#options = options
    this.#large = large
  }

  /** The result for an expression without errors: the types of all its parts, with type parameters replaced by their bindings. */
  finish(text: string, expr: Expr, type: CelType): CheckResult {
    const issues = this.#issues.length > 0 ? this.#issues : this.#mixed
    if (issues.length > 0) return { kind: 'invalid', issues }
    const known = new Map<CelType, CelType>()
    for (const [id, found] of this.#types) {
      const resolved = this.#solver.resolve(found, true, known)
      if (resolved !== found) this.#types.set(id, resolved)
    }
    const ast = { text, expr, type: this.#solver.resolve(type, true, known), types: this.#types, references: this.#references }
    return { kind: 'checked', ast }
  }

  /** The type of an expression. A large part that is already checked is not checked again. */
  check(expr: Expr): CelType {
    const known = this.#large === noneLarge ? undefined : this.#types.get(expr.id)
    return known ?? this.#found(expr, this.#typeOf(expr))
  }

  #found(expr: Expr, type: CelType): CelType {
    this.#types.set(expr.id, type)
    return type
  }

  /** Like `check`, for a large expression: checks its parts one after the other, so that `check` finds their types. */
  *checkLarge(expr: Expr): Steps<CelType> {
    switch (expr.kind) {
      case 'select':
        yield* this.#checkSelected(expr)
        break
      case 'call':
        yield* this.#checkCallParts(expr)
        break
      case 'list':
        return this.#found(expr, yield* this.#largeList(expr))
      case 'map':
        return this.#found(expr, yield* this.#largeMap(expr))
      case 'struct':
        return this.#found(expr, yield* this.#largeStruct(expr))
      case 'comprehension':
        yield* this.#checkComprehensionParts(expr)
        break
    }
    return this.check(expr)
  }

  *#checkInOrder(parts: readonly Expr[]): Steps<void> {
    for (const part of parts) {
      if (this.#large.has(part)) yield* this.checkLarge(part)
      else this.check(part)
      if (this.#isStepOver()) yield
    }
  }

  #isStepOver(): boolean {
    if (this.#types.size < this.#partsAtPause) return false
    this.#partsAtPause = this.#types.size + partsPerStep
    return true
  }

  /** A chain of selections is checked as a whole after its first operand. A large first operand cannot be a name. */
  *#checkSelected({ operand }: SelectExpr): Steps<void> {
    let base = operand
    while (base.kind === 'select' && !base.test) base = base.operand
    if (this.#large.has(base)) yield* this.#checkInOrder([base])
  }

  /** A large target cannot be a name, so it is checked after the arguments. */
  *#checkCallParts(expr: CallExpr): Steps<void> {
    if (expr.name === operators.optionalSelect) return yield* this.#checkInOrder(expr.args.slice(0, 1))
    const before = this.#takesMixed
    this.#takesMixed = expr.name === 'format'
    yield* this.#checkInOrder(expr.args)
    this.#takesMixed = before
    if (expr.target !== undefined && this.#large.has(expr.target)) yield* this.#checkInOrder([expr.target])
  }

  /** Checks the parts of a macro. The code that a macro adds to its arguments is small. */
  *#checkComprehensionParts(expr: ComprehensionExpr): Steps<void> {
    yield* this.#checkInOrder([expr.range, expr.init])
    const variables = this.#loopVariables(expr, this.#solver.resolve(this.check(expr.range)))
    this.#variables.set(expr, variables)
    this.#locals.enter(expr.accumulator, this.check(expr.init))
    if (this.#large.has(expr.step)) {
      for (const { name, type } of variables) this.#locals.enter(name, type)
      yield* this.#checkInOrder([expr.condition, expr.step])
      for (const { name } of variables) this.#locals.leave(name)
    } else if (this.#large.has(expr.result)) {
      yield* this.#checkInOrder([expr.result])
    }
    this.#locals.leave(expr.accumulator)
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'constant':
        return types[expr.constant.type]
      case 'ident':
        return this.#ident(expr, expr.name)
      case 'select':
        return this.#select(expr)
      case 'call':
        return expr.name === operators.optionalSelect ? this.#optionalSelect(expr) : this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #ident(expr: Expr, name: string): CelType {
    const local = this.#locals.find(name)
    if (local !== undefined) {
      this.#references.set(expr.id, { kind: 'variable', name, isLocal: true })
      return local
    }
    const found = this.#findGlobal(name)
    if (found === undefined) return this.#undeclared(expr, name)
    this.#references.set(expr.id, found.reference)
    return found.type
  }

  #findGlobal(name: string): GlobalName | undefined {
    return findInContainer(this.#names.container, name, (candidate) => this.#names.findGlobal(candidate))
  }

  /** Finds the longest prefix of a chain of selections that is a declared name; the remaining selections are fields. */
  #select(expr: SelectExpr): CelType {
    const chain = [expr]
    let base = expr.operand
    while (base.kind === 'select' && !base.test) {
      chain.push(base)
      base = base.operand
    }
    const named = base.kind === 'ident' ? this.#longestName(base.name, chain) : undefined
    let type = named?.type
    if (named === undefined) type = this.check(base)
    for (let index = (named?.index ?? chain.length) - 1; index >= 0; index -= 1) {
      const part = at(chain, index)
      const field = this.#field(part, part.operand, part.field, false)
      type = part.test ? types.bool : this.#solver.resolve(field)
      if (index > 0) this.#types.set(part.id, type)
    }
    return type!
  }

  /** The longest prefix of a chain (`[.c, .b]` on `a`) that is a global name, and the index where it ends. */
  #longestName(first: string, chain: readonly SelectExpr[]): { readonly index: number; readonly type: CelType } | undefined {
    if (this.#locals.find(first) !== undefined) return undefined
    const names = beginningsOf(first, chain)
    for (let length = names.length - 1; length > 0; length -= 1) {
      const found = this.#findGlobal(at(names, length))
      if (found === undefined) continue
      const index = chain.length - length
      this.#references.set(at(chain, index).id, found.reference)
      this.#types.set(at(chain, index).id, found.type)
      return { index, type: found.type }
    }
    return undefined
  }

  /** The type of a field of an operand that is already checked. */
  #field(expr: Expr, operand: Expr, field: string, isOptional: boolean): CelType {
    const operandType = this.#solver.resolve(this.#types.get(operand.id) ?? types.error)
    const inner = operandType.kind === 'optional' ? operandType.value : operandType
    const type = this.#fieldOf(expr, inner, field)
    return isOptional || operandType.kind === 'optional' ? optionalOf(type) : type
  }

  #fieldOf(expr: Expr, type: CelType, field: string): CelType {
    if (type.kind === 'map') return type.value
    if (type.kind === 'object') return this.#names.findField(type.name, field) ?? this.#fail(expr, `undefined field '${field}'`)
    if (type.kind === 'parameter') this.#solver.assign([types.dyn], [type])
    else if (!isDynOrError(type)) this.#fail(expr, `type '${printType(type)}' does not support field selection`)
    return types.dyn
  }

  #optionalSelect(expr: CallExpr): CelType {
    const operand = at(expr.args, 0)
    const name = at(expr.args, 1)
    this.check(operand)
    this.#references.set(expr.id, { kind: 'function', name: expr.name, isQualified: false, overloads: [] })
    const field = name.kind === 'constant' && name.constant.type === 'string' ? name.constant.value : ''
    this.#types.set(name.id, types.string)
    return this.#solver.resolve(this.#field(expr, operand, field, true))
  }

  #call(expr: CallExpr): CelType {
    const args = this.#arguments(expr)
    const qualified = expr.target === undefined ? undefined : this.#qualifiedFunction(expr.target, expr.name)
    if (qualified !== undefined) return this.#resolve(expr, qualified, args, callStyles.qualified)
    const target = expr.target === undefined ? undefined : this.check(expr.target)
    const declaration = this.#findFunction(expr.name)
    if (declaration === undefined) return this.#undeclared(expr, expr.name)
    if (target !== undefined) args.unshift(target)
    return this.#resolve(expr, declaration, args, target === undefined ? callStyles.global : callStyles.member)
  }

  /** The types of a call's arguments. The items of a list for `format` may have different types. */
  #arguments(call: CallExpr): CelType[] {
    const before = this.#takesMixed
    this.#takesMixed = call.name === 'format'
    const args: CelType[] = []
    for (const argument of call.args) args.push(this.check(argument))
    this.#takesMixed = before
    return args
  }

  /** The function `a.b.f` of a call `a.b.f(x)`. */
  #qualifiedFunction(target: Expr, name: string): FunctionDeclaration | undefined {
    const prefix = chainName(target)
    return prefix === undefined ? undefined : this.#findFunction(`${prefix}.${name}`)
  }

  #findFunction(name: string): FunctionDeclaration | undefined {
    return findInContainer(this.#names.container, name, (candidate) => this.#names.findFunction(candidate))
  }

  /** Selects the overloads that accept the arguments. If their results have different types, the result is dyn. */
  #resolve(expr: CallExpr, declaration: FunctionDeclaration, args: readonly CelType[], call: CallStyle): CelType {
    if (declaration.name === operators.and || declaration.name === operators.or) return this.#logical(expr, declaration, args)
    const overloads: Overload[] = []
    let result: CelType | undefined
    for (const { overload, names } of signaturesOf(declaration)) {
      if (overload.member !== call.isMember || overload.parameters.length !== args.length) continue
      const type = this.#resultOf(overload, names, args)
      if (type === undefined) continue
      overloads.push(overload)
      result = result === undefined || result === type || printType(result) === printType(type) ? type : types.dyn
    }
    if (result === undefined) return this.#noOverload(expr, declaration, args, call)
    this.#references.set(expr.id, { kind: 'function', name: declaration.name, isQualified: call.isQualified, overloads })
    return result
  }

  /** The result type of an overload; undefined if the overload does not accept the arguments. */
  #resultOf({ parameters, result }: Overload, names: readonly string[], args: readonly CelType[]): CelType | undefined {
    if (isOutOfQuestion(args, parameters)) {
      this.#solver.skip(names.length)
      return undefined
    }
    if (names.length === 0) return this.#solver.assign(args, parameters) ? this.#solver.resolve(result) : undefined
    const fresh = this.#solver.freshFor(names)
    const taken = parameters.map((parameter) => substitute(parameter, fresh))
    return this.#solver.assign(args, taken) ? this.#solver.resolve(substitute(result, fresh)) : undefined
  }

  #logical(expr: CallExpr, declaration: FunctionDeclaration, args: readonly CelType[]): CelType {
    args.forEach((type, index) => {
      if (type !== types.bool && !this.#solver.assign([type], [types.bool])) this.#mismatch(at(expr.args, index), types.bool, type)
    })
    this.#references.set(expr.id, { kind: 'function', name: declaration.name, isQualified: false, overloads: declaration.overloads })
    return types.bool
  }

  #noOverload(expr: Expr, declaration: FunctionDeclaration, args: readonly CelType[], { isMember }: CallStyle): CelType {
    const printed = args.map((type) => printType(this.#solver.resolve(type, true)))
    const target = isMember ? `${printed.shift()}.` : ''
    return this.#fail(expr, `found no matching overload for '${declaration.name}' applied to '${target}(${printed.join(', ')})'`)
  }

  #list(expr: ListExpr): CelType {
    const optional = new Set(expr.optional)
    let type: CelType | undefined
    expr.elements.forEach((element, index) => {
      type = this.#join(element, type, this.#element(element, optional.has(index)))
    })
    return listOf(type ?? this.#solver.fresh())
  }

  *#largeList(expr: ListExpr): Steps<CelType> {
    const optional = new Set(expr.optional)
    let type: CelType | undefined
    for (const [index, element] of expr.elements.entries()) {
      if (this.#large.has(element)) yield* this.checkLarge(element)
      type = this.#join(element, type, this.#element(element, optional.has(index)))
      if (this.#isStepOver()) yield
    }
    return listOf(type ?? this.#solver.fresh())
  }

  #map(expr: MapExpr): CelType {
    const joined: JoinedEntries = { key: undefined, value: undefined }
    for (const entry of expr.entries) {
      this.#joinKey(joined, entry)
      this.#joinValue(joined, entry)
    }
    return mapOf(joined.key ?? this.#solver.fresh(), joined.value ?? this.#solver.fresh())
  }

  *#largeMap(expr: MapExpr): Steps<CelType> {
    const joined: JoinedEntries = { key: undefined, value: undefined }
    for (const entry of expr.entries) {
      if (this.#large.has(entry.key)) yield* this.checkLarge(entry.key)
      this.#joinKey(joined, entry)
      if (this.#large.has(entry.value)) yield* this.checkLarge(entry.value)
      this.#joinValue(joined, entry)
      if (this.#isStepOver()) yield
    }
    return mapOf(joined.key ?? this.#solver.fresh(), joined.value ?? this.#solver.fresh())
  }

  #joinKey(joined: JoinedEntries, { key }: MapEntry): void {
    joined.key = this.#join(key, joined.key, this.check(key))
  }

  #joinValue(joined: JoinedEntries, { value, optional }: MapEntry): void {
    joined.value = this.#join(value, joined.value, this.#element(value, optional))
  }

  /** The type that an element adds to a literal; for `?element`, the type of the optional's value. */
  #element(expr: Expr, isOptional: boolean): CelType {
    const type = this.check(expr)
    if (!isOptional) return type
    const resolved = this.#solver.resolve(type)
    if (resolved.kind === 'optional') return resolved.value
    if (resolved.kind !== 'dyn') this.#mismatch(expr, optionalOf(resolved), resolved)
    return type
  }

  #join(expr: Expr, previous: CelType | undefined, type: CelType): CelType {
    if (previous === undefined) return type
    const joined = this.#solver.join(previous, type)
    if (joined !== undefined) return joined
    if (!this.#options.mixedLiterals && !this.#takesMixed) {
      this.#mixed.push({ offset: expr.offset, message: this.#mismatchText(previous, type) })
    }
    return types.dyn
  }

  #struct(expr: StructExpr): CelType {
    const type = this.#structType(expr)
    if (type.kind === 'object') for (const field of expr.fields) this.#structField(type.name, field)
    return type
  }

  *#largeStruct(expr: StructExpr): Steps<CelType> {
    const type = this.#structType(expr)
    if (type.kind !== 'object') return type
    for (const field of expr.fields) {
      if (this.#large.has(field.value)) yield* this.checkLarge(field.value)
      this.#structField(type.name, field)
      if (this.#isStepOver()) yield
    }
    return type
  }

  /** The object type that a struct literal names; the error type if the name has no fields. */
  #structType(expr: StructExpr): CelType {
    const type = findInContainer(this.#names.container, expr.typeName, (candidate) => this.#names.findType(candidate))
    if (type === undefined) return this.#undeclared(expr, expr.typeName)
    this.#references.set(expr.id, { kind: 'type', type })
    return type.kind === 'object' ? type : this.#fail(expr, `'${printType(type)}' is not a message type`)
  }

  #structField(typeName: string, field: StructField): void {
    const value = this.#element(field.value, field.optional)
    const declared = this.#names.findField(typeName, field.name)
    if (declared === undefined) this.#issues.push({ offset: field.offset, message: `undefined field '${field.name}'` })
    else if (!this.#solver.assign([declared], [value])) {
      const message = `expected type of field '${field.name}' is '${printType(declared)}' but provided type is '${this.#print(value)}'`
      this.#issues.push({ offset: field.offset, message })
    }
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = this.check(expr.range)
    const accumulator = this.check(expr.init)
    const variables = this.#variables.get(expr) ?? this.#loopVariables(expr, this.#solver.resolve(range))
    this.#locals.enter(expr.accumulator, accumulator)
    for (const { name, type } of variables) this.#locals.enter(name, type)
    this.#assertType(expr.condition, types.bool)
    this.#assertType(expr.step, accumulator)
    for (const { name } of variables) this.#locals.leave(name)
    const result = this.check(expr.result)
    this.#locals.leave(expr.accumulator)
    return this.#solver.resolve(result)
  }

  #loopVariables(expr: ComprehensionExpr, range: CelType): LoopVariables {
    const { first, second } = this.#elementTypes(expr, range)
    if (expr.variable2 === undefined) return [{ name: expr.variable, type: range.kind === 'list' ? second : first }]
    return [
      { name: expr.variable, type: first },
      { name: expr.variable2, type: second },
    ]
  }

  /** The types of index and element for a list, of key and value for a map. */
  #elementTypes(expr: ComprehensionExpr, range: CelType): { readonly first: CelType; readonly second: CelType } {
    if (range.kind === 'list') return { first: types.int, second: range.element }
    if (range.kind === 'map') return { first: range.key, second: range.value }
    if (isDynOrError(range) || range.kind === 'parameter') {
      this.#solver.assign([types.dyn], [range])
      return { first: types.dyn, second: types.dyn }
    }
    const expected = '(must be list, map, or dynamic)'
    this.#fail(expr.range, `expression of type '${printType(range)}' cannot be range of a comprehension ${expected}`)
    return { first: types.error, second: types.error }
  }

  #assertType(expr: Expr, expected: CelType): void {
    const type = this.check(expr)
    if (!this.#solver.assign([expected], [type])) this.#mismatch(expr, expected, type)
  }

  #mismatch(expr: Expr, expected: CelType, type: CelType): CelType {
    return this.#fail(expr, this.#mismatchText(expected, type))
  }

  #mismatchText(expected: CelType, type: CelType): string {
    return `expected type '${this.#print(expected)}' but found '${this.#print(type)}'`
  }

  #undeclared(expr: Expr, name: string): CelType {
    return this.#fail(expr, `undeclared reference to '${name}' (in container '${this.#names.container}')`)
  }

  #fail(expr: Expr, message: string): CelType {
    this.#issues.push({ offset: expr.offset, message })
    return types.error
  }

  #print(type: CelType): string {
    return printType(this.#solver.resolve(type))
  }
}
