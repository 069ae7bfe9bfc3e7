import { silentLog } from '@orch/platform'
import { expect, test } from 'vitest'
import { readUpOptions, threadsHere } from './up.ts'

async function read(flags: string[]) {
  const ignore = () => {}
  return await readUpOptions({ arguments: [], env: {}, workingFolder: '/', out: ignore, error: ignore }, flags)
}

const alone: readonly { what: string; flags: string[]; sentence: string }[] = [
  { what: 'services apart', flags: ['--distributed'], sentence: 'with --distributed: gateways are processes there; see --gateways' },
  {
    what: 'a console on an address that other machines reach',
    flags: ['--console=true', '--bind-address=0.0.0.0'],
    sentence: 'with --console=true and --bind-address=0.0.0.0: a session is of one thread, which only a loopback address reaches',
  },
  {
    what: 'fewer reads than threads',
    flags: ['--max-requests-inflight=1'],
    sentence: 'with --max-requests-inflight=1: threads divide it, so it is at least 2, or 0',
  },
  {
    what: 'fewer writes than threads',
    flags: ['--max-mutating-requests-inflight=1'],
    sentence: 'with --max-mutating-requests-inflight=1: threads divide it, so it is at least 2, or 0',
  },
]

test.each(alone)('$what: refused with several threads, and not with one', async ({ flags, sentence }) => {
  await expect(read(['--threads=2', ...flags])).rejects.toThrow(`--threads=2 ${sentence}`)
  await expect(read(['--threads=1', ...flags])).resolves.toMatchObject({ settings: { threads: 1 } })
})

test('several threads are accepted with compatible settings, and 1 is the default', async () => {
  expect(await read(['--threads=3', '--max-requests-inflight=0'])).toMatchObject({ settings: { threads: 3 } })
  expect(await read([])).toMatchObject({ settings: { threads: 1 } })
  await expect(read(['--threads=0'])).rejects.toThrow('--threads')
})

test('one thread serves if threads cannot share a port, and the log says so', () => {
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (fields: object, message: string) => void warnings.push([fields, message]) }
  expect(threadsHere(4, log, false)).toBe(1)
  expect(warnings).toEqual([[{ threads: 4 }, 'threads can share a port on Linux alone: one thread takes all requests']])
  expect([threadsHere(1, log, false), threadsHere(4, log, true)]).toEqual([1, 4])
  expect(warnings).toHaveLength(1)
})
