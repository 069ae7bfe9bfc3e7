const sumOperators = ['+', '-', '*', '/', '%'] as const

/** A part of a word. Parts without quotes are split at white space after their expansion. */
type Part = { readonly isQuoted: boolean } & (
  | { readonly kind: 'text'; readonly text: string }
  /** `$NAME`, `${NAME}`, `${NAME:-WORD}`, `$?` */
  | { readonly kind: 'variable'; readonly name: string; readonly otherwise?: Word }
  /** `$(LIST)` */
  | { readonly kind: 'output'; readonly list: List }
  /** `$((NAME + 1))` */
  | { readonly kind: 'sum'; readonly operator: (typeof sumOperators)[number]; readonly operands: readonly string[] }
)
export type Word = readonly Part[]

interface Branch {
  readonly test: List
  readonly body: List
}

export interface Redirection {
  readonly from: 'stdin' | 'stdout' | 'stderr'
  readonly appends: boolean
  /** A file, or the other output. */
  readonly to: Word | 'stdout' | 'stderr'
}

type CommandBody =
  | {
      readonly kind: 'simple'
      readonly assignments: readonly { readonly name: string; readonly value: Word }[]
      readonly words: readonly Word[]
    }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: List }
  | ({ readonly kind: 'while' | 'until' } & Branch)
  | { readonly kind: 'for'; readonly name: string; readonly words: readonly Word[]; readonly body: List }
  /** Commands in braces, or in parentheses with variables of their own. */
  | { readonly kind: 'group'; readonly isApart: boolean; readonly body: List }
export type Command =
  | (CommandBody & { readonly redirections: readonly Redirection[] })
  | { readonly kind: 'pipeline'; readonly commands: readonly Command[]; readonly isNegated: boolean }

type Condition = ';' | '&&' | '||'
/** Commands, each with the condition under which it runs. */
export type List = readonly { readonly after: Condition; readonly command: Command }[]

