/** Reads the output of `strace -f` for a writer, to show that the writer sent no acknowledgement before the sync that covers the write. */

interface Call {
  readonly name: string
  readonly text: string
  /** The lines of the trace where the call began and returned. */
  readonly began: number
  readonly returned: number
}

/** The names of the writes that the writer acknowledged too early, each with the reason. */
export function findEarlyAcknowledgements(trace: string): { checked: number; faults: string[] } {
  const calls = toCalls(trace)
  const database = descriptors(calls)
  const isOn = (kind: 'data' | 'meta') => (call: Call) => database[kind].has(descriptorOf(call))
  const data = calls.filter((call) => call.name.includes('write') && isOn('data')(call))
  const metas = calls.filter((call) => call.name.includes('write') && isOn('meta')(call))
  const syncs = calls.filter(
    (call) => ['fdatasync', 'fsync'].includes(call.name) && isOn('data')(call) && call.text.trimEnd().endsWith('= 0'),
  )
  const faults: string[] = []
  let checked = 0
  for (const acknowledgement of calls) {
    const number = /^write\(1, "ack (\d+) /.exec(acknowledgement.text)?.[1]
    if (number === undefined) continue
    checked++
    const fault = faultOf({ marker: `write-${number}lanes/`, data, syncs, metas, before: acknowledgement.began })
    if (fault !== undefined) faults.push(`write ${number}: ${fault}`)
  }
  return { checked, faults }
}

interface Question {
  readonly marker: string
  readonly data: readonly Call[]
  readonly syncs: readonly Call[]
  readonly metas: readonly Call[]
  readonly before: number
}

/** The store wrote the pages of the write, synced them and wrote the new root through, and all these calls had returned. */
function faultOf({ marker, data, syncs, metas, before }: Question): string | undefined {
  const page = data.find(({ text }) => text.includes(marker))
  if (page === undefined || page.returned > before) return 'its page was not written before'
  const sync = syncs.find(({ began }) => began > page.returned)
  if (sync === undefined || sync.returned > before) return 'no sync of its page had returned'
  const root = metas.find(({ began }) => began > sync.returned)
  if (root === undefined || root.returned > before) return 'the root that shows it was not written through'
  return undefined
}

/** Calls in order. Joins the two parts of a call that another thread's call interrupted in the trace. */
function toCalls(trace: string): Call[] {
  const open = new Map<string, { text: string; began: number }>()
  const calls: Call[] = []
  for (const [line, whole] of trace.split('\n').entries()) {
    const match = /^(\d+)\s+(.*)$/.exec(whole)
    if (match === null) continue
    const [, thread = '', rest = ''] = match
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(rest)
    if (resumed !== null) {
      const begun = open.get(thread)
      if (begun !== undefined) calls.push({ name: resumed[1]!, text: begun.text + resumed[2], began: begun.began, returned: line })
      open.delete(thread)
    } else if (rest.endsWith('<unfinished ...>')) open.set(thread, { text: rest.slice(0, -'<unfinished ...>'.length), began: line })
    else calls.push({ name: rest.split('(')[0] ?? '', text: rest, began: line, returned: line })
  }
  return calls
}

/** Descriptors of the database file: pages go through one descriptor, roots through a write-through descriptor. */
function descriptors(calls: readonly Call[]): { data: Set<string>; meta: Set<string> } {
  const found = { data: new Set<string>(), meta: new Set<string>() }
  for (const { name, text } of calls) {
    const descriptor = /= (\d+)\s*$/.exec(text)?.[1]
    if (name !== 'openat' || !text.includes('/state.mdb"') || descriptor === undefined) continue
    found[text.includes('O_DSYNC') ? 'meta' : 'data'].add(descriptor)
  }
  return found
}

function descriptorOf({ text }: Call): string {
  return /^\w+\((\d+)/.exec(text)?.[1] ?? ''
}
