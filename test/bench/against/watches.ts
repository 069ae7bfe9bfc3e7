import { setTimeout } from 'node:timers/promises'
import { CountingWatch } from '../counting-watch.ts'
import type { Connection } from '../http1-load.ts'
import type { Measure } from './operations.ts'
import type { Side } from './side.ts'

const waitMsMax = 60_000

interface WatchLine {
  readonly label: string
  readonly watchers: 'watchers' | 'steadyWatchers'
  /** The line sends each event after the previous event has reached all watches. */
  readonly isSteady: boolean
}

const lines: readonly WatchLine[] = [
  { label: 'events in a burst', watchers: 'watchers', isSteady: false },
  { label: 'events one at a time', watchers: 'steadyWatchers', isSteady: true },
]

/** The objects of a burst; the line changes each over a separate connection. */
const changedAtOnce = 10

/** Counts one event for each change at each watch. A round fails if an event is missing. */
export const watchMeasures: readonly Measure[] = lines.map(({ label, watchers, isSteady }) => ({
  label,
  unit: 'events',
  async open(side, namespace, extent) {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const count = extent[watchers]
    const names = Array.from({ length: isSteady ? 1 : changedAtOnce }, (_, index) => `watched-${isSteady ? 'steady' : 'burst'}-${index}`)
    const writers = await Promise.all(names.map(() => side.connect()))
    let resourceVersion = ''
    for (const name of names) resourceVersion = await makeConfigMap(side, path, name)
    const request = side.bytesOf({ method: 'GET', path: `${path}?watch=1&resourceVersion=${resourceVersion}` })
    const watches: CountingWatch[] = []
    while (watches.length < count) {
      const some = await Promise.all(Array.from({ length: Math.min(50, count - watches.length) }, () => side.connect()))
      watches.push(...some.map((connection) => new CountingWatch(connection, request)))
    }
    let serial = 0
    let expected = 0
    const change = async (writer: Connection, name: string) => {
      const patch = { data: { serial: String(serial++) } }
      const headers = { 'content-type': 'application/merge-patch+json' }
      const answer = await writer.send(side.bytesOf({ method: 'PATCH', path: `${path}/${name}`, headers, body: patch }))
      if (answer.status !== 200) throw new Error(`${side.name}: a change answered ${answer.status}`)
      expected += 1
      if (isSteady) await arrived(side, watches, expected)
    }
    return {
      async round() {
        const began = performance.now()
        let left = extent.events
        const changes = async (writer: Connection, index: number) => {
          while (left-- > 0) await change(writer, names[index] ?? '')
        }
        await Promise.all(writers.map(changes))
        await arrived(side, watches, expected)
        return { operations: extent.events * count, seconds: (performance.now() - began) / 1000 }
      },
      async close() {
        for (const connection of [...watches, ...writers]) connection.close()
        for (const name of names) await side.ask({ method: 'DELETE', path: `${path}/${name}` })
      },
    }
  },
}))

/** Writes a ConfigMap of 3 KB; returns its version. */
async function makeConfigMap(side: Side, path: string, name: string): Promise<string> {
  const data = { text: 'abcdefghij'.repeat(290) }
  const { status, body } = await side.ask({ method: 'POST', path, body: { metadata: { name }, data } })
  if (status !== 201) throw new Error(`${side.name}: a ConfigMap cannot be made: ${status} ${body}`)
  return (JSON.parse(String(body)) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
}

async function arrived(side: Side, watches: readonly CountingWatch[], expected: number): Promise<void> {
  const began = performance.now()
  while (watches.some(({ events }) => events < expected)) {
    const missing = watches.filter(({ events }) => events < expected).length
    if (performance.now() - began > waitMsMax) throw new Error(`${side.name}: ${missing} watches did not get ${expected} events`)
    await setTimeout(1)
  }
}
