import { alternate, type Figure, type Line, spreadOf } from '../figure.ts'
import { bodyRequest, type Connection, loadHttp1 } from '../http1-load.ts'
import { startFloor, withConnections, withOrch } from '../shared-server.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const ownedFields = 30

/** A configuration with thirty fields; each apply changes one field. */
function configuration(name: string, count: number): Record<string, unknown> {
  const keys = Array.from({ length: ownedFields - 1 }, (_, index) => [`key-${index}`, 'abcdefghij'.repeat(8)])
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { ...Object.fromEntries(keys), count: String(count) } }
}

function applyRequest(name: string, count: number): Buffer {
  const target = `${collection}/${name}?fieldManager=bench`
  return bodyRequest('PATCH', target, configuration(name, count), 'application/apply-patch+yaml')
}

/** Each connection applies to a different object, so that no request conflicts. */
async function applies(connections: readonly Connection[], durationMs: number): Promise<{ perSecond: number; count: number }> {
  const began = performance.now()
  let count = 0
  await Promise.all(
    connections.map(async (connection, index) => {
      while (performance.now() - began < durationMs) {
        const answer = await connection.send(applyRequest(`applied-${index}`, count))
        if (answer.status !== 200 && answer.status !== 201) throw new Error(`apply answered ${answer.status}`)
        count++
      }
    }),
  )
  return { perSecond: count / ((performance.now() - began) / 1000), count }
}

export const applyLine: Line = {
  name: 'apply',
  what: `APPLY of a 3 KB object with ${ownedFields} owned fields, durable, concurrency 64`,
  async run() {
    return await withOrch({}, async (server) => {
      const floor = await startFloor('post', server.folder)
      const figures: Figure[] = []
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor.port, server, async (theirs) => {
          let cpu = 0
          let count = 0
          const [our = [], raw = []] = await alternate(4, [
            async () => {
              const before = server.child.cpuMicros()
              const result = await applies(ours, 2000)
              cpu += server.child.cpuMicros() - before
              count += result.count
              return result.perSecond
            },
            async () => (await loadHttp1(theirs, () => applyRequest('floor', 0), { durationMs: 2000, expected: 201 })).perSecond,
          ])
          const spread = { ours: spreadOf(our), floor: spreadOf(raw) }
          const { largest: value } = spread.ours
          const { largest: best } = spread.floor
          const ratio = value / best
          figures.push({
            value,
            floor: best,
            unit: 'req/s',
            ratio,
            target: 0.15,
            goal: 0.3,
            better: 'more',
            cpuMicros: cpu / count,
            spread,
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}
