import { setTimeout as sleep } from 'node:timers/promises'
import { configMap, type Figure, type Line, median, spreadOf } from '../figure.ts'
import { bodyRequest, Connection, getRequest } from '../http1-load.ts'
import { type OrchServer, startOrch } from '../orch-server.ts'
import { fillPods, revisionNow, withConnections, withFolder, withOrch } from '../shared-server.ts'
import { StreamWatches } from '../stream-watches.ts'

type Labelled = Figure & { readonly label: string }

const numbered = (prefix: string, count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

/** A figure without an aim: the median of several rounds, and their spread. */
function known(label: string, values: readonly number[], unit: string, more: Pick<Figure, 'note' | 'cpuMicros'> = {}): Labelled {
  const value = median(values)
  return { label, value, unit, ratio: value, better: 'less', spread: { ours: spreadOf(values) }, ...more }
}

export const scalePods: Line = {
  name: 'scale-pods',
  what: '100,000 Pods of 3 KB in 100 namespaces, durable: load, memory, lists, restart',
  isByHand: true,
  run: () =>
    withFolder(async (folder) => {
      const each = 1_000
      const namespaces = numbered('scale', 100)
      const count = each * namespaces.length
      const first = await startOrch({ folder, keep: true })
      await sleep(4000)
      const empty = first.child.anonBytes()
      const cpu = first.child.cpuMicros()
      const began = performance.now()
      await fillPods(first, namespaces, each)
      const perSecond = count / ((performance.now() - began) / 1000)
      const create = (first.child.cpuMicros() - cpu) / count
      await sleep(12_000)
      const afterWrites = (first.child.anonBytes() - empty) / count
      const lists = await listFigures(first, count)
      await first.child.stop('SIGTERM')
      const starts: number[] = []
      const startCpu: number[] = []
      const memory: number[] = []
      for (let round = 0; round < 3; round++) {
        const from = performance.now()
        const again = await startOrch({ folder, keep: true })
        starts.push(performance.now() - from)
        startCpu.push(again.child.cpuMicros())
        await sleep(5000)
        memory.push((again.child.anonBytes() - empty) / count)
        await again.child.stop('SIGTERM')
      }
      return [
        known('load', [perSecond], 'creates/s', { cpuMicros: create }),
        known('memory of each after the writes', [afterWrites], 'B'),
        ...lists,
        known('restart until ready', starts, 'ms', { cpuMicros: median(startCpu) }),
        known('memory of each after a restart', memory, 'B'),
      ]
    }),
}

function listFigures(server: OrchServer, count: number): Promise<readonly Labelled[]> {
  return withConnections(1, server.port, server, async ([connection]) => {
    const figures: Labelled[] = []
    for (const [label, path] of [
      ['list of all', '/api/v1/pods'],
      ['list of one namespace', '/api/v1/namespaces/scale-7/pods'],
      ['1 % of all by label', '/api/v1/pods?labelSelector=rare%3Dyes'],
      ['first page of 500', '/api/v1/pods?limit=500'],
    ] as const) {
      const times: number[] = []
      const cpu: number[] = []
      let bytes = 0
      for (let round = 0; round < 5; round++) {
        const before = server.child.cpuMicros()
        const began = performance.now()
        const answer = await connection?.send(getRequest(path))
        if (answer?.status !== 200) throw new Error(`${path} answered ${answer?.status}`)
        times.push(performance.now() - began)
        cpu.push(server.child.cpuMicros() - before)
        bytes = answer.bytes
      }
      const note = `${(bytes / 1e6).toFixed(1)} MB of ${count} Pods`
      figures.push(known(label, times, 'ms', { note, cpuMicros: median(cpu) }))
    }
    return figures
  })
}

const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

async function createIn(connection: Connection, namespace: string, name: string, labels: Record<string, string> = {}): Promise<void> {
  const { status } = await connection.send(bodyRequest('POST', configMaps(namespace), configMap(name, 1000, labels)))
  if (status !== 201) throw new Error(`a create in ${namespace} answered ${status}`)
}

export const scaleWatchers: Line = {
  name: 'scale-watchers',
  what: '10,000 watchers of one collection (HTTP/2, 200 streams to a connection): memory of each, and one event at a time to all',
  isByHand: true,
  run: () =>
    withOrch({ memory: true }, async (server) => {
      const count = 10_000
      await sleep(4000)
      const empty = server.child.anonBytes()
      const path = `${configMaps('default')}?watch=true&resourceVersion=${await revisionNow(server)}`
      const paths = Array.from({ length: count }, () => path)
      const watches = await StreamWatches.open(server.port, server, paths)
      await sleep(3000)
      const memory = (server.child.anonBytes() - empty) / count
      const writer = await Connection.open(server.port, server)
      const cpu: number[] = []
      const times: number[] = []
      for (let event = 1; event <= 12; event++) {
        const before = server.child.cpuMicros()
        const began = performance.now()
        await createIn(writer, 'default', `event-${event}`)
        await watches.arrived(event * count)
        times.push(performance.now() - began)
        cpu.push((server.child.cpuMicros() - before) / count)
      }
      writer.close()
      watches.close()
      return [
        known('memory of each', [memory], 'B'),
        known('one event, CPU for each watcher', cpu.slice(2), 'µs'),
        known('one event, until all have it', times.slice(2), 'ms'),
      ]
    }),
}

export const scaleSelectors: Line = {
  name: 'scale-selectors',
  what: '200 namespaces with 50 watches by label each, no two alike: CPU of a create that one of them sees, beside one without watches',
  isByHand: true,
  run: () =>
    withOrch({ memory: true }, async (server) => {
      const namespaces = numbered('scale', 200)
      const selections = 50
      const creates = 4_000
      let serial = 0
      const round = () =>
        withConnections(16, server.port, server, async (writers) => {
          const before = server.child.cpuMicros()
          const end = serial + creates
          const write = async (writer: Connection): Promise<void> => {
            while (serial < end) {
              const index = serial++
              const app = `s-${Math.floor(index / namespaces.length) % selections}`
              await createIn(writer, namespaces[index % namespaces.length] ?? '', `c-${index}`, { app })
            }
          }
          await Promise.all(writers.map(write))
          return (server.child.cpuMicros() - before) / creates
        })
      await withConnections(1, server.port, server, async ([one]) => {
        for (const name of namespaces) await one?.send(bodyRequest('POST', '/api/v1/namespaces', { metadata: { name } }))
      })
      await round()
      const without = [await round(), await round(), await round()]
      const empty = server.child.anonBytes()
      const from = `watch=true&resourceVersion=${await revisionNow(server)}`
      const paths = namespaces.flatMap((namespace) =>
        numbered('s', selections).map((app) => `${configMaps(namespace)}?${from}&labelSelector=app%3D${app}`),
      )
      const watches = await StreamWatches.open(server.port, server, paths)
      await sleep(3000)
      const memory = (server.child.anonBytes() - empty) / paths.length
      const withWatches: number[] = []
      for (let turn = 1; turn <= 4; turn++) {
        withWatches.push(await round())
        await watches.arrived(turn * creates)
      }
      watches.close()
      const [value, floor] = [median(withWatches.slice(1)), median(without)]
      const spread = { ours: spreadOf(withWatches.slice(1)), floor: spreadOf(without) }
      return [
        known('memory of each watch', [memory], 'B'),
        {
          label: 'create',
          value,
          floor,
          unit: 'µs',
          ratio: value - floor,
          better: 'less',
          spread,
          note: 'µs of CPU; floor: before the watches were opened; ratio column: µs above it, for the one event among 10,000 watches',
        },
      ]
    }),
}
