import { type CallExpr, type Expr, type MapEntry, operators, type StructField } from '../ast.ts'
import { at } from '../at.ts'
import type { Macro } from '../library.ts'
import { Parts, partsMax } from './build.ts'
import {
  extraneous,
  isElementStart,
  isFieldStart,
  isIdentifier,
  keywords,
  literals,
  mismatched,
  notViable,
  reserved,
  startOfExpression,
  startOfItems,
  startOfStruct,
} from './expected.ts'
import { type Scanned, scan } from './lexer.ts'
import { readLiteral } from './literals.ts'
import { type BinaryOperator, binaryOperators, joinStronger, Operands, type Place, type WaitingOperator } from './operators.ts'
import { Pause, type Piece, Progress } from './progress.ts'
import { checkSize, type Issue } from './source.ts'
import { checkDepth, SyntaxStop } from './stop.ts'
import type { Token } from './tokens.ts'

/** The syntax beyond the language's core. */
export interface Syntax {
  readonly macros: readonly Macro[]
  /** True if `a.?b`, `a[?b]`, `[?a]` and `{?a: b}` are allowed. */
  readonly optionals: boolean
  /** True if a field may be written in backticks. */
  readonly escapedFields: boolean
}

/** An expression, or the error of its text. */
export type ParseResult = { readonly kind: 'parsed'; readonly expr: Expr } | { readonly kind: 'invalid'; readonly issues: readonly Issue[] }

/** Parses the text of an expression and expands its macros. */
export function parse(text: string, syntax: Syntax): ParseResult {
  const tooLong = checkSize(text)
  return tooLong === undefined ? parseTokens(scan(text), syntax) : { kind: 'invalid', issues: [tooLong] }
}

/** Like `parse`, with pauses, for a text that is already divided into tokens and is not too long. */
export function* parseInSteps(scanned: Scanned, syntax: Syntax, progress = new Progress()): Generator<undefined, ParseResult, undefined> {
  for (;;) {
    try {
      return parseTokens(scanned, syntax, progress)
    } catch (error) {
      if (!(error instanceof Pause)) throw error
    }
    yield
  }
}

/** Like `parse`, for a text that is already divided into tokens and is not too long. */
export function parseTokens({ tokens, issues }: Scanned, syntax: Syntax, progress?: Progress): ParseResult {
  const parts = new Parts()
  parts.issues.push(...issues)
  try {
    const expr = new Parser(tokens, parts, syntax, progress).parse()
    return parts.issues.length === 0 ? { kind: 'parsed', expr } : { kind: 'invalid', issues: parts.issues }
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error
    return { kind: 'invalid', issues: [...parts.issues, error.issue] }
  }
}

/** Reads the grammar from its lowest precedence to its highest, one method each. */
class Parser {
  readonly #tokens: readonly Token[]
  readonly #parts: Parts
  readonly #syntax: Syntax
  readonly #macros = new Map<string, Macro[]>()
  readonly #depth = { expression: 0, relation: 0, calculation: 0, member: 0 }
  #position = 0
  #token: Token

  readonly #progress: Progress | undefined

  constructor(tokens: readonly Token[], parts: Parts, syntax: Syntax, progress: Progress | undefined) {
    this.#progress = progress
    this.#tokens = tokens
    this.#parts = parts
    this.#syntax = syntax
    this.#token = at(tokens, 0)
    for (const macro of syntax.macros) this.#macros.set(macro.name, [macro, ...(this.#macros.get(macro.name) ?? [])])
  }

