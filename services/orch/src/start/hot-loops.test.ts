import type { LoggedRequest } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { hotLoopsIn, observeHotLoops } from './reports.ts'

const aRequest = (facts: Partial<LoggedRequest> = {}): LoggedRequest => ({
  id: 1,
  time: 0,
  user: 'operator',
  agent: '',
  verb: 'update',
  path: '/api/v1/namespaces/default/configmaps/a',
  group: '',
  resource: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: 'a',
  code: 200,
  changed: false,
  noop: false,
  ...facts,
})
const times = (count: number, facts: Partial<LoggedRequest>) => Array.from({ length: count }, () => aRequest(facts))
const inTurns = (count: number, ...all: readonly Partial<LoggedRequest>[]) =>
  Array.from({ length: count }, (_, index) => aRequest({ changed: true, ...all[index % all.length] }))

test('a report of loops names writes without a change, lists, turns and numbers of requests', () => {
  const cases: [readonly LoggedRequest[], readonly string[]][] = [
    [times(2, { noop: true }), []],
    [times(3, { noop: true }), ['operator has written configmaps default/a 3 times without a change']],
    [[...times(2, { noop: true }), ...times(2, { noop: true, name: 'b' })], []],
    [times(4, { verb: 'list', name: '' }), []],
    [times(5, { verb: 'list', name: '' }), ['operator has listed configmaps default 5 times']],
    [
      times(5, { verb: 'list', name: '', resource: 'widgets', group: 'example.com', namespace: '' }),
      ['operator has listed widgets.example.com 5 times'],
    ],
    [inTurns(4, { user: 'a' }, { user: 'b' }), []],
    [inTurns(5, { user: 'b' }, { user: 'a' }), ['configmaps default/a was changed in turns by a and b, 5 times']],
    [inTurns(5, { agent: 'x' }, { agent: 'y' }), ['configmaps default/a was changed in turns by operator (x) and operator (y), 5 times']],
    [times(5, { changed: true }), []],
    [times(40, { verb: 'get' }), []],
    [times(41, { verb: 'get' }), ['operator has sent 41 requests in 2 s']],
  ]
  for (const [requests, found] of cases) expect(hotLoopsIn(requests, 2)).toEqual(found)
})

test('an observation describes the requests of its time, by all users of the test or by one, and refuses an unknown user', async () => {
  const all = times(3, { noop: true })
  const log = { total: 0, read: (_filter: object, from = 0) => all.slice(from), readLast: () => [] }
  const observe = (user?: string) => {
    log.total = all.length
    return observeHotLoops({ log, users: ['operator'], user, ms: 2_000, pass: async () => void all.push(...times(4, { noop: true })) })
  }
  expect(await observe()).toEqual(['operator has written configmaps default/a 4 times without a change'])
  expect(await observe('operator')).toHaveLength(1)
  await expect(observe('operatr')).rejects.toThrow('operatr has sent no request, and is no user of the test: operator')
})
