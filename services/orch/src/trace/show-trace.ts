import { resolve } from 'node:path'
import { printRequests } from '@orch/gateway'
import { messageOf } from '@orch/platform'
import type { Terminal } from '../process/terminal.ts'
import { readTrace, type Trace, type TraceChange } from '../start/trace-file.ts'

export const traceHelp = `Usage: orch trace show FILE [--all]

Prints the trace of a failed test: the failure, faults, requests, changes and counts of objects.
A test writes one where ORCH_TRACE names a folder, and server.saveTrace(path) at any time.

  --all   all requests and changes, not the last 50
`

/** `orch trace`: prints a trace file. */
export async function traceCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const [action, ...rest] = words
  const files = rest.filter((word) => word !== '--all')
  const [file] = files
  if (action !== 'show' || file === undefined || files.length > 1 || file.startsWith('-')) {
    terminal.error(traceHelp)
    return 2
  }
  try {
    terminal.out(printTrace(await readTrace(resolve(terminal.workingFolder, file)), rest.includes('--all') ? Number.POSITIVE_INFINITY : 50))
    return 0
  } catch (error) {
    terminal.error(`orch: ${messageOf(error)}\n`)
    return 1
  }
}

/** A trace as text; of requests and changes the last ones. */
export function printTrace({ head, faults, requests, changes, objects, left }: Trace, most: number): string {
  const { test, failure, time, profile, revision, seed } = head
  const counts = new Map<string, number>()
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const sections = [
    `${test ?? 'a server'}\n  at ${time}, revision ${revision}, profile ${profile}${seed === undefined ? '' : `, seed ${seed}`}\n`,
    failure === undefined ? '' : `${indented(failure)}\n`,
    faults.length === 0
      ? ''
      : `faults\n${faults.map(({ name, hits, effect, on }) => `  ${name}: ${JSON.stringify(effect)} on ${JSON.stringify(on ?? {})}, ${hits} hits\n`).join('')}`,
    `requests${shownOf(requests.length, most)}\n${indented(printRequests(last(requests, most)))}`,
    `changes${shownOf(changes.length, most)}${left.changes === 0 ? '' : `, ${left.changes} older ones had no room`}\n${last(changes, most).map(printChange).join('')}`,
    `objects: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')}${left.objects === 0 ? '' : `, ${left.objects} more had no room`}\n`,
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function last<T>(items: readonly T[], most: number): readonly T[] {
  return most >= items.length ? items : items.slice(-most)
}

function shownOf(count: number, most: number): string {
  return count <= most ? ` (${count})` : ` (the last ${most} of ${count})`
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function printChange({ revision, time, event, kind, namespace, name, user, managers, changed }: TraceChange): string {
  const by = [user, ...managers.filter((manager) => manager !== user)].filter((one) => one !== undefined)
  const paths =
    changed.length === 0 ? '' : `: ${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''}`
  const place = namespace === undefined ? name : `${namespace}/${name}`
  return `  @${revision} ${time} ${event} ${kind} ${place}${by.length === 0 ? '' : ` by ${by.join(' as ')}`}${paths}\n`
}