  parse(): Expr {
    const expr = this.#expression()
    if (this.#token.kind === 'end') return expr
    // A single extra token is superfluous.
    throw this.#peek(1).kind === 'end' ? extraneous(this.#token, '<EOF>') : mismatched(this.#token, '<EOF>')
  }

  #expression(): Expr {
    this.#depth.expression += 1
    checkDepth(this.#depth.expression)
    const condition = this.#logical()
    const expr = this.#isAt('?') ? this.#conditional(condition) : condition
    this.#depth.expression -= 1
    return expr
  }

  #conditional(condition: Expr): Expr {
    const { id, offset } = this.#place(this.#next())
    const whenTrue = this.#logical()
    this.#expect(':')
    return { kind: 'call', id, offset, name: operators.conditional, target: undefined, args: [condition, whenTrue, this.#expression()] }
  }

  /** `a || b && c`. */
  #logical(): Expr {
    const first = this.#relation()
    return this.#isAt('&&') || this.#isAt('||') ? this.#logicalChain(first) : first
  }

  #logicalChain(first: Expr): Expr {
    const ors = new Operands(operators.or)
    let ands = new Operands(operators.and)
    ands.add(first)
    for (;;) {
      const isAnd = this.#isAt('&&')
      if (!isAnd && !this.#isAt('||')) break
      const place = this.#place(this.#next())
      if (isAnd) {
        ands.add(this.#relation(), place)
      } else {
        ors.add(ands.join(), ors.nextPlace)
        ors.nextPlace = place
        ands = new Operands(operators.and)
        ands.add(this.#relation())
      }
    }
    ors.add(ands.join(), ors.nextPlace)
    return ors.join()
  }

  /** Reads relations, sums and products. A result from before a pause is reused. */
  #relation(): Expr {
    const start = this.#position
    const piece = this.#progress?.pieces.get(start)
    if (piece !== undefined) return this.#take(piece)
    this.#progress?.pauseAfter(start)
    const issuesBefore = this.#parts.issues.length
    const first = this.#operand(0, 0)
    const expr = this.#operator() === undefined ? first : this.#calculation(first)
    const issues = this.#parts.issues
    this.#progress?.pieces.set(start, {
      expr,
      end: this.#position,
      lastId: this.#parts.last,
      issues: issues.length === issuesBefore ? [] : issues.slice(issuesBefore),
    })
    return expr
  }

