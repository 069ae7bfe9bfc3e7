import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { parseBase64Url, toBase64Url } from './base64.ts'
import { parseContinueToken, printContinueToken } from './continue-token.ts'

const names = namesOf('orch')
const good = { v: 'meta.orch.io/v1', rv: 7, start: 'default/a\0', e: 'e1' }
const encode = (content: unknown): string =>
  toBase64Url(new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content)))

test('CHUNK-04: a token is a small JSON object in unpadded base64url', () => {
  const text = printContinueToken(names, { revision: 7, epoch: 'e1', start: 'default/a\0' })
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/')))).toEqual(good)
})

test('a token belongs to the profile that gave it', () => {
  const text = printContinueToken(namesOf('kubernetes'), { revision: 7, epoch: 'e1', start: 'a\0' })
  expect(parseContinueToken(namesOf('kubernetes'), text)).toEqual({ kind: 'token', token: { revision: 7, epoch: 'e1', start: 'a\0' } })
  expect(parseContinueToken(names, text).kind).toBe('malformed')
})

test('CHUNK-10: the token for an inconsistent continuation has the revision -1, as has any negative revision', () => {
  const text = printContinueToken(names, { revision: 'latest', start: 'default/a\0' })
  expect(text).toBe(encode({ v: 'meta.orch.io/v1', rv: -1, start: 'default/a\0' }))
  const token = { revision: 'latest', start: 'default/a\0' }
  expect(parseContinueToken(names, text)).toEqual({ kind: 'token', token })
  expect(parseContinueToken(names, encode({ ...good, rv: -7 }))).toEqual({ kind: 'token', token })
})

describe('an invalid token is refused', () => {
  const rows: [name: string, text: string, why: string][] = [
    ['other characters', '%%%', 'illegal base64 data at input byte 0'],
    ['one character too many', 'abcde', 'illegal base64 data at input byte 4'],
    ['padding', `${encode(good)}=`, `illegal base64 data at input byte ${encode(good).length}`],
    ['no JSON', encode('{"v":'), 'unexpected end of JSON input'],
    ['no object', encode('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [
      'no UTF-8',
      toBase64Url(new Uint8Array([0x22, 0xff, 0x22])),
      'json: cannot unmarshal string into Go value of type storage.continueToken',
    ],
    ['an empty text', '', 'unexpected end of JSON input'],
    ['a word', 'abc', "invalid character 'i' looking for beginning of value"],
    ['bytes that are no text', toBase64Url(new Uint8Array([0xff, 0x22])), "invalid character 'ÿ' looking for beginning of value"],
    ['null', encode('null'), 'server does not recognize this encoded version '],
    ['another version', encode({ ...good, v: 'v2' }), 'server does not recognize this encoded version v2'],
    ['revision zero', encode({ ...good, rv: 0 }), 'incorrect encoded start resourceVersion (version meta.orch.io/v1)'],
    [
      'a text as revision',
      encode({ ...good, rv: '7' }),
      'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
    ],
    [
      'half a revision',
      encode({ ...good, rv: 1.5 }),
      'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64',
    ],
    ['no epoch', encode({ ...good, e: undefined }), 'incorrect encoded epoch'],
    ['no start', encode({ ...good, start: undefined }), 'encoded start key empty (version meta.orch.io/v1)'],
    ['an empty start', encode({ ...good, start: '' }), 'encoded start key empty (version meta.orch.io/v1)'],
    ['a start that is only the end mark', encode({ ...good, start: '\0' }), '\0'],
    ['an absolute start', encode({ ...good, start: '/default/a' }), '/default/a'],
    ['a way up', encode({ ...good, start: 'default/../../core/secrets/a' }), 'default/../../core/secrets/a'],
    ['a way up at the end', encode({ ...good, start: 'default/..\0' }), 'default/..\0'],
    ['a NUL inside', encode({ ...good, start: 'a\0b' }), 'a\0b'],
    ['a text too long', 'A'.repeat(5000), 'too long'],
  ]
  test.each(rows)('because of %s', (_name, text, why) => {
    expect(parseContinueToken(names, text)).toEqual({ kind: 'malformed', message: `continue key is not valid: ${why}` })
  })
})

test('a printed token is read back', () => {
  const segment = fc.stringMatching(/^[a-z0-9:é][a-z0-9:.-]{0,20}$/)
  const start = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 2 }), fc.constantFrom('', '\0'))
    .map(([parts, end]) => parts.join('/') + end)
  fc.assert(
    fc.property(fc.record({ revision: fc.nat().map((value) => value + 1), epoch: fc.string({ maxLength: 20 }), start }), (token) => {
      expect(parseContinueToken(names, printContinueToken(names, token))).toEqual({ kind: 'token', token })
    }),
  )
})

test('base64url restores any bytes, and any text is decoded or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(parseBase64Url(toBase64Url(bytes))).toEqual(bytes)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('e', 'y', 'J', '2', '-', '_', '=', '+') }), (text) => {
      const bytes = parseBase64Url(text)
      if (bytes !== undefined) expect(parseBase64Url(toBase64Url(bytes))).toEqual(bytes)
      expect(parseContinueToken(names, text).kind).toBe('malformed')
    }),
  )
})
