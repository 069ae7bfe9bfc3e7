import { type ClientRequest, request } from 'node:http'
import { decodeStored } from '@orch/core/stored'
import type { TrueChange } from '../watch/checker.ts'

/** All objects that etcd has ever stored below a key. */
export interface EtcdLog<C = TrueChange> {
  readonly revision: number
  readonly changes: readonly C[]
}

/** One put or delete. */
export interface ObjectChange<T> {
  readonly revision: number
  /** The key without the prefix. */
  readonly key: string
  /** Absent: the change deleted the key. */
  readonly after: T | undefined
}

interface Kv {
  readonly key: string
  readonly value?: string
  readonly mod_revision: string
}

interface WatchLine {
  readonly result?: {
    readonly compact_revision?: string
    readonly events?: readonly { readonly type?: string; readonly kv: Kv }[]
  }
}

/** The changes of ConfigMaps below a key, as the runs write them. */
export async function readEtcdLog(address: string, prefix: string): Promise<EtcdLog> {
  const { revision, changes } = await readEtcdObjects<WrittenObject>(address, prefix)
  const texts = changes.map(({ after, ...change }) => ({
    ...change,
    after: after && { text: after.data?.['text'] ?? '', app: after.metadata.labels?.['app'] ?? '' },
  }))
  return { revision, changes: texts }
}

interface WrittenObject {
  readonly metadata: { readonly labels?: Record<string, string> }
  readonly data?: Record<string, string>
}

/**
 * Every put and delete below a key in order, read from etcd directly; our code only decodes the stored values. etcd must not have compacted these
 * revisions.
 */
export async function readEtcdObjects<T>(address: string, prefix: string): Promise<EtcdLog<ObjectChange<T>>> {
  const from = Buffer.from(prefix).toString('base64')
  const until = Buffer.from(`${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`).toString('base64')
  const { header } = await askEtcd<{ header: { revision: string } }>(address, '/v3/kv/range', {
    key: from,
    range_end: until,
    count_only: true,
  })
  const revision = Number(header.revision)
  // A change after the last needed change shows that all earlier changes have arrived.
  const mark = Buffer.from('/test-mark').toString('base64')
  const marked = await askEtcd<{ header: { revision: string } }>(address, '/v3/kv/put', { key: mark, value: mark })
  const end = Number(marked.header.revision)
  const changes: ObjectChange<T>[] = []
  const all = Buffer.from([0]).toString('base64')
  await stream(address, { create_request: { key: all, range_end: all, start_revision: 1 } }, ({ result }) => {
    if (result?.compact_revision !== undefined) throw new Error(`etcd has forgotten what was before ${result.compact_revision}`)
    for (const { type, kv } of result?.events ?? []) {
      const at = Number(kv.mod_revision)
      const key = Buffer.from(kv.key, 'base64').toString()
      if (key.startsWith(prefix) && at <= revision) {
        changes.push({ revision: at, key: key.slice(prefix.length), after: type === 'DELETE' ? undefined : toObject<T>(kv) })
      }
      if (at >= end) return true
    }
    return false
  })
  return { revision, changes }
}

/** Makes etcd compact all revisions before the present one. */
export async function compactEtcd(address: string): Promise<void> {
  const { header } = await askEtcd<{ header: { revision: string } }>(address, '/v3/kv/range', { key: Buffer.from('x').toString('base64') })
  await askEtcd(address, '/v3/kv/compaction', { revision: header.revision, physical: true })
}

/** The revision of a key; 0 if the key does not exist. */
export async function revisionInEtcd(address: string, key: string): Promise<number> {
  const { kvs = [] } = await askEtcd<{ kvs?: readonly Kv[] }>(address, '/v3/kv/range', { key: Buffer.from(key).toString('base64') })
  return Number(kvs[0]?.mod_revision ?? 0)
}

/** The object that a key holds now. */
export async function objectInEtcd<T>(address: string, key: string): Promise<T | undefined> {
  const { kvs = [] } = await askEtcd<{ kvs?: readonly Kv[] }>(address, '/v3/kv/range', { key: Buffer.from(key).toString('base64') })
  return kvs[0] && toObject<T>(kvs[0])
}

function toObject<T>({ value = '' }: Kv): T {
  const framed = Buffer.from(value, 'base64')
  const { json } = decodeStored(framed.subarray(1 + (framed[0] ?? 0)))
  return JSON.parse(Buffer.from(json).toString()) as T
}

/** Sends a request to etcd's HTTP gateway. */
export function askEtcd<T>(address: string, path: string, body: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = post(address, path, body)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text) as T) : reject(new Error(`${path}: ${text}`))))
    })
    sent.on('error', reject)
  })
}

/** Reads lines until the reader has enough lines. */
function stream(address: string, body: unknown, take: (line: WatchLine) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = post(address, '/v3/watch', body)
    sent.on('response', (response) => {
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        try {
          if (!lines.some((line) => line !== '' && take(JSON.parse(line) as WatchLine))) return
          resolve()
        } catch (error) {
          reject(error)
        }
        sent.destroy()
      })
      response.on('end', () => reject(new Error('the watch has ended')))
    })
    sent.on('error', reject)
  })
}

function post(address: string, path: string, body: unknown): ClientRequest {
  const [host = '', port = ''] = address.split(':')
  const sent = request({ host, port, path, method: 'POST', agent: false })
  sent.end(JSON.stringify(body))
  return sent
}
