import { CHOMPING_MODE, getScalarValue, type MappingEvent, SCALAR_STYLE, type ScalarEvent, type SequenceEvent } from 'js-yaml'
import { readPlain, type Scalar, textScalar, timestamp } from './scalar.ts'
import { YamlError } from './yaml-error.ts'

/** The offset of a node, or of its anchor or tag. An empty node begins at the end of the preceding text. */
export function offsetOf(event: ScalarEvent | MappingEvent | SequenceEvent, end: number): number {
  const { anchorStart, tagStart } = event
  if (anchorStart >= 0) return tagStart >= 0 && tagStart < anchorStart ? tagStart : anchorStart - 1
  if (tagStart >= 0) return tagStart
  if ('start' in event) return event.start
  if (event.valueStart < 0) return end
  return isBlock(event) ? event.valueStart - 1 : event.valueStart
}

function isBlock({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK
}

export function sourceOf(text: string, event: ScalarEvent): string {
  if (event.fast && event.valueStart >= 0) return text.slice(event.valueStart, event.valueEnd)
  if (event.style === SCALAR_STYLE.DOUBLE_QUOTED) requireCharacters(text, event)
  const source = getScalarValue(text, event)
  if (!isBlock(event) || event.chomping === CHOMPING_MODE.STRIP || event.valueEnd < text.length) return source
  // The library adds a line break to an unterminated last line.
  return source.endsWith('\n') && !/[\r\n]$/.test(text) ? source.slice(0, -1) : source
}

const escapes = /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|[\s\S])/g

/** Refuses lone surrogates, and values beyond Unicode. */
function requireCharacters(text: string, { valueStart, valueEnd }: ScalarEvent): void {
  for (const { 1: short, 2: long, index } of text.slice(valueStart, valueEnd).matchAll(escapes)) {
    const code = Number.parseInt(short ?? long ?? '0', 16)
    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
      const line = text.slice(0, valueStart + index).split('\n').length
      throw new YamlError(`yaml: ${line === 1 ? '' : `line ${line}: `}found invalid Unicode character escape code`)
    }
  }
}

/** The resolved tag of a scalar; `''` without a tag. */
export function tagOf(text: string, { tagStart, tagEnd }: ScalarEvent): string {
  if (tagStart < 0) return ''
  const tag = text.slice(tagStart, tagEnd)
  if (tag.startsWith('!<')) return tag.slice(2, -1)
  return tag.startsWith('!!') ? `${standard}${tag.slice(2)}` : tag
}

const standard = 'tag:yaml.org,2002:'

/** True if YAML's special words apply in a scalar, that is, if it is neither quoted nor a block. */
export function isPlainScalar({ style }: ScalarEvent, tag: string): boolean {
  return style === SCALAR_STYLE.PLAIN && tag === ''
}

/** Reads a scalar by its tag; unknown tags are ignored. */
export function readScalar(source: string, tag: string, isPlain: boolean): Scalar {
  if (tag === '') return isPlain ? readPlain(source) : textScalar(source)
  const name = tag.startsWith(standard) ? tag.slice(standard.length) : ''
  switch (name) {
    case 'binary':
      return textScalar(decodeBinary(source))
    case 'merge':
      return source === '<<' ? { type: 'merge', value: source } : textScalar(source)
    case 'bool':
    case 'int':
    case 'float':
    case 'null':
      return readTyped(source, name)
    case 'timestamp':
      return timestamp.test(source) ? textScalar(source) : refuseTag(readPlain(source), source, name)
    default:
      return textScalar(source)
  }
}

function readTyped(source: string, name: 'bool' | 'int' | 'float' | 'null'): Scalar {
  const scalar = readPlain(source)
  if (scalar.type === name) return scalar
  return name === 'float' && scalar.type === 'int' ? { ...scalar, type: 'float' } : refuseTag(scalar, source, name)
}

function refuseTag({ type }: Scalar, source: string, name: string): never {
  const found = type === 'text' ? (timestamp.test(source) ? 'timestamp' : 'str') : type
  throw new YamlError(`yaml: cannot decode !!${found} \`${source}\` as a !!${name}`)
}

const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

function decodeBinary(source: string): string {
  const compact = source.replace(/[\r\n]/g, '')
  if (!base64.test(compact)) throw new YamlError('yaml: !!binary value contains invalid base64 data')
  const bytes = Uint8Array.from(atob(compact), (character) => character.charCodeAt(0))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
