import { yamlLimits } from './limits.ts'

const { indentationMax } = yamlLimits

/**
 * Indents lines within brackets and quotes as deep as the lines that they continue. YAML 1.1 ignores their indentation,
 * and closing brackets are often below their key, but the library follows YAML 1.2, which refuses that. Line numbers and everything
 * else stay the same. Undefined if the text would become much longer.
 */
export function indentBrackets(text: string): string | undefined {
  const indenter = new Indenter(text)
  return indenter.run()
}

class Indenter {
  readonly #text: string
  readonly #parts: string[] = []
  #at = 0
  #copied = 0
  #added = 0
  #lineStart = 0
  /** The column of the innermost block list or map, as far as this line shows. */
  #column = 0
  #tokenColumn = 0

  constructor(text: string) {
    this.#text = text
  }

  run(): string | undefined {
    let isNodeStart = true
    while (this.#at < this.#text.length && this.#added <= indentationMax) {
      const character = this.#text.charAt(this.#at)
      if (this.#skipBreak()) isNodeStart = true
      else if (character === ' ' || character === '\t') this.#at += 1
      else if (character === '#' && this.#isAfterSpace()) this.#skipLine()
      else if (isNodeStart) isNodeStart = this.#beginNode(character)
      else if (character === ':' && this.#isBeforeSpace()) {
        this.#at += 1
        this.#column = this.#tokenColumn
        if (this.#text.charAt(this.#at) === '\t') this.#replaceTab()
        isNodeStart = true
      } else this.#at += 1
    }
    if (this.#added > indentationMax) return undefined
    return [...this.#parts, this.#text.slice(this.#copied)].join('')
  }

  /** Begins a node at the current position. True if another node begins after it. */
  #beginNode(character: string): boolean {
    if ('-?'.includes(character) && this.#isBeforeSpace()) {
      this.#column = this.#at - this.#lineStart
      this.#at += 1
      return true
    }
    if (character === '&' || character === '!') {
      while (this.#at < this.#text.length && !/\s/.test(this.#text.charAt(this.#at))) this.#at += 1
      return true
    }
    this.#tokenColumn = this.#at - this.#lineStart
    if (character === '"' || character === "'") this.#passQuoted(character, this.#tokenColumn)
    else if (character === '[' || character === '{') this.#passBrackets()
    else if (character === '|' || character === '>') this.#passBlock()
    else this.#at += 1
    return false
  }

  #passQuoted(quote: string, column: number): void {
    this.#at += 1
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at)
      const next = this.#text.charAt(this.#at + 1)
      const isEscape = quote === '"' ? character === '\\' && !/[\r\n]/.test(next) : character === quote && next === quote
      if (isEscape) this.#at += 2
      else if (character === quote) {
        this.#at += 1
        return
      } else if (!this.#skipBreak(column)) this.#at += 1
    }
  }

  #passBrackets(): void {
    const column = this.#tokenColumn
    let depth = 0
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at)
      if ((character === '"' || character === "'") && /[\s[{,:?]/.test(this.#text.charAt(this.#at - 1))) this.#passQuoted(character, column)
      else if (character === '#' && this.#isAfterSpace()) this.#skipLine()
      else if (!this.#skipBreak(column)) {
        this.#at += 1
        if (character === '[' || character === '{') depth += 1
        else if (character === ']' || character === '}') depth -= 1
        if (depth === 0) return
      }
    }
  }

  /** Skips a block scalar, which ends before the first line that is not indented more than its parent. */
  #passBlock(): void {
    this.#skipLine()
    for (;;) {
      this.#skipBreak()
      const line = /[^\r\n]*/y
      line.lastIndex = this.#at
      const [content = ''] = line.exec(this.#text) ?? []
      const indentation = content.length - content.trimStart().length
      if (content.trim() !== '' && indentation <= this.#column) return
      this.#at += content.length
      if (this.#at >= this.#text.length) return
    }
  }

  #skipLine(): void {
    while (this.#at < this.#text.length && !/[\r\n]/.test(this.#text.charAt(this.#at))) this.#at += 1
  }

  /** Skips a line break. With a column, indents the next line to it. */
  #skipBreak(column = 0): boolean {
    const character = this.#text.charAt(this.#at)
    if (character !== '\n' && character !== '\r') return false
    this.#at += character === '\r' && this.#text.charAt(this.#at + 1) === '\n' ? 2 : 1
    this.#lineStart = this.#at
    this.#parts.push(this.#text.slice(this.#copied, this.#at), ' '.repeat(column + (column > 0 ? 1 : 0)))
    this.#copied = this.#at
    this.#added += column
    return true
  }

  #replaceTab(): void {
    this.#parts.push(this.#text.slice(this.#copied, this.#at), ' ')
    this.#at += 1
    this.#copied = this.#at
  }

  #isAfterSpace(): boolean {
    return this.#at === 0 || /\s/.test(this.#text.charAt(this.#at - 1))
  }

  #isBeforeSpace(): boolean {
    const next = this.#text.charAt(this.#at + 1)
    return next === '' || /\s/.test(next)
  }
}
