import type { LoggedRequest } from '@orch/core/contracts'
import { useSignal } from '@preact/signals'
import type { KubeObject } from '../api.ts'
import { route } from '../route.ts'
import { messageOf } from '../text.ts'
import type { Change } from '../timeline.ts'
import { yamlLines } from '../yaml.ts'
import { RequestTable } from './requests.tsx'
import { ChangeTable, Lanes } from './timeline.tsx'

/** The contents of a trace file (docs/reference/trace.md). */
interface TraceFile {
  readonly head: {
    readonly product?: string
    readonly time?: string
    readonly revision?: number
    readonly test?: string
    readonly failure?: string
  }
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly Change[]
  readonly objects: readonly KubeObject[]
}

const formatKnown = 1
/** Bytes of a file after decompression: changes and objects have 32 MiB each. */
const bytesMax = 128 * 1024 * 1024

/** The page Trace file: what a failed test has left, without a server. */
export function TracePage() {
  const trace = useSignal<TraceFile | undefined>(undefined)
  const problem = useSignal('')
  const open = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      problem.value = ''
      trace.value = await readTrace(file)
    } catch (error) {
      trace.value = undefined
      problem.value = `${file.name} cannot be read: ${messageOf(error)}`
    }
  }
  const filter = (route.value.query.get('filter') ?? '').toLowerCase()
  const matches = (value: object) => filter === '' || JSON.stringify(value).toLowerCase().includes(filter)
  const shown = trace.value
  return (
    <>
      <h1>Trace file</h1>
      <p class="tools">
        <label>
          The file that a failed test has left{' '}
          <input type="file" accept=".gz" onChange={(event) => void open(event.currentTarget.files?.[0])} />
        </label>
      </p>
      {problem.value !== '' && (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      {shown !== undefined && (
        <>
          <h2>{shown.head.test ?? 'A server'}</h2>
          <p class="dim">
            {shown.head.product} at {shown.head.time}, revision {shown.head.revision}
          </p>
          {shown.head.failure !== undefined && <pre class="problem">{shown.head.failure}</pre>}
          <h2>Changes</h2>
          <Lanes changes={shown.changes} />
          <ChangeTable rows={shown.changes.filter(matches)} />
          <h2>Requests</h2>
          <RequestTable rows={shown.requests.filter(matches)} empty="No requests match." />
          <h2>Objects</h2>
          <Objects objects={shown.objects.filter(matches)} />
        </>
      )}
    </>
  )
}

const objectsShown = 500

function Objects({ objects }: { readonly objects: readonly KubeObject[] }) {
  return (
    <>
      {objects.slice(0, objectsShown).map((object) => (
        <details key={object.metadata.uid}>
          <summary>
            {object.kind} {object.metadata.namespace} {object.metadata.name}
          </summary>
          <pre class="answer">
            {yamlLines(object)
              .map(({ text }) => text)
              .join('\n')}
          </pre>
        </details>
      ))}
      {objects.length > objectsShown && <p class="dim">{objects.length - objectsShown} more: use the filter.</p>}
    </>
  )
}

async function readTrace(file: File): Promise<TraceFile> {
  const texts = (await decompress(file)).split('\n').filter((line) => line !== '')
  const lines = texts.map((line) => JSON.parse(line))
  const [head] = lines
  if (head?.kind !== 'Trace') throw new Error('it is not a trace')
  if (head.format !== formatKnown) throw new Error(`its format is ${head.format}, and this console reads ${formatKnown}`)
  if (lines.at(-1)?.kind !== 'End') throw new Error('its end is missing')
  const byKind = Map.groupBy(lines, ({ kind }) => String(kind))
  const requests: LoggedRequest[] = byKind.get('Request') ?? []
  const changes: (Change & { readonly objectKind: string })[] = byKind.get('Change') ?? []
  const objects: { readonly object: KubeObject }[] = byKind.get('Object') ?? []
  return {
    head,
    requests: requests.map((request, id) => ({ ...request, id })).reverse(),
    changes: changes.map((change) => ({ ...change, kind: change.objectKind, revision: String(change.revision) })).reverse(),
    objects: objects.map(({ object }) => object),
  }
}

async function decompress(file: File): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of file.stream().pipeThrough(new DecompressionStream('gzip'))) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
  }
  return text
}
