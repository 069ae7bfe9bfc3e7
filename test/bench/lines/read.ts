import { setTimeout as sleep } from 'node:timers/promises'
import { alternate, type Figure, type Line, median, spreadOf } from '../figure.ts'
import { type Connection, getRequest, loadHttp1 } from '../http1-load.ts'
import { loadHttp2, openSession } from '../http2-load.ts'
import { type Credentials, type OrchServer, startOrch } from '../orch-server.ts'
import { fill, startFloor, withConnections, withFolder, withOrch } from '../shared-server.ts'
import { compare } from './compare.ts'

const collection = '/api/v1/namespaces/default/configmaps'

export const getLine: Line = {
  name: 'get',
  what: 'GET one 3 KB object, keep-alive, TLS',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      await fill(server, 1, 3000)
      const path = `${collection}/bench-000000`
      const results: (Figure & { label: string })[] = []
      const floor1 = await startFloor('buffer', server.folder, 3400)
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor1.port, server, async (theirs) => {
          const request = getRequest(path)
          const load = (connections: readonly Connection[]) => () =>
            loadHttp1(connections, () => request, { durationMs: 1500, expected: 200 })
          const result = await compare({ child: server.child, load: load(ours) }, { child: floor1.child, load: load(theirs) }, 5)
          results.push({ label: 'HTTP/1.1', ...result, target: 0.45, goal: 0.65 })
        })
      })
      await floor1.child.stop()
      const floor2 = await startFloor('buffer2', server.folder, 3400)
      const ours = await openSession(server.port, server)
      const theirs = await openSession(floor2.port, server)
      const load = (session: typeof ours) => () => loadHttp2(session, path, { concurrency: 64, durationMs: 1500 })
      const result = await compare({ child: server.child, load: load(ours) }, { child: floor2.child, load: load(theirs) }, 5)
      results.push({ label: 'HTTP/2', ...result, target: 0.45, goal: 0.65 })
      ours.destroy()
      theirs.destroy()
      await floor2.child.stop()
      return results
    })
  },
}

async function timed(connection: Connection, request: string): Promise<{ ms: number; bytes: number }> {
  const began = performance.now()
  const answer = await connection.send(request)
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}`)
  return { ms: performance.now() - began, bytes: answer.bytes }
}

/** Reads all pages of 500, one after the other. */
async function paged(connection: Connection): Promise<number> {
  const began = performance.now()
  let token = ''
  do {
    const answer = await connection.send(getRequest(`${collection}?limit=500${token === '' ? '' : `&continue=${token}`}`), true)
    token = /"continue":"([^"]*)"/.exec(answer.body?.toString('latin1', 0, 1000) ?? '')?.[1] ?? ''
  } while (token !== '')
  return performance.now() - began
}

export const listLine: Line = {
  name: 'list',
  what: 'LIST 10,000 × 3 KB as JSON; 1 % of it by label; in pages of 500',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      await fill(server, 10_000, 3000)
      const floor = await startFloor('list', server.folder, 3300, 10_000)
      const figures: (Figure & { label: string })[] = []
      await withConnections(1, server.port, server, async ([ours]) => {
        await withConnections(1, floor.port, server, async ([theirs]) => {
          if (ours === undefined || theirs === undefined) return
          const whole = getRequest(collection)
          const rate = ({ ms, bytes }: { ms: number; bytes: number }): number => bytes / ms / 1000
          const [our = [], raw = []] = await alternate(9, [async () => await timed(ours, whole), async () => await timed(theirs, whole)])
          const spread = { ours: spreadOf(our.map(rate)), floor: spreadOf(raw.map(rate)) }
          const { largest: value } = spread.ours
          const { largest: best } = spread.floor
          figures.push({
            label: 'whole',
            value,
            floor: best,
            spread,
            unit: 'MB/s',
            ratio: value / best,
            target: 0.5,
            goal: 0.8,
            better: 'more',
          })
          const all = median(our.map(({ ms }) => ms))
          const some: number[] = []
          for (let round = 0; round < 9; round++) some.push((await timed(ours, getRequest(`${collection}?labelSelector=rare%3Dyes`))).ms)
          figures.push({
            label: '1 % by label',
            value: median(some),
            floor: all,
            spread: { ours: spreadOf(some), floor: spreadOf(our.map(({ ms }) => ms)) },
            unit: 'ms',
            ratio: all / median(some),
            target: 20,
            goal: 50,
            better: 'more',
            note: 'floor: the whole list; ratio: times faster',
          })
          const pages: number[] = []
          for (let round = 0; round < 5; round++) pages.push(await paged(ours))
          figures.push({
            label: 'paged by 500',
            value: median(pages),
            floor: all,
            spread: { ours: spreadOf(pages), floor: spreadOf(our.map(({ ms }) => ms)) },
            unit: 'ms',
            ratio: median(pages) / all,
            target: 3,
            goal: 2,
            better: 'less',
            note: 'floor: the whole list at once',
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}

export const slowReaders: Line = {
  name: 'slow-readers',
  what: '100 readers of a 30 MB list at 100 KB/s: added memory',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      await fill(server, 10_000, 3000)
      return await withConnections(100, server.port, server, async (connections) => {
        // Reads the whole list once first, so that the leaves have their cached buffers.
        await connections[0]?.send(getRequest(collection))
        await sleep(1000)
        const before = server.child.rssBytes()
        for (const connection of connections) {
          connection.send(getRequest(collection)).catch(() => undefined)
          connection.socket.pause()
        }
        const drip = setInterval(() => {
          for (const { socket } of connections) {
            socket.resume()
            setTimeout(() => socket.pause(), 1)
          }
        }, 640)
        let peak = 0
        for (let second = 0; second < 8; second++) {
          await sleep(1000)
          peak = Math.max(peak, server.child.rssBytes())
        }
        clearInterval(drip)
        const added = (peak - before) / 1e6
        return [{ value: added, unit: 'MB', ratio: added, target: 100, goal: 20, better: 'less' }]
      })
    })
  },
}

export const objectMemory: Line = {
  name: 'object-memory',
  what: 'memory per stored 3 KB object, against its bytes: after the writes, and after a restart',
  async run() {
    const count = 30_000
    return await withFolder(async (folder) => {
      const empty = await startOrch({})
      await sleep(2000)
      const before = empty.child.anonBytes()
      await empty.stop()
      const figureOf = async (label: string, { child, port, ...credentials }: OrchServer): Promise<Figure & { label: string }> => {
        await sleep(4000)
        const value = (child.anonBytes() - before) / count
        const floor = await objectBytes(port, credentials)
        return {
          label,
          value,
          unit: 'B',
          floor,
          ratio: value / floor,
          target: 1.7,
          goal: 1.3,
          better: 'less',
          note: 'garbage included; mapped files not',
        }
      }
      const first = await startOrch({ folder, keep: true })
      await fill(first, count, 3000)
      const figures = [await figureOf('after the writes', first)]
      await first.child.stop('SIGTERM')
      const second = await startOrch({ folder, keep: true })
      figures.push(await figureOf('after a restart', second))
      await second.stop()
      return figures
    })
  },
}

async function objectBytes(port: number, credentials: Credentials): Promise<number> {
  return await withConnections(1, port, credentials, async ([connection]) => {
    const answer = await connection?.send(getRequest(`${collection}/bench-000000`))
    return answer?.bytes ?? Number.NaN
  })
}
