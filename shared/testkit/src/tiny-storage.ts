import {
  type CallContext,
  type Change,
  type ChangesPart,
  type ChangesRequest,
  type Entry,
  type Facts,
  type GetResponse,
  type ListPart,
  objectKey,
  type StorageService,
  type Stream,
  scopePrefix,
} from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import { PushStream } from '@orch/platform'

export interface TinyStorageOptions {
  /** True if changes contain the previous content. Storage sends it if it has it; a delete always contains it. */
  readonly sendsBefore?: boolean
  readonly epoch?: string
}

interface TinyObject {
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly fields?: Readonly<Record<string, string>>
  readonly data?: string
  /** The kind and the members beside the metadata. Default: a ConfigMap with `data`. */
  readonly object?: Readonly<Record<string, unknown>>
}

/** A minimal storage service, an array of changes, for tests of clients that follow storage. */
export interface TinyStorage extends StorageService {
  readonly revision: number
  readonly epoch: string
  /** The number of open streams of changes. */
  readonly followers: number
  put(object: TinyObject): number
  remove(resource: string, name: string, namespace?: string): number
  /** Removes changes up to this revision. */
  compact(revision: number): void
  /** Tells every follower that it has received everything up to now. */
  sendPosition(): void
  /** Ends every stream with an error, as a restart does. */
  breakStreams(): void
  /** Replaces the store: the epoch changes, and every stream starts again with `expired`. */
  replace(epoch: string): void
  /** The revision and content of an object, read directly and not from a stream. */
  read(key: string): Entry | undefined
}

interface Follower {
  readonly resources: readonly string[]
  readonly stream: PushStream<ChangesPart>
}

const encoder = new TextEncoder()

/** A tiny storage without objects. */
export function createTinyStorage({ sendsBefore = true, epoch: firstEpoch = 'e1' }: TinyStorageOptions = {}): TinyStorage {
  const followers = new Set<Follower>()
  const present = new Map<string, { readonly entry: Entry; readonly facts: Facts }>()
  const states: { readonly key: string; readonly revision: number; readonly entry: Entry | undefined }[] = []
  let changes: Change[] = []
  let epoch = firstEpoch
  let revision = 0
  let compacted = 0

  const send = (change: Change) => {
    changes.push(change)
    for (const { resources, stream } of followers) {
      if (isWanted(change, resources)) stream.push({ kind: 'changes', changes: [change], epoch })
    }
  }
  const beforeOf = (key: string, isDelete: boolean): Pick<Change, 'before'> => {
    const old = present.get(key)
    if (old === undefined) return {}
    const value = sendsBefore || isDelete ? { value: old.entry.value } : {}
    return { before: { revision: old.entry.revision, facts: old.facts, ...value } }
  }
  const put = (object: TinyObject): number => {
    const key = objectKey(object.resource, object.namespace, object.name)
    const previous = revision
    revision += 1
    const entry = entryOf(object, key, revision)
    const facts: Facts = { labels: object.labels ?? {}, fields: object.fields ?? {} }
    const { value, metadataStart, metadataEnd } = entry
    const change: Change = { revision, previous, key, after: { value, metadataStart, metadataEnd, facts }, ...beforeOf(key, false) }
    present.set(key, { entry, facts })
    states.push({ key, revision, entry })
    send(change)
    return revision
  }
  const remove = (resource: string, name: string, namespace?: string): number => {
    const key = objectKey(resource, namespace, name)
    if (!present.has(key)) throw new Error(`${key} is absent`)
    const previous = revision
    revision += 1
    const change: Change = { revision, previous, key, ...beforeOf(key, true) }
    present.delete(key)
    states.push({ key, revision, entry: undefined })
    send(change)
    return revision
  }
  const follow = (request: ChangesRequest, context: CallContext = {}): Stream<ChangesPart> => {
    const stop = () => follower.stream.close()
    const onClose = () => {
      followers.delete(follower)
      context.signal?.removeEventListener('abort', stop)
    }
    const follower: Follower = { resources: request.resources, stream: new PushStream<ChangesPart>({ onClose }) }
    if (context.signal?.aborted) stop()
    context.signal?.addEventListener('abort', stop, { once: true })
    if ((request.epoch !== '' && request.epoch !== epoch) || request.after < compacted) {
      follower.stream.push({ kind: 'expired', oldest: compacted, epoch })
      follower.stream.end()
      return follower.stream
    }
    followers.add(follower)
    const missed = changes.filter((change) => change.revision > request.after && isWanted(change, request.resources))
    if (missed.length > 0) follower.stream.push({ kind: 'changes', changes: missed, epoch })
    if (request.after <= revision) follower.stream.push({ kind: 'position', revision, epoch })
    return follower.stream
  }

  return {
    get revision() {
      return revision
    },
    get epoch() {
      return epoch
    },
    get followers() {
      return followers.size
    },
    put,
    remove,
    compact(upTo) {
      compacted = Math.max(compacted, upTo)
      changes = changes.filter((change) => change.revision > compacted)
    },
    sendPosition() {
      for (const { stream } of followers) stream.push({ kind: 'position', revision, epoch })
    },
    breakStreams() {
      for (const { stream } of followers) stream.abandon(failed(503, 'ServiceUnavailable', 'storage restarts'))
    },
    replace(newEpoch) {
      epoch = newEpoch
      revision += 1
      compacted = revision
      changes = []
      for (const { stream } of followers) {
        stream.push({ kind: 'expired', oldest: compacted, epoch })
        stream.end()
      }
    },
    read: (key) => present.get(key)?.entry,

    async get({ key }): Promise<GetResponse> {
      const known = present.get(key)
      return { ...(known === undefined ? {} : { entry: known.entry }), revision, epoch }
    },
    list({ scope }): Stream<ListPart> {
      const stream = new PushStream<ListPart>()
      const prefix = scopePrefix(scope)
      const entries = [...present.values()].map(({ entry }) => entry).filter(({ key }) => key.startsWith(prefix))
      stream.push({ kind: 'head', revision, epoch })
      stream.push({ kind: 'entries', entries: entries.sort((a, b) => (a.key < b.key ? -1 : 1)) })
      stream.end()
      return stream
    },
    async commit() {
      throw failed(501, '', 'a tiny storage is written through put and remove')
    },
    changes: follow,
    async getAt({ key, revision: at }) {
      if (at < compacted) throw failed(410, 'Expired', `revision ${at} is compacted`)
      const entry = states.findLast((state) => state.key === key && state.revision <= at)?.entry
      return entry === undefined ? {} : { entry }
    },
    async history() {
      throw failed(501, '', 'a tiny storage shows no history')
    },
    async revisionAt() {
      throw failed(501, '', 'a tiny storage notes no times')
    },
    async status() {
      return { epoch, revision, compacted, refusing: '', entries: present.size, bytes: 0, profile: 'orch', members: [] }
    },
  }
}

function isWanted(change: Change, resources: readonly string[]): boolean {
  return resources.length === 0 || resources.some((resource) => change.key.startsWith(`${resource}/`))
}

function entryOf({ name, namespace, labels, data, object }: TinyObject, key: string, revision: number): Entry {
  const { kind, apiVersion, ...content } = object ?? { kind: 'ConfigMap', apiVersion: 'v1', data: { text: data ?? '' } }
  const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":`
  const metadata = JSON.stringify({ name, namespace, resourceVersion: String(revision), labels })
  const value = encoder.encode(`${head}${metadata},${JSON.stringify(content).slice(1)}`)
  const metadataEnd = head.length + encoder.encode(metadata).length
  return { key, revision, value, metadataStart: head.length, metadataEnd, writeId: String(revision) }
}
