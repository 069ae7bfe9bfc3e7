import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { printContinueToken } from '../meta/continue-token.ts'
import { namesOf } from '../names.ts'
import { readQueryFlag, readQueryInteger } from './query-values.ts'
import { type ReadQuery, type ReadVerb, type ResolvedRead, resolveRead } from './resolve-read.ts'

const names = namesOf('orch')
const token = { revision: 7, epoch: 'e', start: 'default/a\0' }
const more = printContinueToken(names, token)

/** A read in one line, for comparison with the requirements. */
function line(read: ResolvedRead): string {
  switch (read.kind) {
    case 'latest':
    case 'any':
      return read.kind
    case 'notOlderThan':
    case 'exact':
      return `${read.kind} ${read.asked}`
    case 'continue':
      return `continue at ${read.token.revision} from ${JSON.stringify(read.token.start)}`
    case 'watchFrom':
      return `changes after ${read.revision}${read.withBookmarks ? ' with bookmarks' : ''}`
    case 'watchFromNow':
      return `changes from now${read.withBookmarks ? ' with bookmarks' : ''}`
    case 'watchWithState':
      return `state ${read.state.kind}${read.withBookmarks ? ' with bookmarks' : ''}${read.isWatchList ? ' as a watch list' : ''}`
    case 'refused':
      return `${read.error.code} ${read.error.message}`
  }
}

