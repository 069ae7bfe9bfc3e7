import { type DiscoveredResource, isRefusal, Lines, resourcePath, send, withoutManagers } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { metadataListMediaType, metadataMediaType } from '../informers/metadata-media-type.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Identity } from './objects.ts'
import { type Metadata, type Observed, observe } from './observed.ts'

/** Receives the reports of the reflector of one resource. */
export interface MetadataSink {
  /** The resource is about to be listed again: the state may differ from the watched one. */
  beginning(): void
  /** An object with owners or under deletion. */
  changed(object: Observed): void
  /** An object that is no longer relevant. */
  settled(uid: string): void
  /** An object without owners was created. */
  created(identity: Identity): void
  removed(uid: string): void
  /** All relevant objects have been reported; an object outside of `uids` is deleted, or no longer relevant. */
  synced(uids: ReadonlySet<string>): void
}

export interface MetadataReflectorOptions extends Pick<Surroundings, 'client' | 'names' | 'signal' | 'random'> {
  readonly resource: DiscoveredResource
  readonly sink: MetadataSink
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Resolves when another object may be read; undefined if it may at once. */
  readonly turn: () => Promise<void> | undefined
  readonly onError: (error: unknown) => void
}

const backoffFirstMs = 200
const backoffMaxMs = 30_000

interface State {
  /** '' if everything must be listed again. */
  version: string
  /** The relevant objects of the current list so far. */
  reported: Set<string> | undefined
  /** The server does not support `sendInitialEvents`: everything is listed before the watch. */
  lists: boolean
  attempts: number
}

/**
 * Watches the metadata of one resource until the signal is aborted. The server sends the current objects first; one that is too old for that, or has
 * the gate WatchList off, gets a list request. Most objects have no owners and are not being deleted: the text of their events is searched as bytes
 * and never parsed, and nothing of them is stored, so that watching everything is cheap. A server in this process gives later events without their
 * text.
 */
export async function reflectMetadata(options: MetadataReflectorOptions): Promise<void> {
  const { signal, sleep, random, onError } = options
  const state: State = { version: '', reported: undefined, lists: false, attempts: 0 }
  while (!signal.aborted) {
    try {
      if (await reflectOnce(options, state)) continue
    } catch (error) {
      if (signal.aborted) return
      if (isRefusal(error, [410, 504]) && state.version !== '') {
        state.version = ''
        continue
      }
      if (isRefusal(error, [400, 422]) && state.version === '' && !state.lists) {
        state.lists = true
        continue
      }
      onError(error)
    }
    const delayMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** state.attempts++)
    await sleep(delayMs * (0.5 + random() / 2), signal)
  }
}

/** True if data arrived. */
async function reflectOnce(options: MetadataReflectorOptions, state: State): Promise<boolean> {
  const { client, resource, names, sink, signal, turn } = options
  if (state.version === '') {
    state.reported = new Set()
    sink.beginning()
    if (state.lists) await reflectList(options, state)
  }
  const isResumed = state.version !== ''
  const start = isResumed ? `resourceVersion=${state.version}` : 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  const path = `${resourcePath(resource, undefined)}?watch=true&allowWatchBookmarks=true&${start}`
  const accept = metadataMediaType(names)
  const response = await send(client.transport, { method: 'GET', path, headers: { accept }, signal, takesEvents: true })
  let hasEvents = false
  const arrived = () => {
    hasEvents = true
    state.attempts = 0
  }
  const lines = new Lines()
  for await (const piece of response.pieces ?? response.body) {
    if ('list' in piece) {
      arrived()
      for (const event of piece.list) readMetadata(event.type, piece.objectOf(event).metadata, state, sink)
      continue
    }
    for (const text of lines.take(piece)) {
      const later = turn()
      if (later !== undefined) await later
      if (signal.aborted) return hasEvents
      const line = asPrintedHere(text)
      if (typeOf(line) === 'ERROR') throw toError(line)
      arrived()
      readEvent(line, state, sink)
    }
  }
  return hasEvents && state.version !== ''
}

/** Reports everything by a list; a watch follows. */
async function reflectList({ client, resource, names, sink, signal, turn }: MetadataReflectorOptions, state: State): Promise<void> {
  const { metadata, items } = await client.resource(resource).listAll({ accept: metadataListMediaType(names), signal })
  const uids = new Set<string>()
  for (const item of items) {
    const later = turn()
    if (later !== undefined) await later
    if (signal.aborted) return
    const object = observe(item.metadata)
    if (!isRelevant(object)) continue
    uids.add(object.uid)
    sink.changed(object)
  }
  sink.synced(uids)
  state.reported = undefined
  state.version = metadata.resourceVersion ?? ''
  state.attempts = 0
}

