import type { YAMLException } from 'js-yaml'

/**
 * The component that reports an error in kube-apiserver: the scanner counts lines from 1, the parser from 0, and neither
 * prints a line 0. Clients search for these messages.
 */
interface Problem {
  readonly by: 'scanner' | 'parser'
  readonly text: string
  /** True if the error is at the end of the text, whatever the library reports. */
  readonly isAtEnd?: boolean
  /** True if the error is detected one line later. */
  readonly isOneLineOn?: boolean
}

const scanner = (text: string): Problem => ({ by: 'scanner', text })
const parser = (text: string): Problem => ({ by: 'parser', text })

const noToken = scanner('found character that cannot start any token')
const noName = scanner('did not find expected alphabetic or numeric character')
const noColon = scanner("could not find expected ':'")
const noKey = parser('did not find expected key')
const noContent = parser('did not find expected node content')
const endOfQuoted = scanner('found unexpected end of stream')
const endOfDocument = scanner('found unexpected document indicator')
const badTag = scanner('did not find expected tag URI')

/** The library's errors with kube-apiserver's messages. */
const problems: Readonly<Record<string, Problem | ((source: string, position: number) => Problem)>> = {
  'tab characters must not be used in indentation': (source, position) =>
    endsPlain.test(source.slice(0, position).trimEnd().slice(-1)) ? scanner('found a tab character that violates indentation') : noToken,
  'bad indentation of a mapping entry': wrongEntry,
  'bad indentation of a sequence entry': parser("did not find expected '-' indicator"),
  'end of the stream or a document separator is expected': wrongEnd,
  'deficient indentation': noContent,
  'missed comma between flow collection entries': (source, position) =>
    /[@`%]/.test(source.charAt(position)) ? noToken : parser(noEndText(source.slice(0, position))),
  'unexpected end of the stream within a flow collection': (source) => {
    const text = /[[{,:]\s*$/.test(source) ? noContent.text : noEndText(source)
    return { by: 'parser', text, isAtEnd: true }
  },
  "expected the node content, but found ','": noContent,
  'unexpected end of the stream within a double quoted scalar': endOfQuoted,
  'unexpected end of the stream within a single quoted scalar': endOfQuoted,
  'unexpected end of the document within a double quoted scalar': endOfDocument,
  'unexpected end of the document within a single quoted scalar': endOfDocument,
  'a line break is expected': scanner('did not find expected comment or line break'),
  'can not read a block mapping entry; a multiline key may not be an implicit key': noColon,
  "expected ':' after a mapping key": { ...noColon, isOneLineOn: true },
  'a whitespace character is expected after the key-value separator within a block mapping': noKey,
  'name of an anchor node must contain at least one character': noName,
  'name of an alias node must contain at least one character': noName,
  'alias node should not have any properties': noKey,
  'directives end mark is expected': parser('did not find expected <document start>'),
  'unacceptable YAML version of the document': parser('found incompatible YAML document'),
  'unknown escape sequence': scanner('found unknown escape character'),
  'expected hexadecimal character': scanner('did not find expected hexdecimal number'),
  'bad explicit indentation width of a block scalar; it cannot be less than one': scanner('found an indentation indicator equal to 0'),
  'named tag handle cannot contain such characters': badTag,
  'tag suffix cannot contain exclamation marks': badTag,
  'tag suffix cannot contain flow indicator characters': badTag,
  'unexpected end of the stream within a verbatim tag': scanner("did not find the expected '>'"),
}

/** kube-apiserver's message for an error of the library. */
export function problemText({ reason, mark }: YAMLException): string {
  const { buffer = '', position = 0, line = 0 } = mark ?? {}
  const found = problems[reason] ?? (/^(?:undeclared tag|tag name)/.test(reason) ? badTag : undefined)
  if (found === undefined) return located(line === 0 ? 0 : line + 1, reason)
  const { by, text, isAtEnd, isOneLineOn } = typeof found === 'function' ? found(buffer, position) : found
  if (isOneLineOn === true) return located(line + 2, text)
  if (isAtEnd === true) return located(buffer.split('\n').length - (/\n *$/.test(buffer) ? 1 : 0), text)
  return located(line === 0 || by === 'parser' ? line : line + 1, text)
}

function located(line: number, text: string): string {
  return line === 0 ? `yaml: ${text}` : `yaml: line ${line}: ${text}`
}

/** Matches a character that can end a plain scalar, which a tab on the next line would continue. */
const endsPlain = /[^:"'\]}|>,?-]/

function wrongEntry(source: string, position: number): Problem {
  const rest = source.slice(position, position + 2)
  if (/^-\s?$/.test(rest)) return scanner('block sequence entries are not allowed in this context')
  if (/^\?\s?$/.test(rest)) return scanner('mapping keys are not allowed in this context')
  if (/^[,\]}]/.test(rest)) return noContent
  if (rest.startsWith(':')) return scanner('mapping values are not allowed in this context')
  return /^[@`%\t]/.test(rest) ? noToken : noKey
}

function wrongEnd(source: string, position: number): Problem {
  const line = source.slice(Math.max(source.lastIndexOf('\n', position - 1), source.lastIndexOf('\r', position - 1)) + 1, position)
  const next = source[position]
  if (next !== undefined && ',]}'.includes(next)) return noContent
  if (/^---/.test(line) || next === ':') return scanner('mapping values are not allowed in this context')
  if (/^[ \t]*\t/.test(line) || next === '\t' || next === '@' || next === '`' || next === '%') return noToken
  return next === '-' ? noKey : parser(/^[ \t]*-\s/m.test(source.slice(0, position)) ? "did not find expected '-' indicator" : noKey.text)
}

const strings = /(?<!\\)"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'/g

/** The error of an unclosed list or map in brackets. */
function noEndText(before: string): string {
  const open: string[] = []
  for (const [bracket] of before.replace(strings, '').matchAll(/[[\]{}]/g)) {
    if (bracket === '[' || bracket === '{') open.push(bracket)
    else open.pop()
  }
  return `did not find expected ',' or '${open.at(-1) === '{' ? '}' : ']'}'`
}
