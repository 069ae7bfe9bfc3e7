import type { ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingWatch } from '../counting-watch.ts'
import { configMap, type Line, median, spreadOf } from '../figure.ts'
import { bodyRequest, Connection, getRequest } from '../http1-load.ts'
import { openSession } from '../http2-load.ts'
import type { Credentials } from '../orch-server.ts'
import type { Child } from '../process.ts'
import { startFloor, withConnections, withOrch } from '../shared-server.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const watchPath = `${collection}?watch=true`

/** Opens `count` watches, 200 streams to a session, and counts the bytes that arrive. */
async function openWatches(
  port: number,
  credentials: Parameters<typeof openSession>[1],
  count: number,
  path: string,
): Promise<{ sessions: ClientHttp2Session[]; bytes: () => number }> {
  const sessions: ClientHttp2Session[] = []
  let bytes = 0
  for (let opened = 0; opened < count; ) {
    const session = await openSession(port, credentials)
    sessions.push(session)
    const batch: Promise<void>[] = []
    for (let index = 0; index < 200 && opened < count; index++, opened++) {
      const stream = session.request({ ':path': path, accept: 'application/json' })
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      stream.on('error', () => stream.destroy())
      batch.push(new Promise((resolve) => stream.on('response', () => resolve())))
    }
    await Promise.all(batch)
  }
  return { sessions, bytes: () => bytes }
}

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
  const { sessions } = await openWatches(port, credentials, count, watchPath)
  await sleep(3000)
  const each = (child.anonBytes() - before) / count / 1000
  for (const session of sessions) session.destroy()
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

/** Waits until each watch has all events; fails where one is missing after a minute, or where one has more. */
async function allArrived(watches: readonly CountingWatch[], expected: number): Promise<void> {
  const lacking = () => watches.filter(({ events }) => events < expected).length
  for (const began = performance.now(); lacking() > 0; await sleep(10)) {
    if (performance.now() - began > 60_000) throw new Error(`${lacking()} of ${watches.length} watches lack events of ${expected}`)
  }
  const excess = watches.filter(({ events }) => events > expected).length
  if (excess > 0) throw new Error(`${excess} of ${watches.length} watches got more than ${expected} events`)
}

/** The latest revision, from which a watch shows what is changed from then on. */
async function revisionNow(port: number, credentials: Credentials): Promise<string> {
  return await withConnections(1, port, credentials, async ([connection]) => {
    const answer = await connection?.send(getRequest(`${collection}?limit=1`), true)
    return (JSON.parse(String(answer?.body)) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
  })
}

/** What the floor of fan-out answers to each message. */
interface FloorState {
  readonly cpuMicros: number
}

export const fanOut: Line = {
  name: 'fan-out',
  what: '1,000 watchers (HTTP/1.1, TLS), a burst of changes, each event counted at each watcher',
  async run() {
    const watchers = 1000
    const bursts = 400
    // As many events as there are creates under way: no turn of ours can join more.
    const writersAtOnce = 16
    return await withOrch({ memory: true }, async (server) => {
      const floor = await startFloor('watch', server.folder)
      const path = `${watchPath}&resourceVersion=${await revisionNow(server.port, server)}`
      const ours = await countingWatches(server.port, server, watchers, path)
      const theirs = await countingWatches(floor.port, server, watchers, path)
      const values: number[] = []
      const floors: number[] = []
      for (let round = 0; round < 5; round++) {
        const cpu = server.child.cpuMicros()
        await withConnections(writersAtOnce, server.port, server, async (writers) => {
          let next = 0
          const write = async (writer: Connection): Promise<void> => {
            while (next < bursts) {
              const { status } = await writer.send(bodyRequest('POST', collection, configMap(`burst-${round}-${next++}`, 1000)))
              if (status !== 201) throw new Error(`create answered ${status}`)
            }
          }
          await Promise.all(writers.map(write))
        })
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
      const spread = { ours: spreadOf(perSecond(values)), floor: spreadOf(perSecond(floors)) }
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
          note: 'our CPU includes the creates; floor: ready chunks of 16 events written to the sockets',
        },
      ]
    })
  },
}

export const eventDelay: Line = {
  name: 'event-delay',
  what: 'answer of a create → its event at an idle watcher, p50, embedded',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      const watcher = await Connection.open(server.port, server)
      let arrived = (_at: number): void => undefined
      watcher.socket.removeAllListeners('data')
      watcher.socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('delay-')) arrived(performance.now())
      })
      watcher.socket.write(getRequest(watchPath))
      await sleep(300)
      const delays: number[] = []
      await withConnections(1, server.port, server, async ([writer]) => {
        for (let index = 0; index < 300; index++) {
          const event = new Promise<number>((resolve) => {
            arrived = resolve
          })
          const answer = writer?.send(bodyRequest('POST', collection, configMap(`delay-${index}`, 1000))).then(() => performance.now())
          const [seen, done] = await Promise.all([event, answer])
          delays.push(Math.max(0, seen - (done ?? seen)))
          await sleep(3)
        }
      })
      watcher.close()
      const value = median(delays)
      return [
        {
          value,
          unit: 'ms',
          ratio: value,
          target: 1,
          goal: 0.3,
          better: 'less',
          note: 'after the writer had its answer; 0 when the event came first',
        },
      ]
    })
  },
}
