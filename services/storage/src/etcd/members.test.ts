import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { etcdMemberLookMs } from '../limits.ts'
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
    const members = new Members({ servers, clock, isBack: async (server) => back.has(server) })
    onTestFinished(() => members.close())
    const ask = (server: string, call: () => unknown) =>
      members
        .policyOf(server)
        .execute(call)
        .catch((error: Error) => error.message)
    const look = async () => {
      clock.advance(etcdMemberLookMs)
      for (let turn = 0; turn < 4; turn++) await Promise.resolve()
    }
    return { members, back, ask, look }
  }

  test('one that is away is passed over until it answers again', async () => {
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
    ['gives no answer in time', '4 DEADLINE_EXCEEDED: Deadline exceeded after 3s'],
    ['has lost its leader', '14 UNAVAILABLE: etcdserver: no leader'],
  ])('one that %s is passed over', async (_how, message) => {
    const { ask } = open('a', 'b')
    await ask('a', failing(message))
    expect(await ask('a', fine)).toBe('a is away')
  })

  test.each([
    ['refuses', '3 INVALID_ARGUMENT: etcdserver: request is too large'],
    ['was told to stop', '1 CANCELLED: Cancelled on client'],
  ])('one that %s is not passed over', async (_how, message) => {
    const { ask } = open('a', 'b')
    await ask('a', failing(message))
    expect(await ask('a', fine)).toBe('fine')
  })

  test('when all are gone, all are asked', async () => {
    const { ask } = open('a', 'b')
    for (const server of ['a', 'b']) await ask(server, refused)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['fine', 'fine'])
  })

  test('while all elect a leader, the one that is gone is not asked', async () => {
    const { ask } = open('a', 'b', 'c')
    await ask('a', refused)
    for (const server of ['b', 'c']) await ask(server, failing('14 UNAVAILABLE: etcdserver: leader changed'))
    expect([await ask('a', fine), await ask('b', fine), await ask('c', fine)]).toEqual(['a is away', 'fine', 'fine'])
  })

  test('one that is alone is asked whatever it said', async () => {
    const alone = open('a')
    await alone.ask('a', refused)
    expect(await alone.ask('a', fine)).toBe('fine')
  })

  test('one whose stream has fallen silent is passed over', async () => {
    const { members, ask } = open('a', 'b')
    const stream = {}
    await members.policyOf('a').execute(() => stream)
    members.isSilent(stream)
    expect([await ask('a', fine), await ask('b', fine)]).toEqual(['a is away', 'fine'])
  })
})