const page = 'continue at 7 from "default/a\\u0000"'
const options = (text: string): string => `422 ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: ${text}`
const needsVersion = options('Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided')
const notExactZero = options('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
const notWithContinue = options('Forbidden: resourceVersionMatch is forbidden when continue is provided')

describe('the table of resourceVersion', () => {
  const rows: [requirement: string, verb: ReadVerb, query: ReadQuery, expected: string][] = [
    ['RV-01', 'get', {}, 'latest'],
    ['RV-02', 'get', { resourceVersion: '0' }, 'any'],
    ['RV-03', 'get', { resourceVersion: '9' }, 'notOlderThan 9'],
    ['RV-04', 'list', {}, 'latest'],
    ['RV-05', 'list', { resourceVersion: '0' }, 'any'],
    ['RV-06', 'list', { resourceVersion: '9' }, 'notOlderThan 9'],
    ['RV-07', 'list', { limit: '2' }, 'latest'],
    ['RV-08', 'list', { limit: '2', resourceVersion: '0' }, 'any'],
    ['RV-09', 'list', { limit: '2', resourceVersion: '9' }, 'exact 9'],
    ['RV-10', 'list', { limit: '2', continue: more }, page],
    ['RV-11', 'list', { limit: '2', continue: more, resourceVersion: '0' }, page],
    [
      'RV-12',
      'list',
      { limit: '2', continue: more, resourceVersion: '9' },
      '400 specifying resource version is not allowed when using continue',
    ],
    ['RV-13', 'list', { resourceVersionMatch: 'Exact' }, needsVersion],
    ['RV-14', 'list', { resourceVersionMatch: 'Exact', resourceVersion: '0' }, notExactZero],
    ['RV-15', 'list', { resourceVersionMatch: 'Exact', resourceVersion: '9' }, 'exact 9'],
    ['RV-16', 'list', { resourceVersionMatch: 'Exact', limit: '2' }, needsVersion],
    ['RV-17', 'list', { resourceVersionMatch: 'Exact', limit: '2', resourceVersion: '0' }, notExactZero],
    ['RV-18', 'list', { resourceVersionMatch: 'Exact', limit: '2', resourceVersion: '9' }, 'exact 9'],
    ['RV-19', 'list', { resourceVersionMatch: 'NotOlderThan' }, needsVersion],
    ['RV-20', 'list', { resourceVersionMatch: 'NotOlderThan', resourceVersion: '0' }, 'any'],
    ['RV-21', 'list', { resourceVersionMatch: 'NotOlderThan', resourceVersion: '9' }, 'notOlderThan 9'],
    ['RV-22', 'list', { resourceVersionMatch: 'NotOlderThan', limit: '2' }, needsVersion],
    ['RV-23', 'list', { resourceVersionMatch: 'NotOlderThan', limit: '2', resourceVersion: '0' }, 'any'],
    ['RV-24', 'list', { resourceVersionMatch: 'NotOlderThan', limit: '2', resourceVersion: '9' }, 'notOlderThan 9'],
    ['RV-30: the page is read at the revision of the token', 'list', { continue: more }, page],
    ['RV-36: a version of the future is not refused here', 'list', { resourceVersion: '99999999999' }, 'notOlderThan 99999999999'],
    ['RV-36: nor as an exact one', 'list', { resourceVersion: '99999999999', resourceVersionMatch: 'Exact' }, 'exact 99999999999'],
    ['RV-39', 'list', { continue: more, resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }, notWithContinue],
    [
      'QP-04',
      'list',
      { resourceVersion: '9', resourceVersionMatch: 'Bogus' },
      options('Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""'),
    ],
    ['META-13: an empty version is none', 'list', { resourceVersion: '' }, 'latest'],
    ['the same rules for deletecollection', 'deletecollection', { limit: '2', resourceVersion: '9' }, 'exact 9'],
    ['QP-05: the same errors for deletecollection', 'deletecollection', { resourceVersionMatch: 'Exact' }, needsVersion],
    ['deletecollection is never a watch', 'deletecollection', { watch: '1' }, 'latest'],
    ['get has no resourceVersionMatch', 'get', { resourceVersionMatch: 'Bogus' }, 'latest'],
    ['WATCH: no version', 'watch', {}, 'state latest'],
    ['WATCH: version 0', 'watch', { resourceVersion: '0' }, 'state any'],
    ['WATCH: a version', 'watch', { resourceVersion: '9' }, 'changes after 9'],
    ['QP-02: watch=1 turns a list into a watch', 'list', { watch: '1' }, 'state latest'],
    ['QP-02: watch=true turns a list into a watch', 'list', { watch: 'true' }, 'state latest'],
    ['QP-02: watch=false does not', 'list', { watch: 'false' }, 'latest'],
    [
      'VERB-04: watch=1 on one object says nothing',
      'get',
      { watch: '1', limit: 'x', continue: '%', resourceVersion: '9' },
      'notOlderThan 9',
    ],
    ['QP-08', 'watch', { resourceVersion: '9', allowWatchBookmarks: 'true' }, 'changes after 9 with bookmarks'],
    ['a watch ignores limit and continue', 'watch', { limit: '2', continue: 'bogus', resourceVersion: '9' }, 'changes after 9'],
    [
      'a watch has no resourceVersionMatch',
      'watch',
      { resourceVersion: '9', resourceVersionMatch: 'Exact' },
      options('Forbidden: resourceVersionMatch is forbidden for watch'),
    ],
    [
      'a watch lists all faults of its resourceVersionMatch',
      'watch',
      { resourceVersionMatch: 'Bogus', continue: more },
      '422 ListOptions.meta.orch.io "" is invalid: [' +
        [
          'Forbidden: resourceVersionMatch is forbidden for watch',
          'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
          'Forbidden: resourceVersionMatch is forbidden when continue is provided',
          'Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""',
        ]
          .map((text) => `resourceVersionMatch: ${text}`)
          .join(', ') +
        ']',
    ],
    [
      'sendInitialEvents wants NotOlderThan',
      'watch',
      { sendInitialEvents: 'true' },
      options('Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ],
    ['sendInitialEvents, no version', 'watch', { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, 'state latest'],
    [
      'sendInitialEvents, a version',
      'watch',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '9' },
      'state notOlderThan',
    ],
    [
      'sendInitialEvents with bookmarks',
      'watch',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '0', allowWatchBookmarks: '1' },
      'state any with bookmarks as a watch list',
    ],
    [
      'sendInitialEvents=false, no version',
      'watch',
      { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' },
      'changes from now',
    ],
    [
      'sendInitialEvents=false, a version',
      'watch',
      { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan', resourceVersion: '9' },
      'changes after 9',
    ],
    [
      'sendInitialEvents on a list',
      'list',
      { sendInitialEvents: 'true' },
      '422 ListOptions.meta.orch.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
    ['QP-06: a negative limit is none', 'list', { limit: '-1', resourceVersion: '9' }, 'notOlderThan 9'],
    ['QP-06: a limit that is no number', 'list', { limit: 'abc' }, '400 strconv.ParseInt: parsing "abc": invalid syntax'],
    ['QP-06: an empty limit', 'list', { limit: '' }, '400 strconv.ParseInt: parsing "": invalid syntax'],
    ['QP-06: also on a watch', 'watch', { limit: 'abc' }, '400 strconv.ParseInt: parsing "abc": invalid syntax'],
    [
      'a bad token is reported before the version',
      'list',
      { continue: '%', resourceVersion: '9' },
      '400 invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
    ],
  ]
  test.each(rows)('%s: the answer to %s %o is as expected', (_requirement, verb, query, expected) => {
    const isWatchListOn = query.sendInitialEvents !== undefined
    expect(line(resolveRead(verb, query, { names, level: isWatchListOn ? 27 : 25, isWatchListOn }))).toBe(expected)
  })

  test.each(['get', 'list', 'watch', 'deletecollection'] as const)('QP-03: %s with an invalid version is a 400', (verb) => {
    const read = resolveRead(verb, { resourceVersion: 'abc' }, { names })
    expect(line(read)).toBe(
      '400 invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    )
  })

  test('sendInitialEvents is an unknown parameter below 1.27', () => {
    for (const verb of ['list', 'watch'] as const) {
      const query = { sendInitialEvents: 'true' }
      expect(resolveRead(verb, query, { names, level: 26 })).toEqual(resolveRead(verb, {}, { names, level: 26 }))
    }
  })

  test('several invalid options are reported together', () => {
    const read = resolveRead('list', { resourceVersionMatch: 'Bogus', continue: more }, { names })
    expect(read.kind === 'refused' && read.error.status.details?.causes).toHaveLength(3)
  })

  test('CHUNK-03: the limit is part of the read, also at version 0', () => {
    expect(resolveRead('list', { limit: '2', resourceVersion: '0' }, { names })).toEqual({ kind: 'any', limit: 2 })
    expect(resolveRead('list', { limit: '2', continue: more }, { names })).toEqual({ kind: 'continue', token, limit: 2 })
  })

  test('CHUNK-02: without chunking, limit and continue are ignored', () => {
    const rules = { names, isChunkingOn: false }
    expect(resolveRead('list', { limit: '2', resourceVersion: '9' }, rules)).toEqual({
      kind: 'notOlderThan',
      revision: 9,
      asked: '9',
      limit: 0,
    })
    expect(resolveRead('list', { continue: 'bogus' }, rules)).toEqual({ kind: 'latest', limit: 0 })
  })
})

describe('MACH-WATCH-03: the errors of a watch from level 1.27 on', () => {
  const unless = 'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
  const besideContinue = 'Forbidden: resourceVersionMatch is forbidden when continue is provided'
  const rows: [ReadQuery, string][] = [
    [{ resourceVersionMatch: 'NotOlderThan', resourceVersion: '9' }, options(unless)],
    [
      { resourceVersionMatch: 'Exact' },
      options('Forbidden: both').replace(
        'resourceVersionMatch: Forbidden: both',
        `[resourceVersionMatch: ${unless}, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
      ),
    ],
    [{ sendInitialEvents: '1', resourceVersionMatch: 'NotOlderThan', continue: more }, options(besideContinue)],
    [{ continue: more }, options(besideContinue)],
    [{ continue: more, resourceVersion: '9' }, 'changes after 9'],
  ]
  test.each(rows)('have the expected texts: %o', (query, expected) => {
    expect(line(resolveRead('watch', query, { names, level: 37, isWatchListOn: true }))).toBe(expected)
  })
})

test.each([
  [undefined, false],
  ['', true],
  ['abc', true],
  ['1', true],
  ['0', false],
  ['FALSE', false],
])('the flag %o is %o', (text, expected) => {
  expect(readQueryFlag(text)).toBe(expected)
})

test.each([
  [undefined, undefined],
  ['+5', 5],
  ['-5', -5],
  ['9223372036854775807', Number.MAX_SAFE_INTEGER],
])('the number %o is %o', (text, value) => {
  expect(readQueryInteger(text)).toEqual({ kind: 'integer', value })
})

test('a number beyond int64 is refused', () => {
  const reading = readQueryInteger('9223372036854775808')
  expect(reading.kind === 'refused' && reading.error.message).toBe('strconv.ParseInt: parsing "9223372036854775808": value out of range')
})

test('any query is resolved or refused, without a crash', () => {
  const value = fc.option(fc.oneof(fc.constantFrom('0', '1', '9', 'Exact', 'NotOlderThan', 'true', 'false', more, ''), fc.string()), {
    nil: undefined,
  })
  const query = fc.record({
    resourceVersion: value,
    resourceVersionMatch: value,
    limit: value,
    continue: value,
    watch: value,
    sendInitialEvents: value,
    allowWatchBookmarks: value,
  })
  fc.assert(
    fc.property(fc.constantFrom('get' as const, 'list' as const, 'watch' as const, 'deletecollection' as const), query, (verb, values) => {
      const read = resolveRead(verb, values, { names })
      if (read.kind === 'refused') expect([400, 422]).toContain(read.error.code)
      else expect(line(read)).not.toBe('')
    }),
  )
})
