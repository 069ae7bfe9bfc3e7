import { readdirSync, readFileSync } from 'node:fs'

/** The memory of a process, in MB. */
export interface Resident {
  readonly all: number
  /** The private memory of the process, without mapped file pages, which the system may reclaim. */
  readonly own: number
}

/** Resident memory of a process of this machine. */
export function residentOf(process: number | 'self'): Resident {
  const status = readFileSync(`/proc/${process}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return { all: megabytes('VmRSS'), own: megabytes('RssAnon') }
}

/** The open files and sockets of a process. */
export function descriptorsOf(process: number | 'self'): number {
  return readdirSync(`/proc/${process}/fd`).length
}

/**
 * Memory of this process by owner, in MB: V8's heap; malloc (C libraries and Buffers); files; the rest.
 * V8 maps its pages far below the stacks and libraries.
 */
export function residentByKind(): Readonly<Record<'v8' | 'malloc' | 'files' | 'rest', number>> {
  const kinds = { v8: 0, malloc: 0, files: 0, rest: 0 }
  let kind: keyof typeof kinds = 'rest'
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const area = /^([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$/.exec(line)
    if (area !== null) kind = kindOf(Number.parseInt(area[1]!, 16), area[2]!)
    kinds[kind] += Number(/^Rss:\s+(\d+)/.exec(line)?.[1] ?? 0) / 1024
  }
  return kinds
}

function kindOf(start: number, name: string): 'v8' | 'malloc' | 'files' | 'rest' {
  if (name === '[heap]') return 'malloc'
  if (name.startsWith('/')) return 'files'
  if (name !== '') return 'rest'
  if (start < librariesFrom) return 'v8'
  // Further arenas of malloc begin at multiples of 64 MB.
  return start % arenaBytes === 0 ? 'malloc' : 'rest'
}

const librariesFrom = 0x7e00_0000_0000
const arenaBytes = 64 * 1024 * 1024

/** True if the last values stay within this factor of the earlier values. */
export function isFlat(
  values: readonly number[],
  { before, within }: { readonly before: readonly number[]; readonly within: number },
): boolean {
  return Math.max(...values) <= Math.max(...before) * within
}
