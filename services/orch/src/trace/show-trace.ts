import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ownUser, printRequests } from '@orch/gateway'
import { messageOf } from '@orch/platform'
import { offlinePage } from '../console/open.ts'
import type { Terminal } from '../process/terminal.ts'
import { readTrace, type Trace, type TraceChange } from '../start/trace-file.ts'

export const traceHelp = `Usage: orch trace show FILE [--all] [--html PAGE]

Prints the trace of a failed test: the failure, faults, requests, changes and counts of objects.
A test writes one where ORCH_TRACE names a folder, and server.saveTrace(path) at any time.

  --all         all requests and changes, not the last 50 without changes by the server itself
  --html PAGE   writes the trace as a page for a browser, in one file that needs no server
`

/** `orch trace`: prints a trace file or writes a page of it. */
export async function traceCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const given = readWords(words)
  if (given === undefined) {
    terminal.error(traceHelp)
    return 2
  }
  try {
    const path = resolve(terminal.workingFolder, given.file)
    const trace = await readTrace(path)
    if (given.page === undefined) terminal.out(printTrace(trace, given.isWhole ? Number.POSITIVE_INFINITY : 50))
    else await writePage(path, resolve(terminal.workingFolder, given.page))
    return 0
  } catch (error) {
    terminal.error(`orch: ${messageOf(error)}\n`)
    return 1
  }
}

/** Undefined for invalid arguments. */
function readWords(words: readonly string[]): { readonly file: string; readonly page?: string; readonly isWhole: boolean } | undefined {
  try {
    const { positionals, values } = parseArgs({
      args: [...words],
      options: { all: { type: 'boolean' }, html: { type: 'string' } },
      allowPositionals: true,
    })
    const [action, file, ...rest] = positionals
    if (action !== 'show' || file === undefined || rest.length > 0 || values.html === '') return undefined
    return { file, isWhole: values.all === true, ...(values.html === undefined ? {} : { page: values.html }) }
  } catch {
    return undefined
  }
}

/** Only the owner may read it, like the trace itself. */
async function writePage(trace: string, page: string): Promise<void> {
  const template = await readFile(offlinePage(), 'utf8')
  const place = 'id="trace">'
  const [before = '', after = ''] = template.split(place)
  await writeFile(page, `${before}${place}${(await readFile(trace)).toString('base64')}${after}`, { mode: 0o600 })
}

/** A trace as text, with the last requests and changes only. */
export function printTrace({ head, faults, requests, changes, objects, left }: Trace, most: number): string {
  const { test, failure, time, profile, revision, seed } = head
  const counts = new Map<string, number>()
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const shown = most === Number.POSITIVE_INFINITY ? changes : changes.filter(({ user }) => user !== ownUser.name)
  const unshown = changes.length - shown.length
  const sections = [
    `${test ?? 'a server'}\n  at ${time}, revision ${revision}, profile ${profile}${seed === undefined ? '' : `, seed ${seed}`}\n`,
    failure === undefined ? '' : `${indented(failure)}\n`,
    faults.length === 0
      ? ''
      : `faults\n${faults.map(({ name, hits, effect, on }) => `  ${name}: ${JSON.stringify(effect)} on ${JSON.stringify(on ?? {})}, ${hits} hits\n`).join('')}`,
    `requests${shownOf(requests.length, most)}\n${indented(printRequests(last(requests, most)))}`,
    `changes${shownOf(shown.length, most)}${unshown === 0 ? '' : `, without ${unshown} by the server itself`}${left.changes === 0 ? '' : `, ${left.changes} older ones had no room`}\n${last(shown, most).map(printChange).join('')}`,
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
