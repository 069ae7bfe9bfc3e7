import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aPut, createFakeClock, listed, written } from '@orch/testkit'
import { findBackend, openEtcdMembers, type Program } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { etcdMemberLookMs } from '../limits.ts'
import { createStorage } from '../service.ts'
import { openEtcdStore } from './etcd-store.ts'
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

const backend = await findBackend('etcd')
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : ''

describe.skipIf(backend.kind === 'missing')(`an etcd of three members${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-members-'))
  let members: Program[]
  beforeAll(async () => {
    members = await openEtcdMembers({ path: backend.kind === 'found' ? backend.path : '', folder, count: 3 })
  })
  afterAll(async () => {
    for (const member of members) await member.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Writes and reads until it is closed. What asks to come again does so. */
  async function openLoad(prefix: string) {
    const store = await openEtcdStore({ servers: members.map(({ address }) => `http://${address}`), prefix, profile: 'orch' })
    const storage = await createStorage({ store, leadership: store.leadership })
    const acknowledged: string[] = []
    const failures: string[] = []
    let isOver = false
    const work = async (worker: number) => {
      for (let round = 0; !isOver; round++) {
        const name = `n-${worker}-${round}`
        try {
          await written(storage, aPut({ name }))
          acknowledged.push(name)
          await listed(storage, { limit: 1 })
        } catch (error) {
          if ((error as { code?: number }).code !== 503) failures.push(String(error))
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const working = [0, 1, 2, 3].map(work)
    const close = async () => {
      isOver = true
      await Promise.all(working)
      const { names } = await listed(storage)
      storage.close()
      await store.close()
      return acknowledged.filter((name) => !names.includes(name))
    }
    const more = (count: number) => {
      const wanted = acknowledged.length + count
      return vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(wanted), { timeout: 25_000, interval: 20 })
    }
    return { failures, more, close }
  }

  // Any two of three: the watch stands at one of them, or moves there.
  test.each([
    ['killed', (member: Program) => member.kill(), (member: Program) => member.start()],
    ['stopped in its tracks', async (member: Program) => member.pause(), async (member: Program) => member.resume()],
  ])(
    'one after the other is %s: writing and reading go on, and nothing is lost',
    async (how, harm, mend) => {
      const load = await openLoad(`members-${how.length}`)
      await load.more(20)
      for (const member of members.slice(0, 2)) {
        await harm(member)
        await load.more(60)
        await mend(member)
      }
      expect({ lost: await load.close(), failures: load.failures }).toEqual({ lost: [], failures: [] })
    },
    100_000,
  )
})
