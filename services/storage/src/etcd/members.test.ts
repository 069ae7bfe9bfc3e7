import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import { Members } from './members.ts'

const failing = (message: string) => () => {
  throw new Error(message)
}
const refused = failing('14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1')
const fine = () => 'fine'

describe('members of etcd', () => {
  function open(...servers: string[]) {
    const clock = createFakeClock()
    const back = new Set<string>()
    const asked: string[] = []
    const isBack = async (server: string) => {
      asked.push(server)
      return back.has(server)
    }
    const members = new Members({ servers, clock, isBack })
    onTestFinished(() => members.close())
    const ask = (server: string, call: () => unknown) =>
      members
        .policyOf(server)
        .execute(call)
        .catch((error: Error) => error.message)
    const look = async () => {
      clock.advance(limits.etcdMemberLookMs)
      for (let turn = 0; turn < 4; turn++) await Promise.resolve()
    }
    return { members, back, ask, look, clock, asked }
  }

  test('that are unreachable are skipped until they answer again', async () => {
    const { back, ask, look } = open('a', 'b')
    await ask('a', refused)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['a is away', 'fine'])
    await look()
    expect(await ask('a', fine)).toBe('a is away')
    back.add('a')
    await look()
    expect(await ask('a', fine)).toBe('fine')
  })

  test.each([
    ['a call without an answer in time', '4 DEADLINE_EXCEEDED: Deadline exceeded after 3s'],
    ['the loss of its leader', '14 UNAVAILABLE: etcdserver: no leader'],
  ])('are skipped after %s', async (_how, message) => {
    const { ask } = open('a', 'b')
    await ask('a', failing(message))
    expect(await ask('a', fine)).toBe('a is away')
  })

  test.each([
    ['a refusal', '3 INVALID_ARGUMENT: etcdserver: request is too large'],
    ['a call that this side has ended', '1 CANCELLED: Cancelled on client'],
  ])('are not skipped after %s', async (_how, message) => {
    const { ask } = open('a', 'b')
    await ask('a', failing(message))
    expect(await ask('a', fine)).toBe('fine')
  })

  test('are all asked when all are unreachable', async () => {
    const { ask } = open('a', 'b')
    for (const server of ['a', 'b']) await ask(server, refused)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['fine', 'fine'])
  })

  test('are asked without the unreachable member during an election', async () => {
    const { ask } = open('a', 'b', 'c')
    await ask('a', refused)
    for (const server of ['b', 'c']) await ask(server, failing('14 UNAVAILABLE: etcdserver: leader changed'))
    expect([await ask('a', fine), await ask('b', fine), await ask('c', fine)]).toEqual(['a is away', 'fine', 'fine'])
  })

  test('include a single member in any state', async () => {
    const alone = open('a')
    await alone.ask('a', refused)
    expect(await alone.ask('a', fine)).toBe('fine')
  })

  test('whose stream is silent are skipped', async () => {
    const { members, ask } = open('a', 'b')
    const stream = {}
    await members.policyOf('a').execute(() => stream)
    members.isSilent(stream)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['a is away', 'fine'])
  })

  test('are probed at intervals while unreachable, by one timer, until they are closed', async () => {
    const { members, ask, look, clock, asked } = open('a', 'b')
    await ask('a', refused)
    const stream = {}
    await members.policyOf('b').execute(() => stream)
    const own = {}
    const other = open('a', 'b')
    await other.members.policyOf('a').execute(() => own)
    for (let time = 0; time < 2; time += 1) other.members.isSilent(own)
    expect([clock.pendingTimers, other.clock.pendingTimers]).toEqual([1, 1])
    clock.advance(limits.etcdMemberLookMs - 1)
    expect(asked).toEqual([])
    clock.advance(1)
    await vi.waitFor(() => expect([asked, clock.pendingTimers]).toEqual([['a'], 1]), { timeout: 90_000 })
    await look()
    expect(asked).toEqual(['a', 'a'])
    members.close()
    await look()
    expect([clock.pendingTimers, asked]).toEqual([0, ['a', 'a']])
    members.isSilent(stream)
    expect([clock.pendingTimers, await ask('b', fine)]).toEqual([0, 'fine'])
  })

  test('keep their state after an unknown stream, or a call without a result', async () => {
    const { members, ask, clock } = open('a', 'b')
    members.isSilent({})
    expect(clock.pendingTimers).toBe(0)
    expect([await ask('a', () => null), await ask('a', () => undefined), await ask('a', fine)]).toEqual([null, undefined, 'fine'])
  })

  test('are asked without a member that was silent and then unreachable during an election', async () => {
    const { members, ask } = open('a', 'b')
    const stream = {}
    await members.policyOf('a').execute(() => stream)
    for (const server of ['a', 'b']) await ask(server, failing('14 UNAVAILABLE: etcdserver: leader changed'))
    await ask('a', refused)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['a is away', 'fine'])
  })

  test.each([
    ['a member without a connection', 'a', '14 UNAVAILABLE: Waiting for LB pick', 'Error'],
    ['a member that is away', 'a', '14 UNAVAILABLE: etcdserver: no leader', 'MemberError'],
    ['a member that refuses', 'a', '3 INVALID_ARGUMENT: etcdserver: request is too large', 'Error'],
    ['a call that this side has ended', 'a', '1 CANCELLED: Cancelled on client', 'Error'],
    ['a member whose words only mention an end', 'a', '14 UNAVAILABLE: after 1 CANCELLED', 'MemberError'],
  ])(
    'report the words of a failed call, so that a connection is dropped only if it was never made: %s',
    async (_who, server, message, name) => {
      const { members } = open('a', 'b')
      const error = await members
        .policyOf(server)
        .execute(failing(message))
        .catch((thrown: Error) => thrown)
      expect([(error as Error).message, (error as Error).constructor.name]).toEqual([message, name])
      expect((error as Error).cause === undefined).toBe(name === 'Error')
    },
  )

  test('keep their state after a thrown value that is no error', async () => {
    const { members, ask } = open('a', 'b')
    const thrown = '14 UNAVAILABLE: etcdserver: no leader'
    const outcome = members.policyOf('a').execute(() => Promise.reject(thrown))
    await expect(outcome).rejects.toBe(thrown)
    expect(await ask('a', fine)).toBe('fine')
  })
})
