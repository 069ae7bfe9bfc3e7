import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Kind, keyOfKind } from '../paths.ts'
import { Problem } from '../problem.tsx'
import { linkTo, route } from '../route.ts'
import { type Row, Rows } from '../rows.ts'
import { type Column, Table } from '../table.tsx'
import { counted, dayAndTime } from '../text.ts'
import { kinds } from '../world.ts'

/** A live table of the objects of a kind, with the server's columns. */
export function Objects() {
  const { query } = route.value
  const kind = kinds.value.get(query.get('kind') ?? '')
  if (kind === undefined) return <p class="empty">{kinds.value.size === 0 ? 'Reading the kinds …' : 'The server has no such kind.'}</p>
  return <Listed kind={kind} namespace={query.get('ns') ?? ''} field={query.get('field') ?? ''} />
}

function Listed({ kind, namespace, field }: { readonly kind: Kind; readonly namespace: string; readonly field: string }) {
  const rows = useSignal<Rows | undefined>(undefined)
  useEffect(() => {
    const made = new Rows(kind, namespace, field)
    rows.value = made
    made.open()
    return () => made.close()
  }, [kind, namespace, field])
  const made = rows.value
  made?.version.value
  const filter = (route.value.query.get('filter') ?? '').toLowerCase()
  const all = made?.sorted ?? []
  const shown =
    filter === ''
      ? all
      : all.filter(({ namespace: place, name, cells }) => `${place}/${name} ${cells.join(' ')}`.toLowerCase().includes(filter))
  return (
    <>
      <h1>
        {kind.kind} <span class="dim">{keyOfKind(kind)}</span>
      </h1>
      <p class="tools dim">
        {made?.problem.value === '' && `${filter === '' ? '' : `${shown.length.toLocaleString('en')} of `}${counted(all.length, 'object')}`}
        {namespace === '' ? '' : ` in ${namespace}`}
        {field === '' ? '' : ` with ${field}`}
        {made?.hasMore === true && '; there are more: choose a namespace'}
      </p>
      <Problem text={made?.problem.value ?? ''} />
      <Table
        label={`Objects of the kind ${kind.kind}`}
        columns={columnsOf(kind, made, namespace)}
        rows={shown}
        keyOf={({ uid, name }) => uid || name}
        empty={made?.isComplete === true ? emptyText(filter, namespace) : made?.problem.value === '' ? 'Reading …' : ''}
      />
    </>
  )
}

function emptyText(filter: string, namespace: string): string {
  if (filter !== '') return 'No object matches: clear the filter.'
  return namespace === '' ? 'There is none on this server.' : `There is none in ${namespace}: choose another namespace.`
}

function columnsOf(kind: Kind, rows: Rows | undefined, namespace: string): Column<Row>[] {
  const shown = (rows?.columns ?? [])
    .map((column, index) => ({ ...column, index }))
    .filter(({ priority, name }) => priority === 0 && name !== 'Name')
  return [
    ...(kind.isNamespaced && namespace === '' ? [{ title: 'Namespace', cell: (row: Row) => row.namespace, isMinor: true, width: 22 }] : []),
    {
      title: 'Name',
      cell: ({ namespace: ns, name }) => <a href={linkTo('object', { kind: keyOfKind(kind), ns, name })}>{name}</a>,
    },
    ...shown.map(
      ({ name, type, index }): Column<Row> => ({
        title: name,
        cell: ({ cells }) => text(cells[index], name),
        isNumber: type === 'integer',
        isShort: true,
        isMinor: shown.findIndex((one) => one.index === index) > 1,
        width: type === 'integer' ? 12 : 20,
      }),
    ),
  ]
}

function text(value: unknown, column: string): string {
  if (value === null || value === undefined) return ''
  if (column !== 'Created At' || typeof value !== 'string') return String(value)
  return dayAndTime(value)
}
