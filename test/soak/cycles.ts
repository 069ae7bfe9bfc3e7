/**
 * `npm run cycles [-- count]`: starts and stops a server with open watches in this process this number of times, and prints the memory of the process.
 * Fails if a cycle fails, if the number of descriptors changes, or if the heap after a collection
 * or resident memory still rises after the first 100 cycles.
 *
 * Garbage is collected before each sample (`--expose-gc`). Left to itself, V8 lets its young generation grow to 134 MB on a
 * machine with much memory, and collects the old one once in about 100 cycles: until then memory of TLS and Buffers, which it
 * counts in part or not at all, waits for the objects that hold it, and malloc keeps most of its earlier memory.
 *
 * The compiler Maglev is off: it compiles the functions that run once in each cycle together, in the 511th, and malloc keeps the 40 MB
 * that this takes.
 */
import type { Client } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { start } from 'orch'
import { descriptorsOf, isFlat, residentByKind, residentOf } from './resident.ts'

const watchesPerCycle = 10
const cycles = Number(process.argv[2] ?? 1_000)
/** The number of cycles after which memory should be constant. */
const settled = Math.min(100, Math.floor(cycles / 2))
/** The allowed growth: compiled code, and memory that malloc cannot return, still grow in small steps. */
const within = 1.1
const sampleEvery = Math.max(1, Math.floor(cycles / 40))
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

interface Sample {
  readonly cycle: number
  readonly resident: number
  /** V8's heap after a garbage collection. */
  readonly heap: number
  readonly descriptors: number
}

/** Opens watches, waits for a change on each, and returns a promise of their ends. */
async function openWatches(client: Client): Promise<Promise<unknown>[]> {
  const resource = client.resource(configMaps)
  const streams: Awaited<ReturnType<typeof resource.watch>>[] = []
  // Opens the watches one after the other, so that all but the first resume its TLS session like clients. Node 24.21.0 keeps about 5 KB for each
  // full handshake (docs/explanation/security.md): opened at once, the watches would add 50 KB to each cycle there.
  for (let count = 0; count < watchesPerCycle; count++) streams.push(await resource.watch({ namespace: 'default' }))
  await resource.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen', namespace: 'default' } })
  const ends = streams.map(async (stream) => {
    let events = 0
    try {
      for await (const event of stream) if (event.object.metadata.name === 'seen') events++
    } catch (error) {
      if (error instanceof StatusError) throw error
      // The connection ends with the server.
    }
    if (events === 0) throw new Error('a watch has seen nothing')
  })
  // This handles the rejection, and so does the caller.
  for (const end of ends) end.catch(() => undefined)
  return ends
}

async function runCycle(): Promise<void> {
  const server = await start()
  let ends: Promise<unknown>[] = []
  try {
    ends = await openWatches(server.client)
    await server.client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'seen', namespace: 'default' })
  } finally {
    await server.stop()
  }
  await Promise.all(ends)
}

async function sample(cycle: number): Promise<Sample> {
  // The next turns of the event loop release the handles that the last cycle closed.
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { all } = residentOf('self')
  const heap = process.memoryUsage().heapUsed / 2 ** 20
  const { v8, malloc, files, rest } = residentByKind()
  const descriptors = descriptorsOf('self')
  const cells = [cycle, all, v8, malloc, files, rest, heap, descriptors]
  process.stdout.write(`| ${cells.map((cell) => cell.toFixed(0).padStart(9)).join(' | ')} |\n`)
  return { cycle, resident: all, heap, descriptors }
}

function judge(samples: readonly Sample[], failures: number): string[] {
  const early = samples.filter(({ cycle }) => cycle <= settled)
  const late = samples.filter(({ cycle }) => cycle > settled)
  const counts = new Set(samples.slice(1).map(({ descriptors }) => descriptors))
  const isSteady = (measure: (sample: Sample) => number) => isFlat(late.map(measure), { before: early.map(measure), within })
  return [
    ...(failures === 0 ? [] : [`${failures} cycles failed`]),
    ...(counts.size === 1 ? [] : [`descriptors: ${[...counts].join(', ')}`]),
    ...(isSteady(({ heap }) => heap) ? [] : [`the heap rises after ${settled} cycles`]),
    ...(isSteady(({ resident }) => resident) ? [] : [`resident memory rises after ${settled} cycles`]),
  ]
}

async function main(): Promise<number> {
  const heads = ['cycle', 'resident', 'V8', 'malloc', 'files', 'rest', 'heap used', 'files open']
  process.stdout.write(`Node ${process.version}, ${cycles} cycles with ${watchesPerCycle} watches each; memory in MB\n\n`)
  process.stdout.write(`| ${heads.map((head) => head.padStart(9)).join(' | ')} |\n|${'---|'.repeat(heads.length)}\n`)
  const samples: Sample[] = []
  let failures = 0
  for (let cycle = 1; cycle <= cycles; cycle++) {
    try {
      await runCycle()
    } catch (error) {
      failures++
      process.stdout.write(`cycle ${cycle} failed: ${(error as Error).message}\n`)
    }
    if (cycle % sampleEvery === 0) samples.push(await sample(cycle))
  }
  const faults = judge(samples, failures)
  process.stdout.write(`\n${faults.length === 0 ? 'no failure, descriptors constant, memory flat' : faults.join('; ')}\n`)
  return faults.length === 0 ? 0 : 1
}

process.exitCode = await main()
