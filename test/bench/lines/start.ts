import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Line, median, spreadOf } from '../figure.ts'
import { getRequest, openConnections } from '../http1-load.ts'
import { startOrch } from '../orch-server.ts'
import { Child } from '../process.ts'
import { fill, withFolder, withOrch } from '../shared-server.ts'

export const coldStart: Line = {
  name: 'cold-start',
  what: 'process start → /readyz ok, embedded, empty data',
  async run() {
    const starts: number[] = []
    const floors: number[] = []
    const cpus: number[] = []
    for (let round = 0; round < 7; round++) {
      const floorBegan = performance.now()
      spawnSync(process.execPath, ['-e', '0'])
      floors.push(performance.now() - floorBegan)
      const began = performance.now()
      const server = await startOrch()
      const [connection] = await openConnections(1, server.port, server)
      while ((await connection?.send(getRequest('/readyz')))?.status !== 200) await sleep(2)
      // The first start of an installation fills the compile cache and does not count.
      if (round > 0) {
        starts.push(performance.now() - began)
        cpus.push(server.child.cpuMicros())
      }
      connection?.close()
      // The process writes the compile cache only at an orderly end.
      if (round === 0) await server.child.stop('SIGTERM')
      await server.stop()
    }
    const added = median(starts) - median(floors)
    return [
      {
        value: median(starts),
        unit: 'ms',
        floor: median(floors),
        ratio: added,
        target: 400,
        goal: 200,
        better: 'less',
        cpuMicros: median(cpus),
        spread: { ours: spreadOf(starts), floor: spreadOf(floors) },
        note: 'ratio column: ms above the floor',
      },
    ]
  },
}

const warmScript = `
import { start } from 'orch'
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { a: '1' } }
const times = { first: [], stop: [] }
for (let round = 0; round < 8; round++) {
  const began = performance.now()
  const server = await start()
  await server.client.objects.create(object)
  times.first.push(performance.now() - began)
  const configMaps = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const watches = await Promise.all(Array.from({ length: 100 }, () => configMaps.watch({ namespace: 'default' })))
  const open = watches.map(async (watch) => { try { for await (const event of watch) void event } catch {} })
  const stopping = performance.now()
  await server.stop()
  times.stop.push(performance.now() - stopping)
  await Promise.all(open)
}
process.send(times)
process.disconnect()
`

async function warmTimes(): Promise<{ first: number[]; stop: number[] }> {
  return await new Child(['--input-type=module', '-e', warmScript]).told()
}

export const warmStart: Line = {
  name: 'warm-start',
  what: 'start() in a warm process → first object created; stop() with 100 open watches',
  async run() {
    const { first, stop } = await warmTimes()
    const begin = median(first.slice(2))
    const end = median(stop.slice(2))
    return [
      {
        label: 'start()',
        value: begin,
        unit: 'ms',
        ratio: begin,
        target: 60,
        goal: 20,
        better: 'less',
        spread: { ours: spreadOf(first.slice(2)) },
      },
      {
        label: 'stop()',
        value: end,
        unit: 'ms',
        ratio: end,
        target: 100,
        goal: 20,
        better: 'less',
        spread: { ours: spreadOf(stop.slice(2)) },
      },
    ]
  },
}

const emptyServer = `
require('node:http').createServer((request, response) => response.end('ok')).listen(0, '127.0.0.1', () => console.log('listening'))
`

export const idleMemory: Line = {
  name: 'idle-memory',
  what: 'resident memory of an idle embedded server',
  async run() {
    return await withOrch({}, async (server) => {
      await sleep(3000)
      // This is not a TypeScript file, because the time to strip types would count.
      const floor = new Child(['-e', emptyServer])
      await floor.printed(/listening/)
      await sleep(500)
      const value = server.child.rssBytes() / 1e6
      const empty = floor.rssBytes() / 1e6
      await floor.stop()
      return [
        {
          value,
          unit: 'MB',
          floor: empty,
          ratio: value - empty,
          target: 80,
          goal: 40,
          better: 'less',
          note: 'ratio column: MB above the floor',
        },
      ]
    })
  },
}

/** Reads every value of the log, as lmdb returns it. */
const readValues = `
import { open } from 'lmdb'
const began = performance.now()
const root = open({ path: process.argv[1], noSubdir: true, readOnly: true, encoding: 'binary' })
const log = root.openDB({ name: 'log', encoding: 'binary' })
let bytes = 0
for (const revision of log.getKeys({ snapshot: false })) bytes += log.getBinary(revision).length
process.send({ ms: performance.now() - began, bytes })
process.disconnect()
`

export const loadStart: Line = {
  name: 'start-100k',
  what: 'start with 100,000 objects of 3 KB on disk, against reading the values',
  async run() {
    return await withFolder(async (folder) => {
      const first = await startOrch({ folder, keep: true })
      await fill(first, 100_000, 3000)
      await first.child.stop('SIGTERM')
      const starts: number[] = []
      const floors: number[] = []
      for (let round = 0; round < 3; round++) {
        const began = performance.now()
        const again = await startOrch({ folder, keep: true })
        starts.push(performance.now() - began)
        await again.child.stop('SIGTERM')
        floors.push(await rawRead(folder))
      }
      const value = Math.min(...starts)
      const floor = Math.min(...floors)
      const spread = { ours: spreadOf(starts), floor: spreadOf(floors) }
      return [{ value, unit: 'ms', floor, ratio: value / floor, target: 4, goal: 2, better: 'less', spread }]
    })
  },
}

async function rawRead(folder: string): Promise<number> {
  const storage = new URL('../../../services/storage/', import.meta.url).pathname
  const child = new Child(['--input-type=module', '-e', readValues, join(folder, 'state.mdb')], {}, storage)
  return (await child.told<{ ms: number }>()).ms
}
