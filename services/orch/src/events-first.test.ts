import { certificateMemory, silentLog, systemChance } from '@orch/platform'
import { createMemoryStore, openLmdbStore } from '@orch/storage'
import { aConfigMap, createFakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from './server.ts'
import { readServer } from './settings/up.ts'
import { readStartSettings } from './start/start-settings.ts'

const stores = {
  memory: async () => createMemoryStore(),
  lmdb: async () => {
    const directory = aFolder()
    return openLmdbStore({ directory, profile: 'orch' })
  },
}

/** A client in the server's process, which receives bytes in the order of the server's writes. */
async function aClient(open: (typeof stores)[keyof typeof stores]) {
  const settings = readStartSettings({ profile: 'orch', controllers: [] })
  const server = await startServer({
    ...readServer(settings),
    store: await open(),
    certificateFiles: certificateMemory(),
    // The clock stands still, so no time limit expires.
    clock: createFakeClock(),
    chance: systemChance,
    log: silentLog,
  })
  onTestFinished(() => server.stop({ delayMs: 0, graceMs: 0 }))
  const client = server.clientAs({ name: 'tester', groups: ['system:masters'] })
  return client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
}

test.each(Object.entries(stores))(
  'WATCH-02: a watcher has the event of a write before the writer has the answer, with one writer and with five at a time, on %s',
  async (_, open) => {
    const maps = await aClient(open)
    const seen: string[] = []
    const events = await maps.watch({ namespace: 'default', resourceVersion: '0' })
    let count = 0
    const reading = (async () => {
      for await (const { object } of events) {
        seen.push(`event ${object.metadata.name}`)
        count += 1
        if (count === 20 + 5 * 20) return
      }
    })()
    const create = async (name: string) => {
      await maps.create(aConfigMap({ name }))
      seen.push(`answer ${name}`)
    }
    const write = async (writer: string) => {
      for (let index = 0; index < 20; index++) await create(`${writer}-${index}`)
    }
    await write('alone')
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(write))
    const answers = seen.filter((line) => line.startsWith('answer'))
    const late = answers.filter((answer) => seen.indexOf(answer) < seen.indexOf(answer.replace('answer', 'event')))
    const missing = answers.filter((answer) => !seen.includes(answer.replace('answer', 'event')))
    expect([answers.length, late, missing]).toEqual([120, [], []])
    await reading
  },
)
