import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError } from '../api.ts'
import type { Change } from '../change.ts'
import { Problem } from '../problem.tsx'
import { linkTo, moment, route, setQuery } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { counted, firstOf, messageOf, shortUser, timeOfDay } from '../text.ts'
import { readTimeline } from '../timeline.ts'
import { readExported, saveTrace } from '../trace-export.ts'
import { traceLines } from '../trace-lines.ts'
import { kinds } from '../world.ts'
import { Lanes } from './lanes.tsx'

const pageSize = 1_000
/** Maximum number of changes on the page. */
const changesMax = 10_000
const readAgainMs = 1_500

/** The page Timeline: changes of all objects, newest first, and lanes of the objects that changed most. */
export function Timeline() {
  const { query } = route.value
  const [ns, filter, kind] = [query.get('ns') ?? '', (query.get('filter') ?? '').toLowerCase(), query.get('kind') ?? '']
  const { found, next, skipped, problem, older } = useChanges(ns, kind)
  const changes = found.value ?? []
  const isExporting = useSignal(false)
  const save = async () => {
    isExporting.value = true
    try {
      const exported = await readExported({ namespace: ns, resource: kind }, moment.value)
      await saveTrace(traceLines(exported), `console-${exported.revision}.trace.gz`)
    } catch (error) {
      problem.value = messageOf(error)
    }
    isExporting.value = false
  }
  const shown = filter === '' ? changes : changes.filter((change) => textOf(change).includes(filter))
  return (
    <>
      <h1>Timeline</h1>
      <Problem text={problem.value} />
      <Lanes changes={shown} scrub={(revision) => setQuery({ at: revision })} />
      <p class="tools">
        <label>
          Kind{' '}
          <select value={kind} onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
            <option value="">all</option>
            {[...kinds.value].map(([key, known]) => (
              <option key={key} value={key}>
                {known.kind} {known.group}
              </option>
            ))}
          </select>
        </label>
        <span class="dim">
          {counted(shown.length, 'change')}
          {skipped.value && ', not all of those that came too fast'}
        </span>
        {next.value !== undefined && (
          <button type="button" onClick={() => void older()}>
            Read older ones
          </button>
        )}
        <button type="button" disabled={isExporting.value} onClick={() => void save()}>
          {isExporting.value ? 'Exporting …' : 'Export as a trace file'}
        </button>
      </p>
      <ChangeTable rows={shown} isForbidden={problem.value !== ''} isRead={found.value !== undefined} />
    </>
  )
}

/** Reads the changes up to the displayed moment, and follows new ones at the present. */
function useChanges(ns: string, kind: string) {
  const found = useSignal<readonly Change[] | undefined>(undefined)
  const next = useSignal<string | undefined>(undefined)
  const skipped = useSignal(false)
  const problem = useSignal('')
  const query = { namespace: ns, resource: kind, limit: String(pageSize) }
  const upTo = moment.value
  useEffect(() => {
    let isOver = false
    let timer: number | undefined
    const read = async (after: string) => {
      try {
        const before = /^\d+$/.test(upTo) ? String(Number(upTo) + 1) : ''
        const answer = document.hidden ? undefined : await readTimeline({ ...query, after, before })
        if (isOver) return
        if (answer !== undefined && (after === '' || answer.items.length > 0)) {
          found.value = (after === '' ? answer.items : [...answer.items, ...(found.value ?? [])]).slice(0, changesMax)
          if (after === '') next.value = answer.next
          else skipped.value ||= answer.next !== undefined
        }
        if (upTo === '') timer = setTimeout(() => void read(answer?.revision ?? after), readAgainMs)
      } catch (error) {
        if (error instanceof ApiError) problem.value = messageOf(error)
        else if (!isOver) timer = setTimeout(() => void read(after), readAgainMs)
      }
    }
    void read('')
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [ns, kind])
  const older = async () => {
    const answer = await readTimeline({ ...query, before: next.value ?? '' })
    found.value = [...(found.value ?? []), ...answer.items].slice(0, changesMax)
    next.value = answer.next
  }
  return { found, next, skipped, problem, older }
}

interface ChangeTableProps {
  readonly rows: readonly Change[]
  /** Selects a change to show. Undefined for changes of the server, whose states and objects have pages. */
  readonly choose?: (change: Change) => void
  /** True if the changes could not be read. */
  readonly isForbidden?: boolean
  /** False until the changes have been read. */
  readonly isRead?: boolean
}

export function ChangeTable({ rows, choose, isForbidden = false, isRead = true }: ChangeTableProps) {
  const none = 'No change matches: clear the filter, or choose another kind or namespace. Older changes are not kept.'
  return (
    <Table
      label="Changes, newest first"
      columns={columnsOf(choose)}
      rows={rows}
      keyOf={({ revision }) => revision}
      empty={isForbidden ? '' : isRead ? none : 'Reading …'}
    />
  )
}

function textOf({ kind, namespace = '', name, user = '', changed = [] }: Change): string {
  return `${kind} ${namespace}/${name} ${user} ${changed.join(' ')}`.toLowerCase()
}

function columnsOf(choose: ChangeTableProps['choose']): readonly Column<Change>[] {
  return [
    {
      title: 'Revision',
      cell: (change) => (
        <button
          type="button"
          class="link"
          aria-label={`${choose === undefined ? 'The state at' : 'The change of'} revision ${change.revision}`}
          onClick={() => (choose === undefined ? setQuery({ at: change.revision }) : choose(change))}
        >
          {change.revision}
        </button>
      ),
      isNumber: true,
      width: 11,
    },
    { title: 'Time', cell: ({ time }) => (time === undefined ? '' : timeOfDay(time)), width: 16, isMinor: true },
    { title: 'Object', cell: (change) => <ObjectOf change={change} page={choose === undefined ? 'object' : 'trace'} /> },
    {
      title: 'Event',
      cell: ({ event }) => <span class={event === 'deleted' ? 'bad' : event === 'created' ? 'good' : ''}>{event}</span>,
      width: 12,
      isShort: true,
    },
    { title: 'By', cell: ({ user = 'the server' }) => shortUser(user), width: 26, isMinor: true },
    { title: 'Fields', cell: ({ changed = [] }) => <span title={changed.join('\n')}>{firstOf(changed, 2)}</span>, isMinor: true },
  ]
}

/** In a trace without pages of objects, a click on a name filters by it. */
function ObjectOf({ change: { resource, kind, namespace, name }, page }: { readonly change: Change; readonly page: 'object' | 'trace' }) {
  const query = page === 'trace' ? { filter: name } : { kind: resource, ns: namespace, name }
  return (
    <a href={linkTo(page, query)}>
      {kind} {namespace === undefined ? name : `${namespace}/${name}`}
    </a>
  )
}
