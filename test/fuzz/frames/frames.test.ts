import { expect, test } from 'vitest'
import { drawTunnel, kindsCount } from './draw.ts'
import { judge, type Observed } from './judge.ts'

test('a seed and an index draw the same tunnel each time, of each kind', () => {
  const draw = () => Array.from({ length: 40 }, (_, index) => drawTunnel(7, index))
  expect(draw()).toEqual(draw())
  expect(drawTunnel(7, 1)).not.toEqual(drawTunnel(8, 1))
  expect(new Set(draw().map(({ kind }) => kind)).size).toBe(kindsCount)
})

const sound: Observed = {
  endedWith: undefined,
  logged: [],
  good: [{ result: 'hello\n', waitedMs: 20 }],
  busiestMs: 60,
  residentMb: [200, 260],
  opened: Object.fromEntries(Array.from({ length: kindsCount }, (_, index) => [index, 1])),
}

test.each([
  ['nothing', {}, []],
  ['an end of the server', { endedWith: 1 }, ['the server has ended with 1']],
  ['a logged error', { logged: ['{"msg":"a request has failed"}'] }, ['the server has logged {"msg":"a request has failed"}']],
  ['no good command', { good: [] }, ['no good command was answered']],
  ['a wrong answer', { good: [{ result: 'hel', waitedMs: 20 }] }, ['a good command has given "hel"']],
  ['a slow answer', { good: [{ result: 'hello\n', waitedMs: 9_000 }] }, ['a good command has taken 9000 ms']],
  ['a busy loop', { busiestMs: 101 }, ['the loop was busy for 101 ms']],
  ['memory that grows', { residentMb: [200, 400] }, ['memory has grown from 200 to 400 MB']],
  ['tunnels that are all refused', { opened: { a: 3 } }, [`tunnels of 1 kinds were opened, not of ${kindsCount}`]],
] as const)('the check of a run finds %s', (_name, planted, faults) => {
  expect(judge({ ...sound, ...planted })).toEqual(faults)
})
