import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { linkTo, route, setQuery } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { firstOf, messageOf, shortUser, timeOfDay } from '../text.ts'
import { type Change, readTimeline } from '../timeline.ts'
import { kinds } from '../world.ts'

const pageSize = 1_000
/** Changes that the page holds. */
const changesMax = 10_000
const readAgainMs = 1_500

/** The page Timeline: the changes of all objects, newest first, and lanes of the objects that changed most. */
export function Timeline() {
  const changes = useSignal<readonly Change[]>([])
  const next = useSignal<string | undefined>(undefined)
  const problem = useSignal('')
  const { query } = route.value
  const [ns, filter, kind] = [query.get('ns') ?? '', (query.get('filter') ?? '').toLowerCase(), query.get('kind') ?? '']
  useEffect(() => {
    let isOver = false
    let timer: number | undefined
    const read = async (after: string) => {
      try {
        const answer = document.hidden ? undefined : await readTimeline({ namespace: ns, resource: kind, after, limit: String(pageSize) })
        if (isOver) return
        if (answer !== undefined) {
          changes.value = (after === '' ? answer.items : [...answer.items, ...changes.value]).slice(0, changesMax)
          if (after === '') next.value = answer.next
        }
        timer = setTimeout(() => void read(answer?.revision ?? after), readAgainMs)
      } catch (error) {
        problem.value = messageOf(error)
      }
    }
    void read('')
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [ns, kind])
  const older = async () => {
    const answer = await readTimeline({ namespace: ns, resource: kind, before: next.value ?? '', limit: String(pageSize) })
    changes.value = [...changes.value, ...answer.items].slice(0, changesMax)
    next.value = answer.next
  }
  const shown = filter === '' ? changes.value : changes.value.filter((change) => textOf(change).includes(filter))
  return (
    <>
      <h1>Timeline</h1>
      {problem.value !== '' && (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      <Lanes changes={shown} />
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
        <span class="dim">{shown.length.toLocaleString('en')} changes</span>
        {next.value !== undefined && (
          <button type="button" onClick={() => void older()}>
            Read older ones
          </button>
        )}
      </p>
      <ChangeTable rows={shown} />
    </>
  )
}

/** Changes as a table. */
export function ChangeTable({ rows }: { readonly rows: readonly Change[] }) {
  return <Table label="Changes, newest first" columns={columns} rows={rows} keyOf={({ revision }) => revision} empty="No changes match." />
}

function textOf({ kind, namespace = '', name, user = '', changed = [] }: Change): string {
  return `${kind} ${namespace}/${name} ${user} ${changed.join(' ')}`.toLowerCase()
}

const columns: readonly Column<Change>[] = [
  { title: 'Revision', cell: ({ revision }) => revision, isNumber: true, width: 11 },
  { title: 'Time', cell: ({ time }) => (time === undefined ? '' : timeOfDay(time)), width: 16, isMinor: true },
  { title: 'Object', cell: (change) => <ObjectOf change={change} /> },
  {
    title: 'Event',
    cell: ({ event }) => <span class={event === 'deleted' ? 'bad' : event === 'created' ? 'good' : ''}>{event}</span>,
    width: 12,
  },
  { title: 'By', cell: ({ user = 'the server' }) => shortUser(user), width: 26, isMinor: true },
  { title: 'Fields', cell: ({ changed = [] }) => <span title={changed.join('\n')}>{firstOf(changed, 2)}</span>, isMinor: true },
]

function ObjectOf({ change: { resource, kind, namespace, name } }: { readonly change: Change }) {
  return (
    <a href={linkTo('object', { kind: resource, ns: namespace, name })}>
      {kind} {name}
    </a>
  )
}

const lanesMax = 8
/** Newest changes that are drawn. */
const laneChangesMax = 2_000
const laneWidth = 1_000

/** A lane for each of the objects that changed most, over the revisions of the shown changes. */
export function Lanes({ changes: all }: { readonly changes: readonly Change[] }) {
  const changes = all.slice(0, laneChangesMax)
  const [newest, oldest] = [Number(changes[0]?.revision ?? 0), Number(changes.at(-1)?.revision ?? 0)]
  const lanes = new Map<string, Change[]>()
  for (const change of changes) {
    const key = `${change.kind} ${change.namespace ?? ''}/${change.name}`
    const lane = lanes.get(key)
    if (lane === undefined) lanes.set(key, [change])
    else lane.push(change)
  }
  const busiest = [...lanes].sort(([, one], [, other]) => other.length - one.length).slice(0, lanesMax)
  if (newest === oldest) return null
  const placeOf = ({ revision }: Change) => Math.round(((Number(revision) - oldest) / (newest - oldest)) * laneWidth)
  return (
    <section class="lanes" aria-label={`The objects that changed most, from revision ${oldest} to ${newest}`}>
      {busiest.map(([name, lane]) => (
        <div key={name}>
          <span class="lane" title={name}>
            {name.replace(/ \//, ' ')}
          </span>
          <svg viewBox={`-6 0 ${laneWidth + 12} 16`} preserveAspectRatio="none" role="img" aria-label={`${lane.length} changes`}>
            <path d={[...new Set(lane.map(placeOf))].map((x) => `M${x} 2v12`).join('')} />
          </svg>
          <span class="dim">{lane.length}</span>
        </div>
      ))}
    </section>
  )
}
