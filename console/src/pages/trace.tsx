import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Change } from '../change.ts'
import type { KubeObject } from '../objects.ts'
import { Problem } from '../problem.tsx'
import { route } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { messageOf } from '../text.ts'
import { readTrace, type TraceFile } from '../trace-file.ts'
import { shownText, yamlLines } from '../yaml.ts'
import { Lanes } from './lanes.tsx'
import { RequestTable } from './requests.tsx'
import { ChangeTable } from './timeline.tsx'
import { Difference } from './versions.tsx'

interface TracePageProps {
  /** The trace to show first. */
  readonly given?: Blob | undefined
}

/** The page Trace file: the trace of a failed test, without a server. */
export function TracePage({ given }: TracePageProps) {
  const trace = useSignal<TraceFile | undefined>(undefined)
  const problem = useSignal('')
  const open = async (file: Blob | undefined, name: string) => {
    if (file === undefined) return
    try {
      problem.value = ''
      trace.value = await readTrace(file)
    } catch (error) {
      trace.value = undefined
      problem.value = `${name} cannot be read: ${messageOf(error)}`
    }
  }
  useEffect(() => void open(given, 'The trace'), [given])
  const drop = (event: DragEvent) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (event.type === 'drop') void open(file, file?.name ?? '')
  }
  const shown = trace.value
  return (
    <section class="drop" aria-label="Trace file" onDragOver={drop} onDrop={drop}>
      <h1>Trace file</h1>
      <p class="tools">
        <label>
          The file that a failed test has left, which may be dropped here{' '}
          <input type="file" accept=".gz" onChange={({ currentTarget: { files } }) => void open(files?.[0], files?.[0]?.name ?? '')} />
        </label>
      </p>
      <Problem text={problem.value} />
      {shown === undefined ? (
        <p class="dim">
          A test leaves a file where <code>ORCH_TRACE</code> names a folder. <code>server.saveTrace(path)</code> and{' '}
          <em>Export as a trace file</em> on the page Timeline write one, too. Its values stay in this browser.
        </p>
      ) : (
        <Shown trace={shown} />
      )}
    </section>
  )
}

function Shown({ trace }: { readonly trace: TraceFile }) {
  const chosen = useSignal<Change | undefined>(undefined)
  const filter = (route.value.query.get('filter') ?? '').toLowerCase()
  const { head, faults } = trace
  const { requests, changes, objects } = useMemo(() => filtered(trace, filter), [trace, filter])
  return (
    <>
      <h2>{head.test ?? 'A server'}</h2>
      <p class="dim">
        {head.product} at {head.time}, revision {head.revision}
      </p>
      {head.failure !== undefined && <pre class="problem">{head.failure}</pre>}
      {faults.length > 0 && (
        <>
          <h2>Faults</h2>
          <ul class="plain">
            {faults.map(({ name, hits, on = {}, effect = {} }) => (
              <li key={name}>
                <strong>{name}</strong> {hits} {hits === 1 ? 'hit' : 'hits'} <code>{JSON.stringify(on)}</code>{' '}
                <code>{JSON.stringify(effect)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Changes</h2>
      <Lanes changes={changes} />
      <ChangeTable rows={changes} choose={(change) => (chosen.value = change)} />
      {chosen.value !== undefined && (
        <>
          <h3>
            {chosen.value.kind} {chosen.value.name} at revision {chosen.value.revision}
          </h3>
          <Difference before={chosen.value.before} after={chosen.value.after} />
        </>
      )}
      <h2>Requests</h2>
      <RequestTable rows={requests} empty="No requests match." />
      <h2>Objects</h2>
      <Objects objects={objects} />
    </>
  )
}

function filtered({ requests, changes, objects }: TraceFile, filter: string): Pick<TraceFile, 'requests' | 'changes' | 'objects'> {
  if (filter === '') return { requests, changes, objects }
  const has = (...texts: readonly (string | number | undefined)[]) => texts.join(' ').toLowerCase().includes(filter)
  return {
    requests: requests.filter(({ user, agent, verb, path, name, code }) => has(user, agent, verb, path, name, code)),
    changes: changes.filter(({ kind, namespace, name, user, changed = [] }) => has(kind, `${namespace}/${name}`, user, ...changed)),
    objects: objects.filter(({ kind, metadata: { namespace, name } }) => has(kind, `${namespace}/${name}`)),
  }
}

function Objects({ objects }: { readonly objects: readonly KubeObject[] }) {
  const chosen = useSignal<KubeObject | undefined>(undefined)
  const columns: readonly Column<KubeObject>[] = [
    { title: 'Kind', cell: ({ kind }) => kind, width: 30 },
    { title: 'Namespace', cell: ({ metadata }) => metadata.namespace ?? '', width: 26, isMinor: true },
    {
      title: 'Name',
      cell: (object) => (
        <button type="button" class="link" onClick={() => (chosen.value = object)}>
          {object.metadata.name}
        </button>
      ),
    },
  ]
  const { value: shown } = chosen
  return (
    <>
      <Table
        label="Objects"
        columns={columns}
        rows={objects}
        keyOf={({ kind, metadata: { namespace, name, uid } }) => uid ?? `${kind} ${namespace}/${name}`}
        empty="No objects match."
      />
      {shown !== undefined && (
        <>
          <h3>
            {shown.kind} {shown.metadata.name}
          </h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
          <pre class="answer" tabIndex={0}>
            {yamlLines(shown)
              .map(({ text }) => shownText(text))
              .join('\n')}
          </pre>
        </>
      )}
    </>
  )
}
