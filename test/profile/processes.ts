import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** The kernel's counts of a process so far. */
export interface Counts {
  /** CPU time in microseconds, by kind of thread. */
  readonly cpu: Readonly<Record<ThreadKind, number>>
  readonly reads: number
  readonly readBytes: number
  readonly writes: number
  readonly writtenBytes: number
  /** The process yielded the processor, or the kernel preempted it. */
  readonly voluntarySwitches: number
  readonly involuntarySwitches: number
}

/** The threads of a process, as far as their names distinguish them. */
export const threadKinds = ['main', 'V8', 'pool', 'other'] as const

/** `V8`: garbage collection and compilation in the background; `pool`: libuv's; `other`: workers, and all threads of programs that do not run on Node.js. */
export type ThreadKind = (typeof threadKinds)[number]

/** A process of a server. */
export interface Found {
  readonly pid: number
  /** `gateway`, `etcd`. */
  readonly role: string
}

/** The process and its relevant descendants; processes with an empty role, such as starters and shells, are left out. */
export function processesBelow(pid: number): Found[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(Number(name))
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: Found[] = []
  const open = [pid]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const role = roleOf(readFileSync(`/proc/${next}/cmdline`, 'utf8').split('\0'))
    found.push({ pid: next, role })
    open.push(...(children.get(next) ?? []))
  }
  return found.sort((one, other) => one.pid - other.pid)
}

/** `gateway` for `node … main.js gateway …`, and the program name for other programs. */
export function roleOf([program = '', ...args]: readonly string[]): string {
  if (!/^node/.test(basename(program))) return basename(program)
  const entry = args.findIndex((arg) => !arg.startsWith('-') && arg.endsWith('.js'))
  return args[entry + 1] ?? ''
}

/** The kind of a thread by its name. The main thread has the process id. */
export function threadKindOf(name: string, isMain: boolean): ThreadKind {
  if (isMain) return 'main'
  if (/V8Worker|V8 ?Default|DelayedTask/i.test(name)) return 'V8'
  return /libuv/i.test(name) ? 'pool' : 'other'
}

/** Reads the kernel's counts. */
export function countsOf(pid: number): Counts {
  const cpu: Record<ThreadKind, number> = { main: 0, V8: 0, pool: 0, other: 0 }
  const switches = { voluntarySwitches: 0, involuntarySwitches: 0 }
  const isNode = /^node/.test(basename(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? ''))
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8')
    const name = /^Name:\s+(.*)$/m.exec(status)?.[1] ?? ''
    cpu[isNode ? threadKindOf(name, Number(task) === pid) : 'other'] += Number(stat[0]) / 1000
    switches.voluntarySwitches += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
    switches.involuntarySwitches += Number(/^nonvoluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
  }
  const io = Object.fromEntries(
    readFileSync(`/proc/${pid}/io`, 'utf8')
      .split('\n')
      .map((line) => line.split(': ')),
  )
  return {
    cpu,
    reads: Number(io['syscr']),
    readBytes: Number(io['rchar']),
    writes: Number(io['syscw']),
    writtenBytes: Number(io['wchar']),
    ...switches,
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
  } catch {
    return undefined
  }
}
