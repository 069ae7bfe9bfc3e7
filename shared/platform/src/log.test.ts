import { internal, serviceUnavailable } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { createLog } from './log.ts'

const lines = (format: 'json' | 'text', level: 'info' | 'debug' = 'info') => {
  const written: string[] = []
  return { written, log: createLog({ level, format, write: (line) => void written.push(line) }) }
}

test('a JSON line holds the level as a word, the time, the fields and the message', () => {
  const { log, written } = lines('json')
  log.child({ part: 'x' }).info({ code: 200 }, 'request')
  expect(JSON.parse(written[0]!)).toMatchObject({ level: 'info', part: 'x', code: 200, msg: 'request', time: expect.stringMatching(/Z$/) })
})

test('a text line begins with time, level and message', () => {
  const { log, written } = lines('text')
  log.warn({ path: '/a b', code: 1 }, 'odd')
  expect(written[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}odd path="\/a b" code=1\n$/)
})

test('an error shows its stack', () => {
  const { log, written } = lines('text')
  log.error({ err: new Error('broken') }, 'failed')
  expect(written[0]).toMatch(/failed\n {2}Error: broken\n {2}/)
})

test('a Status is logged with its message and first cause, and with a stack only for an internal error', () => {
  const { log, written } = lines('text')
  const cause = new Error('lost', { cause: new Error('ECONNREFUSED 127.0.0.1:1') })
  log.warn({ err: serviceUnavailable('a service cannot be reached', { cause }) }, 'failed')
  log.warn({ err: serviceUnavailable('full') }, 'failed')
  log.warn({ err: internal('broken') }, 'failed')
  expect(written[0]).toMatch(/failed err="a service cannot be reached" cause="ECONNREFUSED 127\.0\.0\.1:1"\n$/)
  expect(written[1]).toMatch(/failed err=full\n$/)
  expect(written[2]).toMatch(/failed\n {2}StatusError: .*broken\n {6}at /)
})

test('a frozen error is logged like any other', () => {
  const { log, written } = lines('json')
  log.error({ err: Object.freeze(new Error('broken', { cause: new Error('lost') })) }, 'failed')
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ err: { type: 'Error', message: 'broken', cause: 'lost' }, msg: 'failed' })
})

test('lines below the level are dropped', () => {
  const { log, written } = lines('json')
  log.debug({}, 'detail')
  expect(written).toEqual([])
})