/** One event: `{"type":"ADDED","object":{…}}`. */
export function readEvent(line: Buffer, state: Pick<State, 'version' | 'reported'>, sink: MetadataSink): void {
  const type = typeOf(line)
  if (type !== 'BOOKMARK') report(type, line, state, sink)
  else if (state.reported !== undefined) {
    if (!line.includes('/initial-events-end":"true"')) return
    sink.synced(state.reported)
    state.reported = undefined
  }
  // Until the list is complete no version is valid for resuming.
  if (state.reported === undefined) state.version = ownText(line, 'resourceVersion')
}

/** Reads an event without its text. Initial objects are always sent as text. */
function readMetadata(type: string, metadata: Metadata, state: Pick<State, 'version'>, sink: MetadataSink): void {
  const object = observe(metadata)
  const { uid, name, namespace } = object
  if (type === 'DELETED') sink.removed(uid)
  else if (isRelevant(object)) sink.changed(object)
  else {
    sink.settled(uid)
    // The object may become an owner.
    if (type === 'ADDED') sink.created({ uid, name, namespace })
  }
  state.version = metadata.resourceVersion ?? ''
}

function report(type: string, line: Buffer, { reported }: Pick<State, 'reported'>, sink: MetadataSink): void {
  const uid = ownText(line, 'uid')
  if (type === 'DELETED') {
    sink.removed(uid)
    return
  }
  const object = observeLine(line)
  if (object === undefined) {
    sink.settled(uid)
    // The object may become an owner.
    const name = type === 'ADDED' && reported === undefined ? ownText(line, 'name') : ''
    if (name !== '' && !name.includes('\\')) sink.created({ uid, name, namespace: ownText(line, 'namespace') || undefined })
    return
  }
  reported?.add(uid)
  sink.changed(object)
}

/** Undefined if the object has no owners and is not under deletion. */
function observeLine(line: Buffer): Observed | undefined {
  if (!line.includes('"ownerReferences":') && !line.includes('"deletionTimestamp":')) return undefined
  const event: { readonly object: { readonly metadata: Metadata } } = JSON.parse(withoutManagers(line))
  const object = observe(event.object.metadata)
  return isRelevant(object) ? object : undefined
}

function isRelevant({ owners, phase }: Observed): boolean {
  return owners.length > 0 || phase !== 'live'
}

const opening = '{"type":"'
const typeStart = opening.length

/** An aggregated server may print events with another order of members, or with spaces. */
function asPrintedHere(line: Buffer): Buffer {
  if (line.toString('latin1', 0, typeStart) === opening) return line
  const { type, object }: { readonly type: unknown; readonly object: unknown } = JSON.parse(line.toString())
  return Buffer.from(JSON.stringify({ type, object }))
}

function typeOf(line: Buffer): string {
  return line.toString('latin1', typeStart, line.indexOf('"', typeStart))
}

const metadataOpening = '"metadata":{'

/**
 * The value of a string member in the object's own metadata; '' if absent. If only plain fields precede it, as in metadata of built-in kinds, the line
 * is not parsed. Metadata of custom resources are sorted by name, so that owners and labels, which may have such fields too, come before.
 */
function ownText(line: Buffer, field: 'uid' | 'resourceVersion' | 'name' | 'namespace'): string {
  const begin = line.indexOf(metadataOpening) + metadataOpening.length
  const opening = `"${field}":"`
  const start = line.indexOf(opening, begin)
  if (start < 0) return ''
  if (isBehind(line, '{', begin, start) || isBehind(line, '[', begin, start)) {
    const event: { readonly object: { readonly metadata: Metadata } } = JSON.parse(line.toString())
    return event.object.metadata[field] ?? ''
  }
  const from = start + opening.length
  return line.toString('latin1', from, line.indexOf('"', from))
}

/** True if `end` is after the first such value from `begin` on. */
function isBehind(line: Buffer, text: string, begin: number, end: number): boolean {
  const found = line.indexOf(text, begin)
  return found >= 0 && found < end
}

function toError(line: Buffer): Error {
  const event: { readonly object: ConstructorParameters<typeof StatusError>[0] } = JSON.parse(line.toString())
  return new StatusError(event.object)
}
