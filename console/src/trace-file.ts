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
/** Bytes of a file that are decompressed in one turn of the page, to a thousand times as many at most. */
const pieceBytes = 16 * 1024

/** A line of a file. */
type Line =
  | (TraceFile['head'] & { readonly kind: 'Trace'; readonly format: number })
  | (TraceFile['faults'][number] & { readonly kind: 'Fault' })
  | (LoggedRequest & { readonly kind: 'Request' })
  | (Omit<Change, 'kind' | 'revision'> & { readonly kind: 'Change'; readonly objectKind: string; readonly revision: number })
  | { readonly kind: 'Object'; readonly object: KubeObject }
  | { readonly kind: 'End' }

/** Reads a file. Rejects with a sentence for one that is no trace. */
export async function readTrace(file: Blob): Promise<TraceFile> {
  const reading = new Reading()
  await readLines<Line>(unpacked(file), (lines) => {
    for (const line of lines) reading.take(line)
  })
  return reading.finish()
}

/** The contents of a file so far. Each line is taken when it is parsed, so that nothing is left for one long turn at the end. */
class Reading {
  #head: (TraceFile['head'] & { readonly format: number }) | undefined
  #hasEnd = false
  readonly #faults: TraceFile['faults'][number][] = []
  readonly #requests: LoggedRequest[] = []
  readonly #changes: Change[] = []
  readonly #objects: KubeObject[] = []
  /** The last state of each object: a file has the object before its first change alone. */
  readonly #last = new Map<string, unknown>()

  take(line: Line): void {
    switch (line.kind) {
      case 'Trace':
        this.#head = line
        break
      case 'Fault':
        this.#faults.push(line)
        break
      case 'Request':
        this.#requests.push({ ...line, id: this.#requests.length })
        break
      case 'Change':
        this.#addChange({ ...line, kind: line.objectKind, revision: String(line.revision) })
        break
      case 'Object':
        this.#objects.push(line.object)
        break
      case 'End':
        this.#hasEnd = true
    }
  }

  #addChange(change: Change): void {
    const key = `${change.resource} ${change.namespace ?? ''}/${change.name}`
    const before = change.before ?? this.#last.get(key)
    this.#last.set(key, change.after)
    this.#changes.push(before === undefined ? change : { ...change, before })
  }

  finish(): TraceFile {
    const head = this.#head
    if (head === undefined) throw new Error('it is not a trace')
    if (head.format !== formatKnown) throw new Error(`its format is ${head.format}, and this console reads ${formatKnown}`)
    if (!this.#hasEnd) throw new Error('its end is missing')
    return {
      head,
      faults: this.#faults,
      requests: this.#requests.reverse(),
      changes: this.#changes.reverse(),
      objects: this.#objects,
    }
  }
}

function unpacked(file: Blob): ReadableStream<Uint8Array> {
  let bytes = 0
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.length
      if (bytes > bytesMax) controller.error(new Error(`it has more than ${bytesMax} bytes`))
      else controller.enqueue(part)
    },
  })
  return piecesOf(file).pipeThrough(new DecompressionStream('gzip')).pipeThrough(bounded)
}

/** The bytes of a file in small pieces: a browser decompresses each piece in one go. */
function piecesOf(file: Blob): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      if (at >= file.size) return controller.close()
      controller.enqueue(new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer()))
      at += pieceBytes
    },
  })
}
