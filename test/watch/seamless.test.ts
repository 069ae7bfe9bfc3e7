import type { WatchOptions } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { defaultPluginSettings } from '../../services/admission/src/index.ts'
import { openAdmissionReplica } from '../../services/orch/src/distributed/admission.ts'
import type { Replica } from '../../services/orch/src/distributed/replica.ts'
import { apart, closing, gatewaysOver, world } from '../../services/orch/src/distributed/replica-testing.ts'
import { openStorageReplica } from '../../services/orch/src/distributed/storage.ts'
import { openWatchReplica } from '../../services/orch/src/distributed/watch.ts'
import { createMemoryStore } from '../../services/storage/src/index.ts'
import { openLink } from '../chaos/link.ts'

const anAdmission = { plugins: { enabled: [], disabled: [] }, configFile: undefined, settings: defaultPluginSettings }
const portOf = ({ address }: Replica) => Number(address.split(':').at(-1))

/** A gateway over one storage, one admission and two watch services. The test can cut the connection to each watch service. */
async function aSet() {
  const store = createMemoryStore()
  const storage = await closing(openStorageReplica({ ...apart, store, changeStream: undefined, watchHistoryMs: 600_000 }, world))
  const storageAddresses = [storage.address]
  const openWatch = (listen = apart.listen) =>
    closing(openWatchReplica({ ...apart, listen, storageAddresses, changeStream: undefined }, world))
  const watches = [await openWatch(), await openWatch()]
  const links = await Promise.all(watches.map((watch) => openLink(portOf(watch))))
  for (const link of links) onTestFinished(() => link.close())
  const admission = await closing(openAdmissionReplica({ ...apart, storageAddresses, admission: anAdmission }, world))
  const watchAddresses = links.map(({ port }) => `127.0.0.1:${port}`)
  const openGateway = await gatewaysOver({
    storageAddresses,
    watchAddresses,
    admission: { kind: 'service', addresses: [admission.address] },
  })
  const { client } = await openGateway()
  const faults = [
    ...links.map(({ cut }) => cut),
    () => {
      for (const { cut } of links) cut()
    },
    ...watches.map((_, index) => async () => {
      const gone = watches[index] as Replica
      links[index]?.cut()
      await gone.stop()
      watches[index] = await openWatch(gone.address)
    }),
  ]
  return { client, faults }
}

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const namespace = 'default'

/** A write of an object, with the app label before and after; undefined: the object did not exist. */
interface Written {
  readonly name: string
  readonly revision: number
  readonly before: string | undefined
  readonly after: string
}

type IsSelected = (name: string, app: string) => boolean

/** The events of a selector's watch over a history: `ADDED name revision`. */
function told(history: readonly Written[], isSelected: IsSelected): string[] {
  return history.flatMap(({ name, revision, before, after }) => {
    const was = before !== undefined && isSelected(name, before)
    if (isSelected(name, after)) return [`${was ? 'MODIFIED' : 'ADDED'} ${name} ${revision}`]
    return was ? [`DELETED ${name} ${revision}`] : []
  })
}

/** Initial events of all objects that exist after a history, by name. */
function stateAfter(history: readonly Written[]): string[] {
  const present = new Map(history.map(({ name, revision }) => [name, revision]))
  return [...present].map(([name, revision]) => `ADDED ${name} ${revision}`).toSorted()
}

interface Reader {
  readonly what: string
  /** True if the watch begins with a state, else with the writes after the start. */
  readonly isInitial: boolean
  readonly isSelected: IsSelected
  readonly lines: string[]
  done: Promise<void>
}

const endOfInitialEvents = 'end of initial events'
const isEndOfInitialEvents = ({ metadata }: ApiObject) => metadata.annotations?.['orch.io/initial-events-end'] === 'true'

/** The object whose event ends a reader. */
const last = 'last'

test('WATCH-17, WATCH-18, CARD-25: watches of every kind continue through lost connections and replicas: each change once, in order, no 410', {
  timeout: 120_000,
}, async () => {
  const { client, faults } = await aSet()
  const maps = client.resource(configMaps)
  const history: Written[] = []
  const apps = new Map<string, string>()
  const write = async (name: string, after: string) => {
    const before = apps.get(name)
    const map = aConfigMap({ name, labels: { app: after }, data: { write: String(history.length) } })
    const { metadata } = before === undefined ? await maps.create(map) : await maps.update(map)
    apps.set(name, after)
    history.push({ name, revision: Number(metadata.resourceVersion), before, after })
  }
  const readers: Reader[] = []
  const follow = async (what: string, isSelected: IsSelected, options: WatchOptions) => {
    const stream = await maps.watch({ namespace, allowWatchBookmarks: true, ...options })
    const lines: string[] = []
    const read = async () => {
      let reached = 0
      for await (const { type, object } of stream) {
        const { name = '', resourceVersion = '' } = object.metadata
        if (isEndOfInitialEvents(object)) lines.push(endOfInitialEvents)
        if (type !== 'BOOKMARK') lines.push(`${type} ${name} ${resourceVersion}`)
        else if (Number(resourceVersion) < reached) lines.push(`a bookmark at ${resourceVersion}, behind ${reached}`)
        reached = Math.max(reached, Number(resourceVersion))
        if (name === last) return
      }
      lines.push('the stream has ended')
    }
    const done = read().catch((error: unknown) => void lines.push(`failed: ${error}`))
    readers.push({ what, isInitial: options.sendInitialEvents === true, isSelected, lines, done })
  }

  const names = ['a', 'b', 'c', 'd'] as const
  for (const name of names) await write(name, 'web')
  const start = history.length
  const { resourceVersion } = (await maps.list({ namespace })).metadata
  await follow('all', () => true, { resourceVersion })
  await follow('label', (_, app) => app !== 'db', { resourceVersion, labelSelector: 'app!=db' })
  await follow('field', (name) => name !== 'a', { resourceVersion, fieldSelector: 'metadata.name!=a' })
  for (const [round, fault] of [...faults, ...faults].entries()) {
    await write('a', 'web')
    await write('b', round % 2 === 0 ? 'db' : 'web')
    await follow('initial', () => true, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' })
    await Promise.all([fault(), write('c', 'db')])
    await write('d', round % 3 === 0 ? 'web' : 'db')
  }
  await write(last, 'web')
  for (const { done } of readers) await done

  for (const { what, isInitial, isSelected, lines } of readers) {
    const end = lines.indexOf(endOfInitialEvents)
    const state = lines.slice(0, Math.max(0, end)).toSorted()
    const moment = history.findLastIndex((_, index) => `${stateAfter(history.slice(0, index + 1))}` === `${state}`) + 1
    if (isInitial) expect(moment, `${what}: the state of no moment: ${state}`).toBeGreaterThanOrEqual(start)
    expect(lines.slice(end + 1), what).toEqual(told(history.slice(isInitial ? moment : start), isSelected))
  }
  expect(readers).toHaveLength(3 + 2 * faults.length)
})
