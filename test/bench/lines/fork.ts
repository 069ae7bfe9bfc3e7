import { type Line, median, spreadOf } from '../figure.ts'
import { Child } from '../process.ts'

/** Times of forked test servers, in milliseconds, and bytes of heap. */
interface Times {
  readonly start: number[]
  readonly fork: number[]
  readonly forkBytes: number
  readonly reset: number[]
  readonly restore: number[]
  /** Per cycle of fork and stop, over the second half of a thousand cycles. */
  readonly cycleBytes: number
  readonly cycle: number
  readonly many: number[]
}

const script = `
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from 'orch'
const folder = mkdtempSync(join(tmpdir(), 'bench-fork-'))
const [objects, cycles] = [Number(process.argv[1]), Number(process.argv[2])]
const map = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { text: 'a'.repeat(500) } })
const heap = async () => {
  for (let round = 0; round < 3; round++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
const timed = async (rounds, make, end = (server) => server.stop()) => {
  const times = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    const made = await make()
    times.push(performance.now() - began)
    await end(made)
  }
  return times
}
const fill = async (server, count) => {
  const items = Array.from({ length: count }, (_, index) => map('m-' + index))
  const file = join(folder, count + '.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await server.load(file)
  await server.settled({ within: 60_000 })
}
const begun = (await timed(12, () => start())).slice(2)
const base = await start()
await fill(base, objects)
const fork = (await timed(12, () => base.fork())).slice(2)
const before = await heap()
const kept = []
for (let count = 0; count < 10; count++) kept.push(await base.fork())
const forkBytes = ((await heap()) - before) / kept.length
for (const one of kept) await one.stop()
await base.stop()

const small = await start()
const moment = small.snapshot()
const [reset, restore] = [[], []]
for (let round = 0; round < 6; round++) {
  for (const times of [reset, restore]) {
    await fill(small, 1000)
    const began = performance.now()
    await (times === reset ? small.reset() : small.restore(moment))
    times.push(performance.now() - began)
  }
}
const half = Math.floor(cycles / 2)
const cycle = async (count) => {
  for (let round = 0; round < count; round++) {
    const one = await small.fork()
    await one.client.objects.create(map('own'))
    await one.stop()
  }
}
await cycle(half)
const middle = await heap()
const began = performance.now()
await cycle(half)
const lasted = performance.now() - began
const cycleBytes = ((await heap()) - middle) / half
const many = await timed(4, () => Promise.all(Array.from({ length: 50 }, () => start())), (servers) =>
  Promise.all(servers.map((server) => server.stop())),
)
await small.stop()
rmSync(folder, { recursive: true })
process.send({ start: begun, fork, forkBytes, reset: reset.slice(1), restore: restore.slice(1), cycleBytes, cycle: lasted / half, many: many.slice(1) })
process.disconnect()
`

/** The number of shared objects and of successive forks. */
const [objects, cycles] = [10_000, 1_000]

export const forkLine: Line = {
  name: 'fork',
  what: 'servers of tests in one process: start, fork, reset, restore',
  async run() {
    const args = ['--expose-gc', '--input-type=module', '-e', script, String(objects), String(cycles)]
    const times = await new Child(args).told<Times>()
    const time = (label: string, values: readonly number[], goal: number) => ({
      ...{ label, value: median(values), unit: 'ms', ratio: median(values), goal, better: 'less' as const },
      spread: { ours: spreadOf(values) },
    })
    const size = (label: string, bytes: number, goal: number) => ({
      ...{ label, value: bytes / 1e3, unit: 'KB', ratio: bytes / 1e3, goal, better: 'less' as const },
    })
    return [
      time('start() warm', times.start, 20),
      time('fork() of 10,000 objects', times.fork, 5),
      size('heap of a fork of 10,000', times.forkBytes, 300),
      time('reset() of 1,000 objects', times.reset, 5),
      time('restore() of 1,000 objects', times.restore, 5),
      { ...size('heap left by a fork, write and stop', times.cycleBytes, 1), note: `${times.cycle.toFixed(1)} ms a cycle` },
      time('50 servers at once', times.many, 600),
    ]
  },
}
