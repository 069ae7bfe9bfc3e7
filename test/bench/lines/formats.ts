import { alternate, type Figure, type Line, median, spreadOf } from '../figure.ts'
import { bodyRequest, type Connection, getRequest } from '../http1-load.ts'
import { fill, withConnections, withOrch } from '../shared-server.ts'

const protobuf = 'application/vnd.orch.protobuf'
const table = 'application/json;as=Table;v=v1;g=meta.orch.io,application/json'
const metadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io'
const configMaps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'

async function timed(connection: Connection, path: string, accept = 'application/json'): Promise<number> {
  const began = performance.now()
  const answer = await connection.send(getRequest(path, { accept }))
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}`)
  return performance.now() - began
}

/** Compares lists in another form with lists in JSON by the medians of their times. */
function figureOf(
  label: string,
  times: readonly number[],
  jsonTimes: readonly number[],
  bounds: Pick<Figure, 'target' | 'goal' | 'note'>,
): Figure & { label: string } {
  const [value, floor] = [median(times), median(jsonTimes)]
  const spread = { ours: spreadOf(times), floor: spreadOf(jsonTimes) }
  return { label, value, floor, unit: 'ms', ratio: floor / value, better: 'more', spread, ...bounds }
}

export const formatsLine: Line = {
  name: 'formats',
  what: 'LIST 10,000 × 3 KB in Protobuf and as metadata; LIST 500 Pods as Table; the floor is the same list in JSON',
  async run() {
    return await withOrch({ memory: true }, async (server) => {
      await fill(server, 10_000, 3000)
      return await withConnections(1, server.port, server, async ([connection]) => {
        if (connection === undefined) throw new Error('no connection')
        for (let round = 0; round < 3; round++) await timed(connection, configMaps)
        // Reads one page of each form first, so that the first whole list does not include compile time.
        await timed(connection, `${configMaps}?limit=500`, protobuf)
        const first = await timed(connection, configMaps, protobuf)
        const [json = [], second = [], partial = []] = await alternate(7, [
          () => timed(connection, configMaps),
          () => timed(connection, configMaps, protobuf),
          () => timed(connection, configMaps, metadata),
        ])
        const figures = [
          figureOf('Protobuf, first time', [first], json, { target: 0.15, goal: 0.25, note: 'one round' }),
          figureOf('Protobuf, second time', second, json, { target: 0.8, goal: 1 }),
          figureOf('metadata only', partial, json, { target: 0.5, goal: 0.8 }),
        ]
        await fillPods(connection, 500)
        for (let round = 0; round < 3; round++) await timed(connection, pods)
        const firstTable = await timed(connection, pods, table)
        const [podsJson = [], rows = []] = await alternate(15, [() => timed(connection, pods), () => timed(connection, pods, table)])
        figures.push(figureOf('500 Pods as Table, first time', [firstTable], podsJson, { target: 0.2, goal: 0.4, note: 'one round' }))
        figures.push(figureOf('500 Pods as Table', rows, podsJson, { target: 0.5, goal: 0.8 }))
        return figures
      })
    })
  },
}

async function fillPods(connection: Connection, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const answer = await connection.send(bodyRequest('POST', pods, aPod(`bench-${index}`)), true)
    if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.body}`)
  }
}

/** A Pod of about 3 KB, like the Pods that controllers make. */
function aPod(name: string): Record<string, unknown> {
  const env = Array.from({ length: 20 }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value-of-variable-${index}` }))
  const container = { name: 'main', image: 'registry.example.com/team/main:1.2.3', env, ports: [{ containerPort: 8080, name: 'http' }] }
  const spec = { containers: [container, { ...container, name: 'side' }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: 'bench', tier: 'web' } }, spec }
}
