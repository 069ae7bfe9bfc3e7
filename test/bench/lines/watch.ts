import { setTimeout as sleep } from 'node:timers/promises'
import { CountingWatch } from '../counting-watch.ts'
import { alternate, configMap, type Figure, type Line, median, spreadOf } from '../figure.ts'
import { bodyRequest, Connection, getRequest } from '../http1-load.ts'
import type { Credentials, OrchServer } from '../orch-server.ts'
import type { Child } from '../process.ts'
import { fill, revisionNow, startFloor, withConnections, withOrch } from '../shared-server.ts'
import { StreamWatches } from '../stream-watches.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const watchPath = `${collection}?watch=true`

export const idleWatchers: Line = {
  name: 'idle-watchers',
  what: '10,000 idle watchers (HTTP/2, 200 streams to a connection): memory each, above streams of the runtime that only stay open',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      const floor = await startFloor('watch2', server.folder)
      await sleep(2000)
      const floorEach = await kilobytesEach(floor.child, floor.port, server)
      await floor.child.stop()
      const value = await kilobytesEach(server.child, server.port, server)
      return [
        {
          value,
          floor: floorEach,
          unit: 'KB',
          ratio: value - floorEach,
          target: 6,
          goal: 2,
          better: 'less',
          note: 'ratio column: KB above the floor',
        },
      ]
    })
  },
}

async function kilobytesEach(child: Child, port: number, credentials: Credentials): Promise<number> {
  const count = 10_000
  const before = child.anonBytes()
  const watches = await StreamWatches.open(
    port,
    credentials,
    Array.from({ length: count }, () => watchPath),
  )
  await sleep(3000)
  const each = (child.anonBytes() - before) / count / 1000
  watches.close()
  return each
}

/** Opens HTTP/1.1 watches that count their events, 50 at a time. */
async function countingWatches(port: number, credentials: Credentials, count: number, path: string): Promise<CountingWatch[]> {
  const watches: CountingWatch[] = []
  while (watches.length < count) {
    const batch = await Promise.all(Array.from({ length: 50 }, () => Connection.open(port, credentials)))
    watches.push(...batch.map((connection) => new CountingWatch(connection, Buffer.from(getRequest(path)))))
  }
  await sleep(1500)
  return watches
}

/** Waits until each watch has received all events. Fails if an event is missing after a minute or a watch has received too many. */
async function allArrived(watches: readonly CountingWatch[], expected: number, lookEveryMs = 10): Promise<void> {
  const lacking = () => watches.filter(({ events }) => events < expected).length
  for (const began = performance.now(); lacking() > 0; await sleep(lookEveryMs)) {
    if (performance.now() - began > 60_000) throw new Error(`${lacking()} of ${watches.length} watches lack events of ${expected}`)
  }
  const excess = watches.filter(({ events }) => events > expected).length
  if (excess > 0) throw new Error(`${excess} of ${watches.length} watches got more than ${expected} events`)
}

/** CPU time of the server for a number of creates by several concurrent writers. */
async function cpuOfCreates(
  server: OrchServer,
  path: string,
  { count, writersAtOnce, prefix }: { count: number; writersAtOnce: number; prefix: string },
): Promise<number> {
  const cpu = server.child.cpuMicros()
  await withConnections(writersAtOnce, server.port, server, async (writers) => {
    let next = 0
    const write = async (writer: Connection): Promise<void> => {
      while (next < count) {
        const { status } = await writer.send(bodyRequest('POST', path, configMap(`${prefix}-${next++}`, 1000)))
        if (status !== 201) throw new Error(`create answered ${status}`)
      }
    }
    await Promise.all(writers.map(write))
  })
  return server.child.cpuMicros() - cpu
}

/** The state of the floor's answers in the fan-out line. */
interface FloorState {
  readonly cpuMicros: number
}

