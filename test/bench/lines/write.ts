import { alternate, configMap, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection, loadHttp1 } from '../http1-load.ts'
import type { Child } from '../process.ts'
import { fill, startFloor, withConnections, withOrch } from '../shared-server.ts'

const collection = '/api/v1/namespaces/default/configmaps'

let serial = 0
const createBody = (): Buffer => bodyRequest('POST', collection, configMap(`new-${serial++}`, 3000))

/** A round of the floor's; its CPU is added up, since a busy disk slows us and not the floor. */
async function floorRound(
  child: Child,
  load: () => Promise<{ perSecond: number; count: number }>,
  spent: { cpuMicros: number; count: number },
): Promise<number> {
  const before = child.cpuMicros()
  const { perSecond, count } = await load()
  spent.cpuMicros += child.cpuMicros() - before
  spent.count += count
  return perSecond
}

export const createLine: Line = {
  name: 'create',
  what: 'CREATE a 3 KB object, durable, concurrency 64, all defaults on',
  async run() {
    return await withOrch({}, async (server) => {
      const floor = await startFloor('post', server.folder)
      const figures: Figure[] = []
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor.port, server, async (theirs) => {
          const options = { durationMs: 2000, expected: 201 }
          let cpu = 0
          let count = 0
          const spent = { cpuMicros: 0, count: 0 }
          const [our = [], raw = []] = await alternate(4, [
            async () => {
              const before = server.child.cpuMicros()
              const result = await loadHttp1(ours, createBody, options)
              cpu += server.child.cpuMicros() - before
              count += result.count
              return result.perSecond
            },
            async () => await floorRound(floor.child, () => loadHttp1(theirs, createBody, options), spent),
          ])
          const value = Math.max(...our)
          const best = Math.max(...raw)
          figures.push({
            value,
            floor: best,
            unit: 'req/s',
            ratio: value / best,
            target: 0.2,
            goal: 0.35,
            better: 'more',
            cpuMicros: cpu / count,
            note: `${Math.round(spent.cpuMicros / spent.count)} µs of CPU at the floor`,
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}

/** Each connection updates an object of its own, so that no race is lost. */
async function updates(connections: readonly Connection[], durationMs: number): Promise<{ perSecond: number; count: number }> {
  const began = performance.now()
  let count = 0
  await Promise.all(
    connections.map(async (connection, index) => {
      const name = `bench-${String(index).padStart(6, '0')}`
      while (performance.now() - began < durationMs) {
        const object = configMap(name, 3000, { count: String(count) })
        const answer = await connection.send(bodyRequest('PUT', `${collection}/${name}`, object))
        if (answer.status !== 200) throw new Error(`update answered ${answer.status}`)
        count++
      }
    }),
  )
  return { perSecond: count / ((performance.now() - began) / 1000), count }
}

export const updateLine: Line = {
  name: 'update',
  what: 'UPDATE of a 3 KB object, durable, concurrency 64',
  async run() {
    return await withOrch({}, async (server) => {
      await fill(server, 64, 3000)
      const floor = await startFloor('post', server.folder)
      const figures: Figure[] = []
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor.port, server, async (theirs) => {
          let cpu = 0
          let count = 0
          const spent = { cpuMicros: 0, count: 0 }
          const [our = [], raw = []] = await alternate(4, [
            async () => {
              const before = server.child.cpuMicros()
              const result = await updates(ours, 2000)
              cpu += server.child.cpuMicros() - before
              count += result.count
              return result.perSecond
            },
            async () => await floorRound(floor.child, () => loadHttp1(theirs, createBody, { durationMs: 2000, expected: 201 }), spent),
          ])
          const value = Math.max(...our)
          const best = Math.max(...raw)
          figures.push({
            value,
            floor: best,
            unit: 'req/s',
            ratio: value / best,
            target: 0.15,
            goal: 0.3,
            better: 'more',
            cpuMicros: cpu / count,
            note: `${Math.round(spent.cpuMicros / spent.count)} µs of CPU at the floor`,
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}
