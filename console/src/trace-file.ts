import type { LoggedRequest } from '@orch/core/contracts'
import type { Change } from './change.ts'
import { readLines } from './lines.ts'
import type { KubeObject } from './objects.ts'

/** The contents of a trace file (docs/reference/trace.md). */
export interface TraceFile {
  readonly head: {
    readonly product?: string
    readonly time?: string
    readonly revision?: number
    readonly test?: string
    readonly failure?: string
  }
  readonly faults: readonly { readonly name: string; readonly hits: number; readonly on?: object; readonly effect?: object }[]
  /** Newest first, as are the changes; each change has the object before it. */
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly Change[]
  readonly objects: readonly KubeObject[]
}

const formatKnown = 1
/** Bytes of a file after decompression: changes and objects have 32 MiB each. */
const bytesMax = 128 * 1024 * 1024

/** Reads a file. Rejects with a sentence for one that is no trace. */
export async function readTrace(file: Blob): Promise<TraceFile> {
  const lines = await parsedLines(file)
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
    faults: byKind.get('Fault') ?? [],
    requests: requests.map((request, id) => ({ ...request, id })).reverse(),
    changes: withBefore(changes.map((change) => ({ ...change, kind: change.objectKind, revision: String(change.revision) }))).reverse(),
    objects: objects.map(({ object }) => object),
  }
}

/** A file has the object before its first change alone; the others follow each other. `changes` are oldest first. */
function withBefore(changes: readonly Change[]): Change[] {
  const last = new Map<string, unknown>()
  return changes.map((change) => {
    const key = `${change.resource} ${change.namespace ?? ''}/${change.name}`
    const before = change.before ?? last.get(key)
    last.set(key, change.after)
    return before === undefined ? change : { ...change, before }
  })
}

/** Lines are parsed as they are unpacked, in turns. */
async function parsedLines(file: Blob): Promise<ReturnType<typeof JSON.parse>[]> {
  const found: unknown[] = []
  let bytes = 0
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.length
      if (bytes > bytesMax) controller.error(new Error(`it has more than ${bytesMax} bytes`))
      else controller.enqueue(part)
    },
  })
  const unpacked = file.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(bounded)
  await readLines(unpacked, (lines) => found.push(...lines))
  return found
}
