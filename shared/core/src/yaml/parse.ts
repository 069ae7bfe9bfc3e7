import { type Event, parseEvents, YAMLException } from 'js-yaml'
import { Composer, type Places } from './compose.ts'
import { indentBrackets } from './indent-brackets.ts'
import { yamlLimits } from './limits.ts'
import { problemText } from './problems.ts'
import { YamlError } from './yaml-error.ts'

/** A parsed YAML text. */
export type ParsedYaml =
  | {
      readonly kind: 'yaml'
      readonly value: unknown
      /** `line 4: key "a" already set in map` for each duplicate key; the last value applies. */
      readonly repeats: readonly string[]
      /** Integers beyond 2^53 are `bigint`. */
      readonly hasBigIntegers: boolean
    }
  | { readonly kind: 'malformed'; readonly message: string }

/** Like `parseYaml`, for bytes. */
export function parseYamlBytes(bytes: Uint8Array): ParsedYaml {
  try {
    return parseYaml(decodeYaml(bytes))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return { kind: 'malformed', message: error.message }
  }
}

/**
 * Parses the first document of a text to JSON, like sigs.k8s.io/yaml, and so like kube-apiserver, kubectl and most Kubernetes
 * tools: YAML 1.1, where `0444` is 292, `no` is false, and `<<` merges. A text without a document is null.
 * `places` receives the line of each member and item.
 */
export function parseYaml(text: string, places?: Places): ParsedYaml {
  const document = firstDocument(text)
  if (unprintable.test(document)) return { kind: 'malformed', message: 'yaml: control characters are not allowed' }
  try {
    requireDirectives(document)
    const { source, events } = readEvents(document)
    const { value, repeats } = new Composer(source, places).compose(events)
    const lineOf = repeats.length > 0 || places !== undefined ? lineFinder(source) : () => 0
    for (const members of places?.values() ?? []) for (const [at, offset] of members) members.set(at, lineOf(offset))
    const lines = repeats.map(({ key, offset }) => `line ${lineOf(offset)}: key ${key} already set in map`)
    return { kind: 'yaml', value, repeats: lines, hasBigIntegers: hasBigInteger(value) }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return { kind: 'malformed', message: error.message }
  }
}

/** Checks the directives before the document. */
function requireDirectives(document: string): void {
  if (!document.includes('%')) return
  for (const line of document.split(/\r\n?|\n/)) {
    if (line.startsWith('---') || !/^[ \t]*(?:[#%]|$)/.test(line)) return
    const [, name, rest = ''] = /^%(\S+)(.*)$/.exec(line) ?? []
    if (name === 'YAML' && !/^\s+1\.1\s*(?:#.*)?$/.test(rest)) throw new YamlError('yaml: found incompatible YAML document')
    if (name !== undefined && name !== 'YAML' && name !== 'TAG') throw new YamlError('yaml: found unknown directive name')
  }
}

/** The parsed text and its contents. */
interface Read {
  readonly source: string
  readonly events: readonly Event[]
}

function readEvents(source: string, isIndented = false): Read {
  try {
    return { source, events: parseEvents(source, { maxDepth: yamlLimits.depthMax }) }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const indented = error.reason === 'deficient indentation' && !isIndented ? indentBrackets(source) : undefined
    if (indented !== undefined) return readEvents(indented, true)
    throw new YamlError(problemText(error))
  }
}

/** Characters that YAML forbids; the parser treats a byte order mark as a space. */
const unprintable = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/

/** True if a value contains an integer beyond 2^53. */
export function hasBigInteger(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBigInteger)
}

/** Finds the line of an offset, from 1. */
function lineFinder(source: string): (offset: number) => number {
  const starts = [0, ...Array.from(source.matchAll(/\r\n?|\n/g), ({ index, 0: mark }) => index + mark.length)]
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

const strictPrefix = 'yaml: unmarshal errors:\n'

/** The errors of strict parsing, joined as in Go: none, or one error with several lines. */
export function repeatsProblems(repeats: readonly string[] = []): string[] {
  return repeats.length === 0 ? [] : [`${strictPrefix}${repeats.map((line) => `  ${line}`).join('\n')}`]
}

/** The warnings in an error: one per duplicate key. */
export function problemLines(problem: string): string[] {
  if (!problem.startsWith(strictPrefix)) return [problem]
  return problem
    .slice(strictPrefix.length)
    .split('\n')
    .map((line) => line.trim())
}

/** Parses a text of our own or of a configuration file. Throws a YamlError. `isStrict` refuses duplicate keys. */
export function readYaml(text: string, { isStrict = false } = {}): unknown {
  const parsed = parseYaml(text)
  if (parsed.kind === 'malformed') throw new YamlError(parsed.message)
  if (isStrict && parsed.repeats.length > 0) throw new YamlError(`yaml: ${parsed.repeats.join(', ')}`)
  return parsed.value
}

/** Matches a line that begins or ends a document. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm

/** The first document of a stream, with its line numbers. The rest is ignored. */
function firstDocument(text: string): string {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text
  let hasBegun = false
  for (const { 0: mark, index } of source.matchAll(marker)) {
    if (index > 0 && !isLineStart(source, index)) continue
    if (hasBegun || !isPreamble(source.slice(0, index))) return source.slice(0, index)
    hasBegun = mark === '---'
  }
  return source
}

/** JavaScript's `^` accepts more line terminators than YAML. */
function isLineStart(source: string, index: number): boolean {
  const before = source[index - 1]
  return before === '\n' || before === '\r'
}

const nothingThere = /^[ \t]*(?:[#%].*)?$/

/** True for comments, directives and empty lines, which may precede a document. */
function isPreamble(text: string): boolean {
  return text.split(/\r\n?|\n/).every((line) => nothingThere.test(line))
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8, or UTF-16 with a byte order mark. Throws a YamlError for other bytes. */
function decodeYaml(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw new YamlError(`yaml: ${firstFault(bytes)}`)
  }
}

/** The error about the first invalid bytes. */
function firstFault(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length; ) {
    const width = widthOf(bytes[at] ?? 0)
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    const sequence = bytes.subarray(at, at + width)
    if (sequence.subarray(1).some((byte) => byte >> 6 !== 0b10)) return 'invalid trailing UTF-8 octet'
    const fault = faultOf(sequence)
    if (fault !== undefined) return fault
    at += width
  }
  return 'invalid Unicode character'
}

function widthOf(leading: number): number {
  if (leading < 0x80) return 1
  if (leading >> 5 === 0b110) return 2
  if (leading >> 4 === 0b1110) return 3
  return leading >> 3 === 0b11110 ? 4 : 0
}

/** The error of a byte sequence: not a character, or not its shortest form; undefined if it is valid. */
function faultOf(sequence: Uint8Array): string | undefined {
  const [leading = 0, ...trailing] = sequence
  const bits = sequence.length === 1 ? leading : leading & (0xff >> (sequence.length + 1))
  const code = trailing.reduce((value, byte) => value * 64 + (byte & 0x3f), bits)
  const least = [0, 0x80, 0x800, 0x1_0000][sequence.length - 1] ?? 0
  if (code < least) return 'invalid length of a UTF-8 sequence'
  return (code >= 0xd800 && code <= 0xdfff) || code > 0x10_ffff ? 'invalid Unicode character' : undefined
}