  #take({ expr, end, lastId, issues }: Piece): Expr {
    this.#position = end
    this.#token = this.#peek(0)
    this.#parts.last = lastId
    this.#parts.issues.push(...issues)
    return expr
  }

  /** Reads left-associative operators, with a stack of operators that wait for their right operand. */
  #calculation(first: Expr): Expr {
    const operands = [first]
    const waiting: WaitingOperator[] = []
    let relations = 0
    let calculations = 0
    for (let operator = this.#operator(); operator !== undefined; operator = this.#operator()) {
      joinStronger(operands, waiting, operator.strength)
      relations += operator.strength === 0 ? 1 : 0
      calculations = operator.strength === 0 ? 0 : calculations + 1
      const { id, offset } = this.#place(this.#next())
      waiting.push({ name: operator.name, strength: operator.strength, id, offset })
      operands.push(this.#operand(relations, calculations))
    }
    joinStronger(operands, waiting, 0)
    return at(operands, 0)
  }

  /** Reads an operand, given the number of relations and of calculations to its left. */
  #operand(relations: number, calculations: number): Expr {
    const relationDepth = relations + (relations > 0 ? 2 : 1)
    const calculationDepth = calculations + (calculations > 0 ? 2 : 1)
    const depth = this.#depth
    depth.relation += relationDepth
    checkDepth(depth.relation)
    depth.calculation += calculationDepth
    checkDepth(depth.calculation)
    const expr = this.#unary()
    depth.relation -= relationDepth
    depth.calculation -= calculationDepth
    return expr
  }

  #operator(): BinaryOperator | undefined {
    const { kind, text } = this.#token
    return kind === 'punctuation' || (kind === 'ident' && text === 'in') ? binaryOperators.get(text) : undefined
  }

  #unary(): Expr {
    const first = this.#token
    if (this.#isAt('!')) return this.#signed(first, this.#count('!'), operators.not)
    if (!this.#isAt('-') || this.#isNumber(1)) return this.#member()
    return this.#signed(first, this.#count('-'), operators.negate)
  }

  /** Reads an operand after a number of signs, which cancel in pairs. */
  #signed(first: Token, count: number, name: string): Expr {
    const { id, offset } = this.#place(first)
    const operand = this.#member()
    return count % 2 === 0 ? operand : { kind: 'call', id, offset, name, target: undefined, args: [operand] }
  }

  #count(sign: string): number {
    let count = 0
    while (this.#isAt(sign)) {
      this.#next()
      count += 1
    }
    return count
  }

  #member(): Expr {
    this.#enterMember()
    let target = this.#primary()
    let entered = 1
    while (this.#isAt('.') || this.#isAt('[')) {
      this.#enterMember()
      entered += 1
      target = this.#isAt('[') ? this.#index(target) : this.#selection(target)
    }
    this.#depth.member -= entered
    return target
  }

  #selection(operand: Expr): Expr {
    const dot = this.#next()
    const isOptional = this.#takeOptional()
    if (!isOptional && !isFieldStart(this.#token) && !literals.has(this.#token.text)) throw notViable(dot, this.#token)
    const token = this.#next()
    if (!isOptional && token.kind === 'ident' && !keywords.has(token.text) && this.#isAt('(')) return this.#memberCall(operand, token)
    const { id, offset } = this.#place(dot)
    const field = this.#fieldName(token)
    if (!isOptional) return { kind: 'select', id, offset, operand, field, test: false }
    const name: Expr = { kind: 'constant', id: this.#parts.next(), offset: token.start, constant: { type: 'string', value: field } }
    return { kind: 'call', id, offset, name: operators.optionalSelect, target: undefined, args: [operand, name] }
  }

  #memberCall(target: Expr, name: Token): Expr {
    const { id, offset } = this.#place(this.#next())
    return this.#expand({ kind: 'call', id, offset, name: name.text, target, args: this.#arguments() })
  }

  #index(operand: Expr): Expr {
    const { id, offset } = this.#place(this.#next())
    const name = this.#takeOptional() ? operators.optionalIndex : operators.index
    const index = this.#expression()
    this.#expect(']')
    return { kind: 'call', id, offset, name, target: undefined, args: [operand, index] }
  }

  #primary(): Expr {
    const token = this.#token
    switch (token.kind) {
      case 'punctuation':
        return this.#punctuated(token)
      case 'ident':
        return this.#named(this.#next(), '')
      case 'int':
      case 'uint':
      case 'double':
      case 'string':
      case 'bytes':
        return this.#literal(this.#next(), token, false)
      case 'escapedIdent':
      case 'end':
        throw mismatched(this.#token, startOfExpression)
    }
  }

  #punctuated(token: Token): Expr {
    switch (token.text) {
      case '(':
        return this.#parenthesized()
      case '[':
        return this.#list()
      case '{':
        return this.#map()
      case '-':
        this.#next()
        return this.#literal(this.#next(), token, true)
      case '.': {
        this.#next()
        if (!isIdentifier(this.#token)) throw notViable(token, this.#token)
        return this.#named(this.#next(), '.')
      }
      default:
        throw mismatched(this.#token, startOfExpression)
    }
  }

  #parenthesized(): Expr {
    this.#next()
    const expr = this.#expression()
    this.#expect(')')
    return expr
  }

  #literal(token: Token, first: Token, isNegative: boolean): Expr {
    const { id, offset } = this.#place(first)
    const read = readLiteral(token, isNegative)
    if ('constant' in read) return { kind: 'constant', id, offset, constant: read.constant }
    this.#report(first, read.problem)
    return { kind: 'constant', id, offset, constant: { type: 'null' } }
  }

  /** An identifier, the call of a function, or a struct. */
  #named(token: Token, dot: string): Expr {
    if (token.text === 'true' || token.text === 'false') {
      return { kind: 'constant', id: this.#parts.next(), offset: token.start, constant: { type: 'bool', value: token.text === 'true' } }
    }
    if (token.text === 'null') return { kind: 'constant', id: this.#parts.next(), offset: token.start, constant: { type: 'null' } }
    if (token.text === 'in') throw mismatched(token, startOfExpression)
    const length = this.#structNameLength()
    if (length !== undefined) return this.#struct(token, dot, length)
    if (reserved.has(token.text)) this.#report(token, `reserved identifier: ${token.text}`)
    if (!this.#isAt('(')) return { kind: 'ident', id: this.#parts.next(), offset: token.start, name: dot + token.text }
    const { id, offset } = this.#place(this.#next())
    return this.#expand({ kind: 'call', id, offset, name: dot + token.text, target: undefined, args: this.#arguments() })
  }

  /** The number of `.name` tokens between an identifier and the brace of a struct; undefined if no brace follows. */
  #structNameLength(): number | undefined {
    let ahead = 0
    while (this.#isAhead('.', ahead) && isIdentifier(this.#peek(ahead + 1))) ahead += 2
    return this.#isAhead('{', ahead) ? ahead : undefined
  }

  #struct(first: Token, dot: string, length: number): Expr {
    let typeName = dot + first.text
    for (let count = 0; count < length; count += 1) typeName += this.#next().text
    const { id, offset } = this.#place(this.#next())
    const fields: StructField[] = []
    while (!this.#isAt('}')) {
      if (fields.length === 0 && !isFieldStart(this.#token)) throw mismatched(this.#token, startOfStruct(this.#syntax))
      const isOptional = this.#takeOptional()
      const name = this.#fieldName(this.#next())
      const colon = this.#place(this.#expect(':'))
      fields.push({ ...colon, name, value: this.#expression(), optional: isOptional })
      this.#separate('}')
    }
    this.#next()
    return { kind: 'struct', id, offset, typeName, fields }
  }

  #list(): Expr {
    const { id, offset } = this.#place(this.#next())
    const elements: Expr[] = []
    const optional: number[] = []
    while (!this.#isAt(']')) {
      if (elements.length === 0 && this.#isAt(',') && this.#isAhead(']', 1)) {
        this.#next()
        break
      }
      if (elements.length === 0 && !isElementStart(this.#token)) throw mismatched(this.#token, startOfItems("'[', ']', '{'", this.#syntax))
      if (this.#takeOptional()) optional.push(elements.length)
      elements.push(this.#expression())
      this.#separate(']')
    }
    this.#next()
    return { kind: 'list', id, offset, elements, optional }
  }

  #map(): Expr {
    const { id, offset } = this.#place(this.#next())
    const entries: MapEntry[] = []
    while (!this.#isAt('}')) {
      if (entries.length === 0 && this.#isAt(',') && this.#isAhead('}', 1)) {
        this.#next()
        break
      }
      if (entries.length === 0 && !isElementStart(this.#token)) throw mismatched(this.#token, startOfItems("'[', '{', '}'", this.#syntax))
      const isOptional = this.#takeOptional()
      const key = this.#expression()
      const colon = this.#place(this.#expect(':'))
      entries.push({ id: colon.id, offset: colon.offset, key, value: this.#expression(), optional: isOptional })
      this.#separate('}')
    }
    this.#next()
    return { kind: 'map', id, offset, entries }
  }

  /** The arguments of a call, after its opening parenthesis. */
  #arguments(): Expr[] {
    const args: Expr[] = []
    if (!this.#isAt(')')) args.push(this.#expression())
    while (this.#isAt(',')) {
      this.#next()
      args.push(this.#expression())
    }
    this.#expect(')')
    return args
  }

  #expand(call: CallExpr): Expr {
    const macro = this.#macroOf(call)
    if (macro === undefined) return call
    const expanded = macro.expand(this.#parts.builder(call.offset), call.target, call.args) ?? call
    if (this.#parts.isFull)
      throw new SyntaxStop(undefined, `expression has too many parts after its macros are expanded: limit ${partsMax}`)
    return expanded
  }

  /** The macro with a call's name and number of arguments, or else the one for any number of arguments. */
  #macroOf({ name, target, args }: CallExpr): Macro | undefined {
    const named = this.#macros.get(name)
    if (named === undefined) return undefined
    const isMember = target !== undefined
    return (
      named.find((macro) => macro.member === isMember && macro.arguments === args.length) ??
      named.find((macro) => macro.member === isMember && macro.arguments === undefined)
    )
  }

  #fieldName(token: Token): string {
    if (token.kind === 'escapedIdent') {
      if (!this.#syntax.escapedFields) this.#report(token, "unsupported syntax: '`'")
      return token.text.slice(1, -1)
    }
    if (!isIdentifier(token)) throw mismatched(token, 'IDENTIFIER')
    return token.text
  }

  #takeOptional(): boolean {
    if (!this.#isAt('?')) return false
    const token = this.#next()
    if (!this.#syntax.optionals) this.#report(token, "unsupported syntax '?'")
    return true
  }

  #peek(ahead: number): Token {
    return at(this.#tokens, Math.min(this.#position + ahead, this.#tokens.length - 1))
  }

  #next(): Token {
    const token = this.#token
    this.#position += 1
    this.#token = this.#tokens[this.#position] ?? token
    return token
  }

  #isAt(text: string): boolean {
    return this.#token.kind === 'punctuation' && this.#token.text === text
  }

  #isAhead(text: string, ahead: number): boolean {
    const token = this.#peek(ahead)
    return token.kind === 'punctuation' && token.text === text
  }

  #isNumber(ahead: number): boolean {
    const { kind } = this.#peek(ahead)
    return kind === 'int' || kind === 'double'
  }

  #expect(text: string): Token {
    if (!this.#isAt(text)) throw mismatched(this.#token, `'${text}'`)
    return this.#next()
  }

  /** Reads the comma after an item, or leaves the closing bracket. */
  #separate(close: string): void {
    if (this.#isAt(close)) return
    if (!this.#isAt(',')) throw mismatched(this.#token, `{'${close}', ','}`)
    this.#next()
  }

  #enterMember(): void {
    this.#depth.member += 1
    checkDepth(this.#depth.member)
  }

  #place({ start }: Token): Place {
    return { id: this.#parts.next(), offset: start }
  }

  #report({ start }: Token, message: string): void {
    this.#parts.issues.push({ offset: start, message })
  }
}
