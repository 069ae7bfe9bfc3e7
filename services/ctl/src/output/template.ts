import { MalformedPath, parseJsonPath } from '@orch/core/json-path'
import { CtlError } from '../words.ts'

/** Part of a template: a text, the values of a path, or parts repeated for each value. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'values'; readonly read: (root: unknown) => readonly unknown[] }
  | { readonly kind: 'range'; readonly read: (root: unknown) => readonly unknown[]; readonly parts: readonly Part[] }

/** Prints a value by a template in kubectl's `jsonpath`: `{.items[*].metadata.name}`, `{range .items[*]}{.a}{"\n"}{end}`. */
export function parseTemplate(text: string): (value: unknown) => string {
  const tokens = tokensOf(text)
  const parts = readParts(tokens, false)
  return (value) => printParts(parts, value)
}

type Token = { readonly kind: 'text' | 'braces'; readonly text: string }

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    if (open < 0) {
      tokens.push({ kind: 'text', text: text.slice(at) })
      break
    }
    if (open > at) tokens.push({ kind: 'text', text: text.slice(at, open) })
    const close = closingBrace(text, open)
    tokens.push({ kind: 'braces', text: text.slice(open + 1, close).trim() })
    at = close + 1
  }
  return tokens
}

/** Braces within quotes are ignored. */
function closingBrace(text: string, open: number): number {
  let quote = ''
  for (let at = open + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\') at += 1
    else if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '}') return at
  }
  throw new CtlError(`error parsing jsonpath ${text}: unclosed action`)
}

function readParts(tokens: Token[], isInRange: boolean): Part[] {
  const parts: Part[] = []
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token.kind === 'text') parts.push(token as Part & Token)
    else if (token.text === 'end') {
      if (!isInRange) throw new CtlError('error parsing jsonpath: {end} without {range}')
      return parts
    } else if (token.text.startsWith('range '))
      parts.push({ kind: 'range', read: readPath(token.text.slice('range '.length).trim()), parts: readParts(tokens, true) })
    else if (/^["']/.test(token.text)) parts.push({ kind: 'text', text: unquote(token.text) })
    else parts.push({ kind: 'values', read: readPath(token.text) })
  }
  if (isInRange) throw new CtlError('error parsing jsonpath: {range} without {end}')
  return parts
}

function readPath(text: string): (root: unknown) => readonly unknown[] {
  try {
    return parseJsonPath(text)
  } catch (error) {
    if (error instanceof MalformedPath) throw new CtlError(`error parsing jsonpath ${text}: ${error.message}`)
    throw error
  }
}

function unquote(text: string): string {
  const inner = text.slice(1, -1).replaceAll(/\\(.)/gs, (_, character: string) => ({ n: '\n', t: '\t', r: '\r' })[character] ?? character)
  return inner
}

function printParts(parts: readonly Part[], value: unknown): string {
  return parts.map((part) => printPart(part, value)).join('')
}

function printPart(part: Part, value: unknown): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'values':
      return part.read(value).map(printValue).join(' ')
    case 'range':
      return part
        .read(value)
        .map((each) => printParts(part.parts, each))
        .join('')
  }
}

/** Prints strings unchanged, all other values as JSON. */
export function printValue(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}