export const fanOut: Line = {
  name: 'fan-out',
  what: '1,000 watchers (HTTP/1.1, TLS), a burst of changes, each event counted at each watcher',
  async run() {
    const watchers = 1000
    const bursts = 400
    // The floor joins as many events as there are concurrent creates: the server cannot join more in one turn.
    const writersAtOnce = 16
    return await withOrch({ memory: true }, async (server) => {
      const floor = await startFloor('watch', server.folder)
      const path = `${watchPath}&resourceVersion=${await revisionNow(server)}`
      const ours = await countingWatches(server.port, server, watchers, path)
      const theirs = await countingWatches(floor.port, server, watchers, path)
      const values: number[] = []
      const floors: number[] = []
      const unwatched: number[] = []
      await withConnections(1, server.port, server, async ([one]) => {
        await one?.send(bodyRequest('POST', '/api/v1/namespaces', { metadata: { name: 'unwatched' } }))
      })
      for (let round = 0; round < 5; round++) {
        const of = { count: bursts, writersAtOnce, prefix: `burst-${round}` }
        unwatched.push((await cpuOfCreates(server, '/api/v1/namespaces/unwatched/configmaps', of)) / bursts)
        const cpu = server.child.cpuMicros()
        await cpuOfCreates(server, collection, of)
        const expected = bursts * (round + 1)
        await allArrived(ours, expected)
        values.push((server.child.cpuMicros() - cpu) / (bursts * watchers))
        const { cpuMicros: floorCpu } = await floor.child.ask<FloorState>({})
        await floor.child.ask({ rounds: bursts / writersAtOnce, eventBytes: 1200, perTurn: writersAtOnce })
        await allArrived(theirs, expected)
        const { cpuMicros: floorAfter } = await floor.child.ask<FloorState>({})
        floors.push((floorAfter - floorCpu) / (bursts * watchers))
      }
      for (const watch of [...ours, ...theirs]) watch.close()
      await floor.child.stop()
      const perSecond = (micros: readonly number[]) => micros.map((one) => 1e6 / one)
      const create = Math.min(...unwatched)
      const delivering = values.map((each) => each - create / watchers)
      const spread = { ours: spreadOf(perSecond(delivering)), floor: spreadOf(perSecond(floors)) }
      const { largest: value } = spread.ours
      const { largest: best } = spread.floor
      return [
        {
          value,
          floor: best,
          unit: 'events/CPU·s',
          ratio: value / best,
          target: 0.7,
          goal: 0.85,
          better: 'more',
          cpuMicros: 1e6 / value,
          spread,
          note: `without the creates, ${create.toFixed(0)} µs each at least where nothing is watched: with them ${Math.min(...values).toFixed(2)} µs an event; floor: ready chunks of 16 events written to the sockets`,
        },
      ]
    })
  },
}

/** CPU time of one event at each watcher, in µs. Each event waits until the previous event has reached all watchers. */
async function steadyMicros(child: Child, watches: readonly CountingWatch[], events: number, give: () => Promise<void>): Promise<number> {
  const before = child.cpuMicros()
  const from = watches[0]?.events ?? 0
  for (let event = 1; event <= events; event++) {
    await give()
    await allArrived(watches, from + event, 1)
  }
  return (child.cpuMicros() - before) / (events * watches.length)
}

export const fanOutSteady: Line = {
  name: 'fan-out-steady',
  what: 'one event of 3 KB at a time to 200 and to 1,000 watchers (HTTP/1.1, TLS), each counted: CPU for each event and watcher',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      await fill(server, 1, 3000)
      const figures: (Figure & { label: string })[] = []
      for (const [watchers, events] of [
        [200, 100],
        [1000, 40],
      ] as const) {
        const floor = await startFloor('watch', server.folder)
        const path = `${watchPath}&resourceVersion=${await revisionNow(server)}`
        const ours = await countingWatches(server.port, server, watchers, path)
        const theirs = await countingWatches(floor.port, server, watchers, path)
        const [values = [], floors = []] = await withConnections(1, server.port, server, ([writer]) =>
          alternate(6, [
            () => steadyMicros(server.child, ours, events, () => change(writer)),
            () => steadyMicros(floor.child, theirs, events, () => floor.child.ask({ rounds: 1, eventBytes: 3400, perTurn: 1 })),
          ]),
        )
        for (const watch of [...ours, ...theirs]) watch.close()
        await floor.child.stop()
        // The first round warms up.
        const spread = { ours: spreadOf(values.slice(1)), floor: spreadOf(floors.slice(1)) }
        const { median: value } = spread.ours
        const note = 'with the patches that make the events; ratio column: µs'
        const figure = { value, floor: spread.floor.median, spread, unit: 'µs', ratio: value, target: 32, goal: 20, note }
        figures.push({ label: `${watchers} watchers`, better: 'less', ...figure })
      }
      return figures
    })
  },
}

