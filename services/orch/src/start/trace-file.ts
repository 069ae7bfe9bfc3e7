import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type LoggedRequest, listEntries } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { type ApiObject, withoutSecretValues } from '@orch/core/meta'
import { type FaultRule, printFault } from '@orch/gateway'
import { messageOf, systemCodeOf } from '@orch/platform'
import type { Storage } from '@orch/storage'
import { productVersion } from '../version.ts'
import type { ObjectChange, ServerPast } from './past.ts'

/** The format of a file; a file with another format is refused. */
const formatVersion = 1

/** Maximum bytes of the lines of changes, and of the lines of objects, before compression. The newest changes are kept. */
const partBytesMax = 32 * 1024 * 1024

/** Maximum number of changes read. */
const changesMax = 20_000

/** The first line: the server, and the failed test. */
interface TraceHead {
  readonly kind: 'Trace'
  readonly format: number
  readonly product: string
  readonly profile: string
  /** The server's clock, as in RFC 3339. */
  readonly time: string
  readonly revision: number
  readonly seed?: number | string
  readonly test?: string
  /** The reason why the test failed. */
  readonly failure?: string
}

/** A change of an object. Only the first change of an object in the file has `before`. */
export interface TraceChange extends Omit<ObjectChange, 'time'> {
  readonly time: string
}

/** A fault that was active or has hit its last request. */
interface TraceFault {
  readonly name: string
  readonly hits: number
  readonly effect?: unknown
  readonly on?: unknown
}

/** The contents of a file. */
export interface Trace {
  readonly head: TraceHead
  readonly faults: readonly TraceFault[]
  /** Oldest first, like the changes. */
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly TraceChange[]
  readonly objects: readonly ApiObject[]
  /** Numbers of changes and objects that did not fit. */
  readonly left: { readonly changes: number; readonly objects: number }
}

/** Options of a trace. */
export interface TraceOptions {
  readonly test?: string | undefined
  /** The reason for the failure. */
  readonly failure?: unknown
  /** Includes the values of Secrets; by default each is `redacted`. */
  readonly secrets?: boolean | undefined
}

/** The server that a trace shows. */
export interface TraceSource {
  readonly profile: string
  readonly now: () => number
  readonly seed: number | string | undefined
  readonly storage: Pick<Storage, 'list' | 'objectCounts' | 'status'>
  readonly timeline: ServerPast['timeline']
  readonly requests: () => readonly LoggedRequest[]
  readonly faults: () => readonly FaultRule[]
}

/**
 * Writes a trace of a server to a file with owner-only access: gzip-compressed JSON lines. Each line has a `kind`: first `Trace`, then `Fault`,
 * `Request`, `Change` and `Object` in this order, and finally `End` with the counts of omitted lines.
 */
export async function writeTrace(source: TraceSource, path: string, { test, failure, secrets = false }: TraceOptions): Promise<void> {
  const { revision } = await source.storage.status({})
  const show = (object: ApiObject) => (secrets ? object : withoutSecretValues(object))
  const changes = withinBound((await source.timeline(undefined, { limit: changesMax })).reverse().map((change) => changeLine(change, show)))
  const objects = withinBound((await objectsOf(source.storage)).map((object) => lineOf('Object', { object: show(object) })))
  const head = {
    kind: 'Trace',
    format: formatVersion,
    product: `orch ${productVersion}`,
    profile: source.profile,
    time: new Date(source.now()).toISOString(),
    revision,
    ...(source.seed === undefined ? {} : { seed: source.seed }),
    ...(test === undefined ? {} : { test }),
    ...(failure === undefined ? {} : { failure: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure) }),
  } satisfies TraceHead
  const lines = [
    JSON.stringify(head),
    ...source.faults().map(({ name, hits, fault }) => lineOf('Fault', { name, hits, ...printFault(fault) })),
    ...source.requests().map((request) => lineOf('Request', request)),
    ...changes.lines.reverse(),
    ...objects.lines,
    lineOf('End', { left: { changes: changes.left, objects: objects.left } }),
  ]
  const draft = `${path}.partial`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(draft, await promisify(gzip)(`${lines.join('\n')}\n`, { level: 1 }), { mode: 0o600 })
  await rename(draft, path)
}

function lineOf(kind: string, members: object): string {
  return JSON.stringify({ kind, ...members })
}

/** `kind` is the kind of the line; `objectKind` is the kind of the changed object. */
function changeLine({ kind: objectKind, before, after, ...change }: ObjectChange, show: (object: ApiObject) => ApiObject): string {
  return lineOf('Change', {
    ...change,
    objectKind,
    ...(before === undefined ? {} : { before: show(before) }),
    ...(after === undefined ? {} : { after: show(after) }),
  })
}

/** The first lines, up to the limit. */
function withinBound(lines: readonly string[]): { readonly lines: string[]; readonly left: number } {
  let bytes = 0
  const end = lines.findIndex((line) => {
    bytes += line.length
    return bytes > partBytesMax
  })
  return end < 0 ? { lines: [...lines], left: 0 } : { lines: lines.slice(0, end), left: lines.length - end }
}

/** All stored objects, by key. */
async function objectsOf(storage: TraceSource['storage']): Promise<ApiObject[]> {
  const objects: ApiObject[] = []
  for (const resource of [...storage.objectCounts().keys()].sort()) {
    for await (const page of listEntries(storage, { resource })) {
      for (const { value } of page) {
        const object: unknown = JSON.parse(Buffer.from(value).toString())
        if (isObject(object)) objects.push(object)
      }
    }
  }
  return objects
}

/** False for rows of the server, such as the rows of quotas. */
function isObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && typeof value['kind'] === 'string' && isJsonObject(value['metadata']) && 'uid' in value['metadata']
}

/** A longer text does not fit in one string. */
const textBytesMax = 512 * 1024 * 1024 - 25

/** Reads a trace. Rejects with an explanation for any other file. */
export async function readTrace(path: string): Promise<Trace> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error(`${path}: cannot be read (${systemCodeOf(cause) ?? messageOf(cause)})`, { cause })
  })
  const none = (cause: unknown) =>
    new Error(`${path}: is no trace: expected a file that a failed test or server.saveTrace() has written`, { cause })
  const text = await promisify(gunzip)(bytes, { maxOutputLength: textBytesMax }).catch((cause: unknown) => {
    throw none(cause)
  })
  const { head, left, ...trace } = parseLines(text.toString(), none)
  if (head === undefined) throw none(undefined)
  if (head.format !== formatVersion) throw new Error(`${path}: has format ${head.format}; this version reads format ${formatVersion}`)
  if (left === undefined) throw new Error(`${path}: is cut off: its last line is missing`)
  return { head, left, ...trace }
}

function parseLines(text: string, none: (cause: unknown) => Error) {
  const [faults, requests, changes, objects]: [TraceFault[], LoggedRequest[], TraceChange[], ApiObject[]] = [[], [], [], []]
  let head: TraceHead | undefined
  let left: Trace['left'] | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const { kind, ...members } = parsed(line, none)
    if (kind === 'Trace') head = { kind, ...members }
    else if (kind === 'Fault') faults.push(members)
    else if (kind === 'Request') requests.push(members)
    else if (kind === 'Change') changes.push({ ...members, kind: members.objectKind })
    else if (kind === 'Object') objects.push(members.object)
    else if (kind === 'End') left = members.left
  }
  return { head, left, faults, requests, changes, objects }
}

function parsed(line: string, none: (cause: unknown) => Error): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw none(cause)
  }
}