/** Maximum characters of a script, and of a typed line. */
export const scriptLengthMax = 64 * 1024
/** Maximum depth of commands and expansions in each other, and of commands in a pipeline. */
const depthMax = 50
const blanks = /(?:[ \t]|\\\n|#[^\n]*)*/y
const separators = /(?:[ \t\n]|\\\n|#[^\n]*|;(?!;))*/y
const lines = /(?:[ \t\n]|\\\n|#[^\n]*)*/y
const redirection = /([12]?)(>>|>|<)(?:&([12]))?[ \t]*/y
const name = /[A-Za-z_]\w*/y
const variable = /\$(?:([A-Za-z_]\w*|\?)|\{([A-Za-z_]\w*)(?:\}|(:-)))/y
/** Words that begin no command. */
const ends: ReadonlySet<string> = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', '}'])

/** A script that the shell cannot parse. */
export class ScriptError extends Error {}

/** The commands of a script; throws a ScriptError at its first error. */
export function parseScript(script: string): Script {
  if (script.length > scriptLengthMax) throw new ScriptError('the script is too long')
  const parser = new Parser(script)
  return { list: parser.script(), commands: parser.commands }
}

function sampleOf(word: Word): string {
  return word.map((part) => (part.kind === 'text' ? part.text : '$')).join('')
}

export interface Script {
  readonly list: List
  /** The words of all simple commands in it. An expansion is a `$`; a file that is read is the argument of a `cat`. */
  readonly commands: readonly (readonly string[])[]
}

/** A recursive descent parser for the common part of the shell's language. */
class Parser {
  readonly commands: string[][] = []
  readonly #script: string
  #at = 0
  #depth = 0

  constructor(script: string) {
    this.#script = script
  }

  script(): List {
    const list = this.#list()
    return this.#at < this.#script.length ? this.#refuse() : list
  }

  #refuse(): never {
    const rest = this.#script.slice(this.#at, this.#at + 20)
    throw new ScriptError(rest === '' ? 'unexpected end of line' : `unexpected ${JSON.stringify(rest)}; only common commands are simulated`)
  }

  /** Takes the match of a sticky expression. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#script)
    if (match !== null) this.#at = expression.lastIndex
    return match ?? undefined
  }

  #has(text: string): boolean {
    return this.#script.startsWith(text, this.#at)
  }

  #takeText(text: string): boolean {
    if (!this.#has(text)) return false
    this.#at += text.length
    return true
  }

  get #keyword(): string {
    return /^(?:[a-z]+|[{}!])(?=[\s;&|()]|$)/.exec(this.#script.slice(this.#at, this.#at + 6))?.[0] ?? ''
  }

  #takeKeyword(word: string): boolean {
    this.#take(lines)
    return this.#keyword === word && this.#takeText(word)
  }

  #require(word: string): void {
    if (!this.#takeKeyword(word)) this.#refuse()
  }

  #list(): List {
    const list: { after: Condition; command: Command }[] = []
    for (let after: Condition = ';'; ; ) {
      this.#take(after === ';' ? separators : lines)
      if (this.#at === this.#script.length || this.#has(')') || ends.has(this.#keyword)) return after === ';' ? list : this.#refuse()
      list.push({ after, command: this.#pipeline() })
      after = this.#takeText('&&') ? '&&' : this.#takeText('||') ? '||' : ';'
      if (after === ';' && !/[;\n)]/.test(this.#script[this.#at] ?? ';')) this.#refuse()
    }
  }

  /** The commands between two words, of which there is at least one. */
  #body(): List {
    const list = this.#list()
    return list.length > 0 ? list : this.#refuse()
  }

  #pipeline(): Command {
    const isNegated = this.#takeKeyword('!')
    const first = this.#command()
    const commands = [first]
    while (!this.#has('||') && this.#takeText('|')) {
      if (commands.length === depthMax) this.#refuse()
      commands.push(this.#command())
    }
    return commands.length === 1 && !isNegated ? first : { kind: 'pipeline', commands, isNegated }
  }

  #command(): Command {
    this.#take(lines)
    this.#enter()
    const body = this.#compound()
    const command = body === undefined ? this.#simple() : { ...body, redirections: this.#redirections() }
    this.#depth -= 1
    return command
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > depthMax) throw new ScriptError(`more than ${depthMax} commands in each other`)
  }

  #compound(): CommandBody | undefined {
    const word = this.#has('(') ? '(' : this.#keyword
    switch (word) {
      case '(':
      case '{': {
        this.#takeText(word)
        const body = this.#body()
        if (!this.#takeText(word === '(' ? ')' : '}')) this.#refuse()
        return { kind: 'group', isApart: word === '(', body }
      }
      case 'if': {
        const branches: Branch[] = []
        while (this.#takeKeyword(branches.length === 0 ? 'if' : 'elif')) branches.push(this.#branch('then'))
        const otherwise = this.#takeKeyword('else') ? this.#body() : []
        this.#require('fi')
        return { kind: 'if', branches, otherwise }
      }
      case 'while':
      case 'until': {
        this.#takeText(word)
        const branch = this.#branch('do')
        this.#require('done')
        return { kind: word, ...branch }
      }
      case 'for': {
        this.#takeText(word)
        this.#take(blanks)
        const variableName = this.#take(name)?.[0] ?? this.#refuse()
        this.#require('in')
        const words: Word[] = []
        for (this.#take(blanks); ; this.#take(blanks)) {
          const word = this.#word()
          if (word.length === 0) break
          words.push(word)
        }
        this.#take(separators)
        this.#require('do')
        const body = this.#body()
        this.#require('done')
        return { kind: 'for', name: variableName, words, body }
      }
      default:
        return undefined
    }
  }

  #branch(word: string): Branch {
    const test = this.#body()
    this.#require(word)
    return { test, body: this.#body() }
  }

  #simple(): Extract<Command, { kind: 'simple' }> {
    const assignments: { name: string; value: Word }[] = []
    const words: Word[] = []
    const redirections: Redirection[] = []
    for (;;) {
      redirections.push(...this.#redirections())
      const assigned = words.length === 0 ? this.#take(/([A-Za-z_]\w*)=/y)?.[1] : undefined
      const word = this.#word()
      if (assigned !== undefined) assignments.push({ name: assigned, value: word })
      else if (word.length > 0) words.push(word)
      else break
    }
    if (words.length + assignments.length + redirections.length === 0) this.#refuse()
    if (words.length > 0) this.commands.push(words.map(sampleOf))
    return { kind: 'simple', assignments, words, redirections }
  }

  #redirections(): Redirection[] {
    const found: Redirection[] = []
    for (;;) {
      this.#take(blanks)
      const [, number, sign, other] = this.#take(redirection) ?? []
      if (sign === undefined) return found
      const from = sign === '<' ? 'stdin' : number === '2' ? 'stderr' : 'stdout'
      const to = other === undefined ? this.#word() : other === '2' ? 'stderr' : 'stdout'
      if (to.length === 0) this.#refuse()
      if (from === 'stdin' && typeof to !== 'string') this.commands.push(['cat', sampleOf(to)])
      found.push({ from, appends: sign === '>>', to })
    }
  }

  /** The word at this place; no parts if there is none. */
  #word(): Word {
    const parts: Part[] = []
    for (;;) {
      const text = this.#take(/[^\s;&|<>()'"\\`$]+/y)?.[0]
      const quoted = this.#take(/'([^']*)'/y)?.[1] ?? this.#take(/\\([\s\S])/y)?.[1]
      if (text !== undefined) parts.push({ kind: 'text', text, isQuoted: false })
      if (quoted !== undefined) parts.push({ kind: 'text', text: quoted, isQuoted: true })
      else if (this.#takeText('"')) parts.push({ kind: 'text', text: '', isQuoted: true }, ...this.#partsUntil('"', /[^"\\`$]+/y))
      else if (this.#has('$')) parts.push(this.#expansion(false))
      else if (/['"\\`]/.test(this.#script[this.#at] ?? '')) this.#refuse()
      else if (text === undefined) return parts
    }
  }

  /** Quoted text and expansions up to an end. */
  #partsUntil(end: string, plain: RegExp): Part[] {
    const parts: Part[] = []
    this.#enter()
    while (!this.#takeText(end)) {
      const text = this.#take(plain)?.[0] ?? this.#take(/\\(["\\$`])/y)?.[1] ?? this.#take(/\\/y)?.[0]
      if (text !== undefined) parts.push({ kind: 'text', text, isQuoted: true })
      else if (this.#has('$')) parts.push(this.#expansion(true))
      else this.#refuse()
    }
    this.#depth -= 1
    return parts
  }

  #expansion(isQuoted: boolean): Part {
    const [, bare, braced, hasOther] = this.#take(variable) ?? []
    if (hasOther !== undefined) return { kind: 'variable', name: braced ?? '', otherwise: this.#partsUntil('}', /[^}"'\\`$]+/y), isQuoted }
    const found = bare ?? braced
    if (found !== undefined) return { kind: 'variable', name: found, isQuoted }
    const [, left, sign, right] = this.#take(/\$\(\(\s*\$?(\w+)\s*([-+*/%])\s*\$?(\w+)\s*\)\)/y) ?? []
    const operator = sumOperators.find((one) => one === sign)
    if (operator !== undefined) return { kind: 'sum', operator, operands: [left ?? '', right ?? ''], isQuoted }
    if (this.#take(/\$(?=[\s"/]|$)/y)) return { kind: 'text', text: '$', isQuoted }
    if (!this.#takeText('$(')) this.#refuse()
    const list = this.#list()
    return this.#takeText(')') ? { kind: 'output', list, isQuoted } : this.#refuse()
  }
}
