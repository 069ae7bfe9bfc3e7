import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aPut, listed, written } from '@orch/testkit'
import { findBackend, openEtcdMembers, type Program } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createStorage } from '../service.ts'
import { openEtcdStore } from './etcd-store.ts'

const backend = await findBackend('etcd')
/** The status is UNAVAILABLE and not DEADLINE_EXCEEDED. */
const mayBeTriedAgain = new Set<number | undefined>([503, 504])
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

  /** Writes and reads until the test closes it. It repeats a call that it may repeat; without an answer in time the outcome is unknown. */
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
          if (!mayBeTriedAgain.has((error as { code?: number }).code)) failures.push(String(error))
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

  // Any two of three members: the watch is at one of these two or moves there.
  test.each([
    ['killed', (member: Program) => member.kill(), (member: Program) => member.start()],
    ['stopped in its tracks', async (member: Program) => member.pause(), async (member: Program) => member.resume()],
  ])(
    'continues to write and read while one after the other is %s, and loses nothing',
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
