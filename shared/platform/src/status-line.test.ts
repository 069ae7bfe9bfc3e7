import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { openStatusLine } from './status-line.ts'

const erased = '\r\u001b[K'

/** A terminal with a status line, and a function that returns the text written since the last call. */
function lineOn({ columns = 80, hasColors = false, isTTY = true, env = {} } = {}) {
  const clock = createFakeClock()
  let written = ''
  const write = (text: string) => {
    written += text
  }
  const line = openStatusLine({ isTTY, columns, hasColors: () => hasColors, write }, env, clock)
  const read = () => {
    const text = written
    written = ''
    return text
  }
  return { clock, line, read }
}

test('work that takes less than half a second shows nothing', () => {
  const { clock, line, read } = lineOn()
  line.show('applying 1 of 2')
  clock.advance(499)
  line.close()
  clock.advance(10_000)
  expect(read()).toBe('')
  expect(clock.pendingTimers).toBe(0)
})

test('longer work is shown on one line, and the line is cleared at the end', () => {
  const { clock, line, read } = lineOn()
  line.show('applying 1 of 2')
  clock.advance(500)
  expect(read()).toBe(`${erased}⠋ applying 1 of 2`)
  line.show('applying 2 of 2')
  clock.advance(100)
  expect(read()).toBe(`${erased}⠙ applying 2 of 2`)
  line.close()
  expect(read()).toBe(erased)
  expect(clock.pendingTimers).toBe(0)
})

test('a text shown for three seconds gets its duration, counted from its first display', () => {
  const { clock, line, read } = lineOn()
  line.show('reading pods')
  clock.advance(2_000)
  line.show('waiting for pod/a')
  clock.advance(2_900)
  expect(read()).not.toContain(' s)')
  line.show('waiting for pod/a')
  clock.advance(4_100)
  expect(read().endsWith('waiting for pod/a (7 s)')).toBe(true)
})

test('other output replaces the line, which returns below it', () => {
  const { clock, line, read } = lineOn()
  line.show('deleting')
  clock.advance(500)
  read()
  line.giveWayTo('pod "a" deleted\n')
  expect(read()).toBe(erased)
  clock.advance(100)
  expect(read()).toBe(`${erased}⠙ deleting`)
})

test('the line does not overwrite a text without a line end', () => {
  const { clock, line, read } = lineOn()
  line.show('reading')
  clock.advance(500)
  line.giveWayTo('Password: ')
  read()
  clock.advance(1_000)
  expect(read()).toBe('')
  line.giveWayTo('\n')
  clock.advance(100)
  expect(read()).toContain('reading')
})

test('nothing is drawn while another program has the terminal', async () => {
  const { clock, line, read } = lineOn()
  line.show('reading')
  clock.advance(500)
  read()
  await line.suspendedWhile(async () => {
    expect(read()).toBe(erased)
    clock.advance(1_000)
    expect(read()).toBe('')
  })
  clock.advance(100)
  expect(read()).toContain('reading')
})

test.each([
  [20, '⠋ a text that is w…'],
  [4, '⠋ …'],
  [0, '⠋ a text that is wider than this'],
])('a text is cut to a terminal of %i columns, where 0 is unknown', (columns, expected) => {
  const { clock, line, read } = lineOn({ columns })
  line.show('a text that is wider than this')
  clock.advance(500)
  expect(read()).toBe(erased + expected)
})

test.each([
  ['a terminal that has them', { hasColors: true }, `${erased}\u001b[36m⠋\u001b[0m reading`],
  ['no terminal under NO_COLOR', { hasColors: true, env: { NO_COLOR: '1' } }, `${erased}⠋ reading`],
])('colours are used for %s', (_which, options, expected) => {
  const { clock, line, read } = lineOn(options)
  line.show('reading')
  clock.advance(500)
  expect(read()).toBe(expected)
})

test.each([
  ['a file or a pipe', { isTTY: false }],
  ['a terminal that cannot overwrite a line', { env: { TERM: 'dumb' } }],
])('%s shows no line', async (_which, options) => {
  const { clock, line, read } = lineOn(options)
  line.show('reading')
  clock.advance(10_000)
  line.giveWayTo('text\n')
  expect(await line.suspendedWhile(async () => 7)).toBe(7)
  line.close()
  expect(read()).toBe('')
})

test('work without timers is shown when it reports its progress', () => {
  let nowMs = 0
  const written: string[] = []
  const clock = { ...createFakeClock(), monotonic: () => nowMs }
  const line = openStatusLine({ isTTY: true, write: (text) => written.push(text) }, {}, clock)
  for (nowMs = 0; nowMs <= 620; nowMs += 10) line.show(`${nowMs} records`)
  expect(written).toEqual([`${erased}⠋ 500 records`, `${erased}⠙ 600 records`])
  line.close()
})
