import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { mediaTypeOf } from '../exchange/exchange.ts'
import { bodyFormat } from './body.ts'
import { acceptsAnything, createNegotiator } from './negotiate.ts'

const names = namesOf('orch')
const negotiator = createNegotiator(names)
const negotiate = (accept: string | undefined) =>
  accept === undefined ? acceptsAnything : (negotiator.known.get(accept) ?? negotiator.read(accept))
const table = 'application/json;as=Table;v=v1;g=meta.orch.io'
const protobuf = 'application/vnd.orch.protobuf'

describe('the format of an answer', () => {
  const rows: [title: string, accept: string | undefined, format: string | undefined, representation?: string, plain?: string][] = [
    ['NEG-01: without Accept it is JSON', undefined, 'json'],
    ['NEG-02: JSON when JSON is asked', 'application/json', 'json'],
    ['NEG-02: anything means JSON', '*/*', 'json'],
    ['NEG-02: any application type means JSON', 'application/*', 'json'],
    ['NEG-10: YAML when YAML is asked', 'application/yaml', 'yaml'],
    ['NEG-03: Protobuf when Protobuf is asked', protobuf, 'protobuf'],
    ['NEG-13: the first clause that can be met', 'application/vnd.other, application/yaml, application/json', 'yaml'],
    ['NEG-13: Protobuf, then JSON', `${protobuf},application/json`, 'protobuf'],
    ['NEG-13: the greater weight comes first', 'application/json;q=0.5, application/yaml;q=0.9', 'yaml'],
    ['NEG-13: a weight of zero comes last', 'application/yaml;q=0, application/json', 'json'],
    ['NEG-06: a Table, whose errors are plain', `${table},application/yaml`, 'json', 'table', 'yaml'],
    ['NEG-06: a Table of the earlier version', 'application/json;as=Table;v=v1beta1;g=meta.orch.io', 'json', 'table'],
    ['NEG-13: a Table of an unknown version is passed over', `application/json;as=Table;v=v2;g=meta.orch.io,${table}`, 'json', 'table'],
    ['NEG-13: a Table of another group is passed over', 'application/json;as=Table;v=v1;g=meta.example.com,application/yaml', 'yaml'],
    ['NEG-13: a Table has no Protobuf', `${protobuf};as=Table;v=v1;g=meta.orch.io,${table}`, 'json', 'table'],
    ['NEG-13: another form is passed over', 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.orch.io,*/*', 'json'],
    ['metadata in Protobuf', `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.orch.io,application/json`, 'protobuf', 'metadata', 'json'],
    ['a stream of a watch', `${protobuf};stream=watch`, 'protobuf'],
    ['another stream is passed over', 'application/json;stream=other,application/yaml', 'yaml'],
    ['NEG-09: nothing that is known', 'application/vnd.other', undefined, undefined, 'json'],
    ['NEG-09: a form that is not offered, alone', 'application/json;as=Table;v=v9;g=meta.orch.io', undefined, undefined, 'json'],
  ]
  for (const [title, accept, format, representation = 'object', plain] of rows) {
    test(title, () => {
      const { objects, plain: given } = negotiate(accept)
      expect(objects?.format).toBe(format)
      expect(objects?.representation.kind).toBe(format === undefined ? undefined : representation)
      expect(given).toBe(plain ?? (representation === 'object' ? format : 'json'))
    })
  }
})

test('NEG-02, NEG-04: a body has the format of its Content-Type, with or without parameters', () => {
  const formatOf = (contentType: string, hasCbor = false) => bodyFormat({ contentType: mediaTypeOf(contentType), hasCbor }, names)
  expect(formatOf('')).toBe('json')
  expect(formatOf('application/json; charset=utf-8')).toBe('json')
  expect(formatOf('Application/YAML')).toBe('yaml')
  expect(formatOf(protobuf)).toBe('protobuf')
  expect(formatOf('application/vnd.kubernetes.protobuf')).toBe('unknown')
  expect(formatOf('text/plain')).toBe('unknown')
  expect([formatOf('application/cbor'), formatOf('application/cbor', true)]).toEqual(['unknown', 'cbor'])
})

test('LIM-12: the meaning of a usual text is cached, and of a long text is not', () => {
  const usual = 'application/json, text/plain'
  expect(negotiate(usual)).toBe(negotiate(usual))
  const long = `${usual}, ${'x'.repeat(10_000)}`
  expect(negotiate(long)).toEqual(negotiate(usual))
  expect(negotiate(long)).not.toBe(negotiate(long))
})

test('LIM-12: only the beginning of a text of a million characters is read', () => {
  expect(negotiate(`text/plain, application/yaml, ${'x'.repeat(1_000_000)}`).plain).toBe('yaml')
  expect(negotiate(`${'text/plain, '.repeat(80_000)}application/yaml`).hasPlain).toBe(false)
})
