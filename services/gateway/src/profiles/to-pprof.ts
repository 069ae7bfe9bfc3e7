import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import { Function as Described, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format'
import { heapIntervalBytes } from './intervals.ts'

/** A CPU profile of V8 in the format of pprof: samples and nanoseconds, without idle time. */
export function cpuToPprof({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile, nowMs: number): Uint8Array {
  const writer = new ProfileWriter([
    ['samples', 'count'],
    ['cpu', 'nanoseconds'],
  ])
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child): [number, number] => [child, id])))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const spent = new Map<number, { count: number; micros: number }>()
  for (const [index, id] of samples.entries()) {
    const sum = spent.get(id) ?? { count: 0, micros: 0 }
    sum.count += 1
    sum.micros += Math.max(0, timeDeltas[index] ?? 0)
    spent.set(id, sum)
  }
  for (const [id, { count, micros }] of spent) {
    const frames: Runtime.CallFrame[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at)
      if (node !== undefined) frames.push(node.callFrame)
    }
    if (frames[0]?.functionName === '(idle)') continue
    writer.add(frames, [count, micros * 1000])
  }
  const durationNanos = Math.round((endTime - startTime) * 1000)
  return writer.encode({ period: ['cpu', 'nanoseconds', 1_000_000], nowMs, durationNanos })
}

/** A heap profile of V8 in the format of pprof: objects and bytes still in use. */
export function heapToPprof({ head }: HeapProfiler.SamplingHeapProfile, nowMs: number): Uint8Array {
  const writer = new ProfileWriter([
    ['inuse_objects', 'count'],
    ['inuse_space', 'bytes'],
  ])
  const walk = (node: HeapProfiler.SamplingHeapProfileNode, above: readonly Runtime.CallFrame[]): void => {
    const frames = [node.callFrame, ...above]
    if (node.selfSize > 0) writer.add(frames, [1, node.selfSize])
    for (const child of node.children) walk(child, frames)
  }
  walk(head, [])
  return writer.encode({ period: ['space', 'bytes', heapIntervalBytes], nowMs, durationNanos: 0 })
}

interface Ending {
  readonly period: readonly [type: string, unit: string, every: number]
  readonly nowMs: number
  readonly durationNanos: number
}

/** Collects stacks with unique functions, locations and strings, as pprof requires. */
class ProfileWriter {
  readonly #texts = new StringTable()
  readonly #types: ValueType[]
  /** Ids of functions. The single location of a function has the same id. */
  readonly #ids = new Map<string, number>()
  readonly #functions: Described[] = []
  readonly #locations: Location[] = []
  readonly #samples: Sample[] = []

  constructor(types: readonly (readonly [type: string, unit: string])[]) {
    this.#types = types.map(([type, unit]) => this.#typeOf(type, unit))
  }

  /** A stack, the innermost frame first, with a value for each type. */
  add(frames: readonly Runtime.CallFrame[], value: number[]): void {
    const locationId = frames.filter(({ functionName }) => functionName !== '(root)').map((frame) => this.#locationOf(frame))
    this.#samples.push(new Sample({ locationId, value }))
  }

  encode({ period: [type, unit, every], nowMs, durationNanos }: Ending): Uint8Array {
    const profile = new Profile({
      sampleType: this.#types,
      sample: this.#samples,
      location: this.#locations,
      function: this.#functions,
      stringTable: this.#texts,
      timeNanos: BigInt(Math.round(nowMs)) * 1_000_000n,
      durationNanos,
      periodType: this.#typeOf(type, unit),
      period: every,
    })
    return profile.encode()
  }

  #typeOf(type: string, unit: string): ValueType {
    return new ValueType({ type: this.#texts.dedup(type), unit: this.#texts.dedup(unit) })
  }

  #locationOf({ functionName, url, scriptId, lineNumber }: Runtime.CallFrame): number {
    const name = functionName === '' ? '(anonymous)' : functionName
    const key = `${scriptId} ${lineNumber} ${name}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#ids.size + 1
    const [text, line] = [this.#texts.dedup(name), Math.max(0, lineNumber + 1)]
    this.#ids.set(key, id)
    this.#functions.push(new Described({ id, name: text, systemName: text, filename: this.#texts.dedup(url), startLine: line }))
    this.#locations.push(new Location({ id, line: [new Line({ functionId: id, line })] }))
    return id
  }
}
