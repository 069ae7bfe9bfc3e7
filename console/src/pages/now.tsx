import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../api.ts'
import { Counts, type KindCount } from '../counts.ts'
import { keyOfKind } from '../paths.ts'
import { repeat } from '../repeat.ts'
import { linkTo, moment, route, setQuery } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { firstOf } from '../text.ts'
import { kinds, listedKinds, namespaces } from '../world.ts'
import { Nodes } from './nodes.tsx'
import { Watches } from './watches.tsx'

/** Maximum number of namespace columns on a page. */
const columnsMax = 12

/** Maximum width of such a column in characters; a name may have 63. */
const namespaceWidthMax = 24

/** The page Now: live counts of kinds by namespace. */
export function Now() {
  const namespace = route.value.query.get('ns') ?? ''
  const showsEmpty = route.value.query.get('empty') === '1'
  const filter = route.value.query.get('filter') ?? ''
  const counts = useCounts(namespace)
  const clock = useSignal(Date.now())
  useEffect(() => {
    const timer = setInterval(() => {
      clock.value = Date.now()
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  if (counts === undefined)
    return (
      <p class="empty">
        {isAwaiting(namespace) ? 'You may not list namespaces: enter the name of one above.' : 'Reading the kinds of the server …'}
      </p>
    )
  counts.version.value
  const all = [...counts.counts.values()].filter(({ kind }) =>
    `${kind.kind} ${keyOfKind(kind)}`.toLowerCase().includes(filter.toLowerCase()),
  )
  const shown = all.filter(
    ({ total, changes, problem }) => showsEmpty || total > 0 || changes > 0 || (problem !== undefined && problem !== 'forbidden'),
  )
  return (
    <>
      <h1>{moment.value === '' ? 'Now' : `Objects at revision ${moment.value}`}</h1>
      <Facts counts={counts} now={clock.value} />
      <p class="tools">
        <label>
          <input type="checkbox" checked={showsEmpty} onChange={() => setQuery({ empty: showsEmpty ? '' : '1' })} /> kinds without objects,
          or forbidden ones
        </label>
        {counts.notFollowed > 0 && (
          <span class="warn">{counts.notFollowed.toLocaleString('en')} kinds are not live: there are too many.</span>
        )}
      </p>
      <Table
        label="Objects by kind and namespace"
        columns={columnsOf(counts, namespace, clock.value)}
        rows={shown.sort((one, other) => one.kind.kind.localeCompare(other.kind.kind))}
        keyOf={({ kind }) => keyOfKind(kind)}
        empty={counts.isComplete.value ? emptyText(filter) : 'Counting …'}
      />
      <Nodes />
      <Watches />
    </>
  )
}

function useCounts(namespace: string): Counts | undefined {
  const counts = useSignal<Counts | undefined>(undefined)
  const known = kinds.value
  const isAwaited = isAwaiting(namespace)
  useEffect(() => {
    if (known.size === 0 || isAwaited) return
    const made = new Counts(listedKinds(), namespace)
    counts.value = made
    void made.open()
    return () => {
      made.close()
      counts.value = undefined
    }
  }, [known, isAwaited, namespace])
  return counts.value
}

/** True if a user who may not list namespaces has not entered one yet. */
function isAwaiting(namespace: string): boolean {
  return namespaces.value === undefined && namespace === ''
}

function Facts({ counts, now }: { readonly counts: Counts; readonly now: number }) {
  const work = useSignal<readonly string[] | undefined>(undefined)
  const isPast = moment.value !== ''
  useEffect(() => {
    if (isPast) return
    const read = () => ask<{ items: readonly { readonly name: string }[] }>('/orch/v1/work')
    return repeat(read, ({ items }) => (work.value = items.map(({ name }) => name)))
  }, [])
  const objects = [...counts.counts.values()].reduce((sum, { total }) => sum + total, 0)
  const quietSeconds = counts.lastChange === 0 ? undefined : Math.max(0, Math.round((now - counts.lastChange) / 1_000))
  return (
    <dl class="facts">
      <div>
        <dt>Objects</dt>
        <dd>{objects.toLocaleString('en')}</dd>
      </div>
      {!isPast && (
        <>
          <div>
            <dt>Changes each second</dt>
            <dd>{counts.rate.perSecond(now).toLocaleString('en', { maximumFractionDigits: 1 })}</dd>
          </div>
          <div>
            <dt>Last change</dt>
            <dd>{quietSeconds === undefined ? 'none yet' : quietSeconds < 2 ? 'now' : `${quietSeconds} s ago`}</dd>
          </div>
        </>
      )}
      {work.value !== undefined && (
        <div>
          <dt>Settled</dt>
          <dd class={work.value.length === 0 ? 'good' : 'busy'}>{work.value.length === 0 ? 'yes' : `no, ${workText(work.value)}`}</dd>
        </div>
      )}
    </dl>
  )
}

function emptyText(filter: string): string {
  return filter === '' ? 'There is none here. Choose another namespace, or create one with kubectl.' : 'No kind matches: clear the filter.'
}

/** `3 requests, timer`: identical work is grouped and counted. */
function workText(names: readonly string[]): string {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => (all.length === 1 ? name : `${all.length} × ${name}`))
  return `waits for ${firstOf(counts, 2)}`
}

function columnsOf(counts: Counts, namespace: string, now: number): Column<KindCount>[] {
  const used = new Map<string, number>()
  for (const { byNamespace } of counts.counts.values())
    for (const [name, count] of byNamespace ?? []) if (name !== '' && count > 0) used.set(name, (used.get(name) ?? 0) + count)
  const busiest = [...used].sort(([, one], [, other]) => other - one).slice(0, columnsMax)
  const names = namespace === '' ? busiest.map(([name]) => name).sort() : []
  return [
    { title: 'Kind', cell: ({ kind }) => <KindLink entry={{ kind }} namespace={namespace} />, width: 36 },
    { title: 'All', cell: numberOf, isNumber: true, width: 9 },
    { title: 'Changes/s', cell: ({ rate }) => <Changes perSecond={rate.perSecond(now)} />, isNumber: true, width: 11 },
    ...names.map(
      (name): Column<KindCount> => ({
        title: name,
        cell: ({ kind, byNamespace }) => {
          const count = byNamespace?.get(name) ?? 0
          return count === 0 ? (
            <span class="dim">{kind.isNamespaced ? '·' : ''}</span>
          ) : (
            <a href={linkTo('objects', { kind: keyOfKind(kind), ns: name })}>{count.toLocaleString('en')}</a>
          )
        },
        isNumber: true,
        isMinor: true,
        width: Math.min(namespaceWidthMax, Math.max(7, name.length + 3)),
      }),
    ),
  ]
}

function KindLink({ entry: { kind }, namespace }: { readonly entry: Pick<KindCount, 'kind'>; readonly namespace: string }) {
  return (
    <a href={linkTo('objects', { kind: keyOfKind(kind), ns: namespace })}>
      {kind.kind} {kind.group !== '' && <span class="dim">{kind.group}</span>}
    </a>
  )
}

function numberOf({ total, problem }: KindCount) {
  return problem === undefined ? (
    total.toLocaleString('en')
  ) : (
    <span class="dim" title={problem}>
      {problem === 'forbidden' ? 'forbidden' : 'failed'}
    </span>
  )
}

function Changes({ perSecond }: { readonly perSecond: number }) {
  if (perSecond === 0) return <span class="dim">·</span>
  return <span class="busy">{perSecond.toLocaleString('en', { maximumFractionDigits: 1 })}</span>
}
