import { check, checkInSteps } from './check/check.ts'
import { checkLiterals } from './check/literals.ts'
import type { GlobalName, Names } from './check/names.ts'
import { resolveUnchecked } from './check/unchecked.ts'
import type { CheckedAst } from './checked.ts'
import { largeParts } from './large.ts'
import type { FormatStyle } from './libraries/format-text.ts'
import type { FunctionDeclaration, Library, Macro } from './library.ts'
import { standardMacros } from './macros/standard.ts'
import { scan, scanInSteps } from './parse/lexer.ts'
import { parseInSteps, parseTokens } from './parse/parser.ts'
import { checkSize, type Issue, issuesMax, printIssues } from './parse/source.ts'
import { type CelType, type TypeProvider, typeOf } from './types.ts'

/** The first release that checks literal texts and lists of `format`. */
const formatsCheckedSince = 31

/** The variables, functions and syntax of an environment. */
export interface EnvironmentOptions {
  readonly libraries: readonly Library[]
  /** The minor version of Kubernetes 1.x whose libraries expressions may use. Default: all libraries. */
  readonly version?: number
  readonly variables?: Readonly<Record<string, CelType>>
  readonly provider?: TypeProvider
  /** The prefix that names are looked up with first. */
  readonly container?: string
  /** True if the elements of a list literal, and the entries of a map literal, may have different types. */
  readonly mixedLiterals?: boolean
  /** True if a field may be written in backticks. */
  readonly escapedFields?: boolean
  /** The style of `format`. Literal texts and lists are checked only in the style of Kubernetes, which is the default. */
  readonly formatStyle?: FormatStyle
  /** True if types are checked; otherwise type errors appear at evaluation. */
  readonly check?: boolean
}

/** A checked expression, or its errors, both as issues and as the text that cel-go prints. */
export type CompileResult =
  | { readonly kind: 'compiled'; readonly ast: CheckedAst }
  | { readonly kind: 'invalid'; readonly issues: readonly Issue[]; readonly message: string }

/** The variables, types and functions that expressions may use. One environment serves many expressions; `extend` shares its parts. */
export class Environment {
  readonly #options: EnvironmentOptions
  readonly #declarations: Declarations
  readonly #names: Names

  constructor(options: EnvironmentOptions, declarations = declare(options)) {
    this.#options = options
    this.#declarations = declarations
    this.#names = namesOf(options, declarations)
  }

  /** An environment with other variables or types, and the same libraries. */
  extend(options: Omit<EnvironmentOptions, 'libraries' | 'version'>): Environment {
    return new Environment({ ...this.#options, ...options }, this.#declarations)
  }

  /** Parses and checks an expression. */
  compile(text: string): CompileResult {
    const steps = this.compileInSteps(text)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  /** Like `compile`, but pauses between parts of the work if the expression is long. */
  *compileInSteps(text: string): Generator<undefined, CompileResult, undefined> {
    const tooLong = checkSize(text)
    if (tooLong !== undefined) return invalid(text, [tooLong])
    const scanned = isLong(text) ? yield* scanInSteps(text) : scan(text)
    if (isLong(text)) yield
    const syntax = {
      macros: this.#declarations.macros,
      optionals: this.#declarations.optionals,
      escapedFields: this.#options.escapedFields ?? false,
    }
    const parsed = isLong(text) ? yield* parseInSteps(scanned, syntax) : parseTokens(scanned, syntax)
    if (isLong(text)) yield
    if (parsed.kind === 'invalid') return invalid(text, parsed.issues)
    if (this.#options.check === false) return { kind: 'compiled', ast: resolveUnchecked(text, parsed.expr, this.#names) }
    const options = { mixedLiterals: this.#options.mixedLiterals ?? false }
    const checked = isLong(text)
      ? yield* checkInSteps(text, { expr: parsed.expr, large: largeParts(parsed.expr) }, this.#names, options)
      : check(text, parsed.expr, this.#names, options)
    if (isLong(text)) yield
    if (checked.kind === 'invalid') return invalid(text, checked.issues)
    const { version = formatsCheckedSince, formatStyle = 'version2' } = this.#options
    const issues = checkLiterals(checked.ast, formatStyle === 'version2' && version >= formatsCheckedSince)
    return issues.length === 0 ? { kind: 'compiled', ast: checked.ast } : invalid(text, issues)
  }
}

/** True if compiling an expression takes milliseconds because of its length. */
export function isLong(text: string): boolean {
  return text.length > 4_000
}

function invalid(text: string, issues: readonly Issue[]): CompileResult {
  const first = issues.slice(0, issuesMax)
  return { kind: 'invalid', issues: first, message: printIssues(text, first) }
}

/** The declarations of an environment's libraries, by name. */
interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly globals: ReadonlyMap<string, GlobalName>
  readonly macros: readonly Macro[]
  readonly optionals: boolean
}

function declare({ libraries, version = Number.POSITIVE_INFINITY }: EnvironmentOptions): Declarations {
  const used = libraries.filter(({ since, until }) => since <= version && (until === undefined || version < until))
  const functions = new Map<string, FunctionDeclaration>()
  const globals = new Map<string, GlobalName>()
  for (const library of used) {
    for (const [name, overloads] of Object.entries(library.functions)) {
      const known = functions.get(name)
      functions.set(name, { name, overloads: known === undefined ? overloads : [...known.overloads, ...overloads] })
    }
    for (const [name, { type, value }] of Object.entries(library.constants ?? {})) {
      globals.set(name, { type, reference: { kind: 'constant', value } })
    }
    for (const [name, type] of Object.entries(library.types ?? {})) globals.set(name, globalType(type))
  }
  const macros = [...standardMacros, ...used.flatMap((library) => library.macros ?? [])]
  return { functions, globals, macros, optionals: used.some(({ optionals }) => optionals === true) }
}

function globalType(type: CelType): GlobalName {
  return { type: typeOf(type), reference: { kind: 'type', type } }
}

function namesOf(options: EnvironmentOptions, { functions, globals }: Declarations): Names {
  const { container = '', provider } = options
  const variables = new Map(Object.entries(options.variables ?? {}))
  const findType = (name: string) => {
    const global = globals.get(name)
    return global?.reference.kind === 'type' ? global.reference.type : provider?.findType(name)
  }
  return {
    container,
    findGlobal(name) {
      const variable = variables.get(name)
      if (variable !== undefined) return { type: variable, reference: { kind: 'variable', name, isLocal: false } }
      const global = globals.get(name)
      if (global !== undefined) return global
      const type = provider?.findType(name)
      return type && globalType(type)
    },
    findType,
    findField: (typeName, field) => provider?.findField(typeName, field),
    findFunction: (name) => functions.get(name),
  }
}
