import { silentLog } from '@orch/platform'
import { expect, test } from 'vitest'
import { AddressTakenError, StartError } from '../process/terminal.ts'
import { withOtherPorts } from './up-distributed.ts'

const taken = new AddressTakenError('taken', { address: '127.0.0.1:1' })

/** A start that fails in these ways, one after the other, and then succeeds. */
function aStart(failures: readonly Error[], { isOurs = true, signal = new AbortController().signal } = {}) {
  const events: string[] = []
  const run = () =>
    withOtherPorts({
      async attempt() {
        events.push('attempt')
        const failure = failures[events.filter((event) => event === 'attempt').length - 1]
        if (failure !== undefined) throw failure
        return 'started'
      },
      isOurs: () => isOurs,
      async stop() {
        events.push('stop')
      },
      signal,
      log: silentLog,
    })
  return { events, run }
}

test('a start that loses a port ends its processes and takes other ports', async () => {
  const { events, run } = aStart([taken, taken])
  expect(await run()).toBe('started')
  expect(events).toEqual(['attempt', 'stop', 'attempt', 'stop', 'attempt'])
})

test.each([
  ['the caller has chosen the port', [taken], { isOurs: false }],
  ['the start is ended', [taken], { signal: AbortSignal.abort() }],
  ['it fails for another reason', [new StartError('another')], {}],
])('there is no second attempt if %s', async (_, failures, options) => {
  const { events, run } = aStart(failures, options)
  await expect(run()).rejects.toBe(failures[0])
  expect(events).toEqual(['attempt'])
})

test('a start that loses a port each time fails', async () => {
  const { events, run } = aStart(Array<Error>(9).fill(taken))
  await expect(run()).rejects.toBe(taken)
  expect(events.filter((event) => event === 'attempt')).toHaveLength(5)
})