let changes = 0

async function change(writer: Connection | undefined): Promise<void> {
  const patch = { metadata: { annotations: { note: `change ${changes++}` } } }
  const answer = await writer?.send(bodyRequest('PATCH', `${collection}/bench-000000`, patch, 'application/merge-patch+json'))
  if (answer?.status !== 200) throw new Error(`a change answered ${answer?.status}`)
}

/** Delays in ms from the answers of creates to their events at the watcher that opened last; 0 if the event arrived first. */
async function eventDelays(server: OrchServer, prefix: string, writersAtOnce: number): Promise<number[]> {
  const count = 400
  const watcher = await Connection.open(server.port, server)
  const answeredMs = new Map<string, number>()
  const delays = new Map<string, number>()
  const name = new RegExp(`"name":"(${prefix}-\\d+)"`, 'g')
  let text = ''
  watcher.socket.removeAllListeners('data')
  watcher.socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const end = text.lastIndexOf('\n') + 1
    for (const [, seen = ''] of text.slice(0, end).matchAll(name))
      delays.set(seen, Math.max(0, performance.now() - (answeredMs.get(seen) ?? Number.POSITIVE_INFINITY)))
    text = text.slice(end)
  })
  watcher.socket.write(getRequest(`${watchPath}&resourceVersion=${await revisionNow(server)}`))
  await sleep(300)
  await withConnections(writersAtOnce, server.port, server, async (writers) => {
    let next = 0
    const write = async (writer: Connection): Promise<void> => {
      for (let index = next++; index < count; index = next++) {
        const { status } = await writer.send(bodyRequest('POST', collection, configMap(`${prefix}-${index}`, 1000)))
        if (status !== 201) throw new Error(`create answered ${status}`)
        answeredMs.set(`${prefix}-${index}`, performance.now())
        // One writer lets the server become idle between requests; several writers keep it busy.
        if (writersAtOnce === 1) await sleep(3)
      }
    }
    await Promise.all(writers.map(write))
  })
  for (const began = performance.now(); delays.size < count; await sleep(10))
    if (performance.now() - began > 60_000) throw new Error(`${count - delays.size} events have not come`)
  watcher.close()
  return [...delays.values()]
}

export const eventDelay: Line = {
  name: 'event-delay',
  what: 'answer of a create → its event at an idle watcher, embedded: 1 and 5 writers at a time, 1 and 1,000 watchers',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      const figures: (Figure & { label: string })[] = []
      // The first measurement would include compile time.
      await eventDelays(server, 'warm', 5)
      for (const watchers of [1, 1000]) {
        const path = `${watchPath}&resourceVersion=${await revisionNow(server)}`
        const others = watchers === 1 ? [] : await countingWatches(server.port, server, watchers - 1, path)
        for (const writers of [1, 5]) {
          const delays = await eventDelays(server, `delay-${watchers}-${writers}`, writers)
          const value = quantile(delays, 0.99)
          const note = `p99; p50 ${median(delays).toFixed(2)}, p90 ${quantile(delays, 0.9).toFixed(2)}; 0 when the event came before the answer`
          const bounds = watchers === 1 ? { target: 1, goal: 0.3 } : {}
          const spread = { ours: spreadOf(delays) }
          const label = `${writers === 1 ? '1 writer' : `${writers} writers`}, ${watchers === 1 ? '1 watcher' : `${watchers} watchers`}`
          figures.push({ label, value, unit: 'ms', ratio: value, better: 'less', ...bounds, spread, note })
        }
        for (const watch of others) watch.close()
      }
      return figures
    })
  },
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN
}
