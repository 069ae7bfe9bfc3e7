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
  /** Newest first, like the changes; each change contains the previous object. */
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly Change[]
  readonly objects: readonly KubeObject[]
}

const formatKnown = 1
/** Maximum bytes of a file after decompression; changes and objects have at most 32 MiB each. */
const bytesMax = 128 * 1024 * 1024
/** Compressed bytes per turn of the page; they decompress to at most a thousand times as many. */
const pieceBytes = 16 * 1024

/** A line of a file. */
type Line =
  | (TraceFile['head'] & { readonly kind: 'Trace'; readonly format: number })
  | (TraceFile['faults'][number] & { readonly kind: 'Fault' })
  | (LoggedRequest & { readonly kind: 'Request' })
  | (Omit<Change, 'kind' | 'revision'> & { readonly kind: 'Change'; readonly objectKind: string; readonly revision: number })
  | { readonly kind: 'Object'; readonly object: KubeObject }
  | { readonly kind: 'End' }

/** Reads a trace file. Rejects with an explanation for any other file. */
export async function readTrace(file: Blob): Promise<TraceFile> {
  const reading = new Reading()
  await readLines<Line>(unpacked(file), (lines) => {
    for (const line of lines) reading.take(line)
  })
  return reading.finish()
}

/** The contents of a file so far. Lines are handled as they are parsed, so that no long turn follows at the end. */
class Reading {
  #head: (TraceFile['head'] & { readonly format: number }) | undefined
  #hasEnd = false
  readonly #faults: TraceFile['faults'][number][] = []
  readonly #requests: LoggedRequest[] = []
  readonly #changes: Change[] = []
  readonly #objects: KubeObject[] = []
  /** The last state of each object, because only the first change of an object in a file contains the previous state. */
  readonly #last = new Map<string, unknown>()

  take(line: Line): void {
    if (typeof line !== 'object' || line === null) throw new Error('one of its lines is not an object')
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
        if (line.object?.metadata?.name === undefined) throw new Error('one of its objects has no name')
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

/** Reads a file in small pieces, because a browser decompresses each piece in one turn. */
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
