import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseExactly } from '../json/parse-exactly.ts'
import { printJson } from '../json/print.ts'
import { fieldProblems } from '../schema/field-problems.ts'
import { parseStructural } from './parse.ts'
import { decoderOfCustom, renewCustom } from './read-object.ts'

const widget = parseStructural({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        ports: {
          type: 'array',
          items: { type: 'object', properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } } },
        },
        template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
})

function decode(value: unknown): ReturnType<ReturnType<typeof decoderOfCustom>> {
  return decoderOfCustom(widget)(value, { trackUnknown: true })
}

it('CRD-88 CRD-90 CRD-96: unknown fields are reported and dropped, defaults are set, members are sorted', () => {
  const decoded = decode({
    spec: { ports: [{ port: 1, extra: true }], unknown: 1 },
    metadata: { nope: 1, name: 'a' },
    kind: 'Widget',
    apiVersion: 'example.com/v1',
  })
  expect(decoded.kind).toBe('decoded')
  if (decoded.kind !== 'decoded') return
  expect(printJson(decoded.object)).toBe(
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"ports":[{"port":1,"protocol":"TCP"}],"size":3}}',
  )
  expect(decoded.unknownFields).toEqual(['metadata.nope', 'spec.ports[0].extra', 'spec.unknown'])
})

it('CRD-93: metadata of a wrong type is refused in a write and dropped from a stored object', () => {
  const object = {
    kind: 'Widget',
    metadata: { name: 'a', labels: { a: 1 } },
    spec: { template: { metadata: { annotations: 1, name: 'b' } } },
  }
  expect(decode(object)).toMatchObject({
    kind: 'mismatch',
    text: 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  })
  expect(decode({ ...object, metadata: {} })).toMatchObject({
    text: 'spec.template.metadata: Invalid value: {"annotations":1,"name":"b"}: json: cannot unmarshal number into Go struct field ObjectMeta.annotations of type map[string]string',
  })
  expect(renewCustom(widget, object)).toEqual({
    kind: 'Widget',
    metadata: { name: 'a' },
    spec: { size: 3, template: { metadata: { name: 'b' } } },
  })
})

it('parts in unchanged places are reused', () => {
  const spec = { ports: [{ port: 1, protocol: 'TCP' }], size: 4 }
  const first = decode({ metadata: {}, spec })
  if (first.kind !== 'decoded') throw new Error('not decoded')
  expect(first.object['spec']).toBe(spec)
  const again = decoderOfCustom(widget)({ metadata: { name: 'b' }, spec }, { trackUnknown: false, known: first.object })
  expect(again.kind === 'decoded' && again.object['spec']).toBe(spec)
})

it('CRD-104: integers beyond 2^53 stay exact, and other numbers are printed in their shortest form', () => {
  const schema = parseStructural({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  const read = parseExactly('{"b":9007199254740993,"a":1.0,"c":1.50,"d":1e21,"e":1e6}')
  const decoded = decoderOfCustom(schema)(read.kind === 'parsed' ? read.value : {}, { trackUnknown: false })
  expect(decoded.kind === 'decoded' && printJson(decoded.object)).toBe('{"a":1,"b":9007199254740993,"c":1.5,"d":1e+21,"e":1000000}')
})

it('an object that is nested too deeply is refused', () => {
  let value: unknown = 1
  for (let depth = 0; depth < 5_000; depth++) value = [value]
  const schema = parseStructural({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  expect(decoderOfCustom(schema)({ value }, { trackUnknown: true })).toMatchObject({
    kind: 'mismatch',
    message: 'nested deeper than 1000 levels',
  })
})

interface DecoderCase {
  readonly name: string
  readonly body: string
  readonly yaml?: boolean
  readonly strictDecoding: boolean
  readonly preserveUnknownFields?: boolean
  readonly expectedErr?: { readonly error: string }
}

const [, ...lines] = readFileSync(new URL('cases/crd-decoder.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line) as DecoderCase).filter(({ yaml }) => yaml !== true)

it.each(cases)(
  'CRD-88: unknown and repeated fields are reported as recorded: $name',
  ({ body, strictDecoding, preserveUnknownFields, expectedErr }) => {
    const schema = parseStructural({
      type: 'object',
      properties: { num: { type: 'integer' } },
      ...(preserveUnknownFields === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    })
    const read = parseExactly(body)
    if (read.kind !== 'parsed') throw new Error(read.problem)
    const decoded = decoderOfCustom(schema)(read.value, { trackUnknown: strictDecoding })
    if (decoded.kind !== 'decoded') throw new Error(decoded.text)
    const problems = fieldProblems({
      unknown: decoded.unknownFields,
      duplicates: strictDecoding ? read.duplicates : [],
      source: () => body,
    })
    expect(problems).toEqual(expectedErr?.error.replace('strict decoding error: ', '').split(', ') ?? [])
  },
)

const item = { type: 'object', properties: { b: { type: 'string', default: 'x' } } }
const nested = (depth: number): object =>
  depth === 0 ? item : { type: 'object', properties: { a: { type: 'array', items: nested(depth - 1), default: Array(100).fill({}) } } }

it.each([
  ['many', { type: 'object', properties: { list: { type: 'array', items: item } } }, { list: Array(100_001).fill({}) }],
  [
    'long',
    {
      type: 'object',
      properties: { list: { type: 'array', items: { properties: { b: { type: 'string', default: 'x'.repeat(500_000) } } } } },
    },
    { list: Array(10).fill({}) },
  ],
  ['in defaults', nested(5), {}],
])('LIM-12: defaults that make an object too large are refused, and left out of a stored object: %s', (_what, schema, object) => {
  const tree = parseStructural(schema)
  const decoded = decoderOfCustom(tree)(object, { trackUnknown: true })
  expect(decoded).toMatchObject({ kind: 'mismatch', message: 'defaults add more than 100,000 values' })
  expect(renewCustom(tree, object)).toEqual(object)
})
