import type { ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { configMap, type Line, median } from '../figure.ts'
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

/** Opens HTTP/1.1 watches that only count bytes. */
async function plainWatches(
  port: number,
  credentials: Parameters<typeof Connection.open>[1],
  count: number,
  path: string,
): Promise<{ connections: Connection[]; bytes: () => number }> {
  const connections: Connection[] = []
  let bytes = 0
  for (let opened = 0; opened < count; opened += 50) {
    const batch = await Promise.all(Array.from({ length: 50 }, () => Connection.open(port, credentials)))
    for (const connection of batch) {
      connection.socket.removeAllListeners('data')
      connection.socket.on('data', (chunk) => {
        bytes += chunk.length
      })
      connection.socket.on('error', () => connection.close())
      connection.socket.write(getRequest(path))
    }
    connections.push(...batch)
  }
  await sleep(1500)
  return { connections, bytes: () => bytes }
}

export const fanOut: Line = {
  name: 'fan-out',
  what: '1,000 watchers (HTTP/1.1, TLS), a burst of changes',
  async run() {
    const watchers = 1000
    const bursts = 400
    const eventsPerTurn = 4
    return await withOrch({ memory: true }, async (server) => {
      const floor = await startFloor('watch', server.folder)
      const ours = await plainWatches(server.port, server, watchers, watchPath)
      const theirs = await plainWatches(floor.port, server, watchers, watchPath)
      const values: number[] = []
      const floors: number[] = []
      for (let round = 0; round < 3; round++) {
        const before = ours.bytes()
        const cpu = server.child.cpuMicros()
        await withConnections(16, server.port, server, async (writers) => {
          let next = 0
          await Promise.all(
            writers.map(async (writer) => {
              while (next < bursts) await writer.send(bodyRequest('POST', collection, configMap(`burst-${round}-${next++}`, 1000)))
            }),
          )
        })
        let last = -1
        while (last !== ours.bytes()) {
          last = ours.bytes()
          await sleep(50)
        }
        const micros = server.child.cpuMicros() - cpu
        values.push(micros / (bursts * watchers))
        const eventBytes = Math.round((ours.bytes() - before) / bursts / watchers)
        const floorCpu = floor.child.cpuMicros()
        const floorBefore = theirs.bytes()
        await floor.child.ask({ rounds: bursts / eventsPerTurn, eventBytes, perTurn: eventsPerTurn })
        const wanted = bursts * watchers * eventBytes
        while (theirs.bytes() - floorBefore < wanted) await sleep(20)
        floors.push((floor.child.cpuMicros() - floorCpu) / (bursts * watchers))
      }
      for (const connection of [...ours.connections, ...theirs.connections]) connection.close()
      await floor.child.stop()
      const value = 1e6 / Math.min(...values)
      const best = 1e6 / Math.min(...floors)
      return [
        {
          value,
          floor: best,
          unit: 'events/CPU·s',
          ratio: value / best,
          target: 0.7,
          goal: 0.85,
          better: 'more',
          cpuMicros: Math.min(...values),
          note: 'our CPU includes the creates; floor: 4 events a turn',
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
