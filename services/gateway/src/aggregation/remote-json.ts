import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Names } from '@orch/core/names'
import { answerHead, type Clock, messageOf, onAbort } from '@orch/platform'
import type { RemoteApi } from './api-service.ts'
import type { Backends } from './backends.ts'
import { identityOf } from './passed-headers.ts'

/** The dependencies of reading documents of remote servers. */
export interface RemoteJsonParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after'>
  readonly names: Names
}

/** A remote server's answer, or the reason why there is no document. */
type Read<Content> =
  | (Content & { readonly kind: 'read'; readonly contentType: string; readonly etag: string })
  /** The document is unchanged. */
  | { readonly kind: 'same' }
  | { readonly kind: 'failed'; readonly code: number; readonly message: string }

export type RemoteBytes = Read<{ readonly bytes: Uint8Array /** SHA-512. */; readonly hash: string }>
export type RemoteDocument = Read<{ readonly value: unknown }>

/** The bounds of size and time. */
export interface ReadLimits {
  readonly bytesMax: number
  readonly msMax: number
}

/** Discovery of a thousand resources has half a megabyte. A slow server is asked again later. */
const discoveryLimits: ReadLimits = { bytesMax: 4 * 1024 * 1024, msMax: 5_000 }

/** One request to the server of an APIService, with the server's own identity. */
export interface Question {
  readonly path: string
  readonly accept: string
  /** The ETag of the cached document. */
  readonly etag?: string | undefined
  readonly signal: AbortSignal
}

/** Reads a JSON document of the size of discovery. Never rejects. */
export async function readRemoteJson(api: RemoteApi, question: Question, parts: RemoteJsonParts): Promise<RemoteDocument> {
  const answer = await readRemote(api, question, discoveryLimits, parts)
  if (answer.kind !== 'read') return answer
  const { bytes, hash: _hash, ...rest } = answer
  try {
    return { ...rest, value: JSON.parse(Buffer.from(bytes).toString()) }
  } catch (error) {
    return { kind: 'failed', code: 0, message: messageOf(error) }
  }
}

/** Reads a document unchanged. Never rejects. */
export async function readRemote(api: RemoteApi, question: Question, limits: ReadLimits, parts: RemoteJsonParts): Promise<RemoteBytes> {
  const ending = new AbortController()
  const timer = parts.clock.after(limits.msMax, () => ending.abort())
  const end = () => ending.abort()
  onAbort(question.signal, end)
  try {
    const response = await ask(api, question, ending.signal, parts)
    const code = response.statusCode ?? 0
    if (code === 304) {
      response.resume()
      return { kind: 'same' }
    }
    if (code !== 200) {
      response.destroy()
      return { kind: 'failed', code, message: `status ${code}` }
    }
    const content = await readBytes(response, limits.bytesMax)
    return { kind: 'read', ...content, contentType: response.headers['content-type'] ?? '', etag: response.headers.etag ?? '' }
  } catch (error) {
    return { kind: 'failed', code: 0, message: messageOf(error) }
  } finally {
    timer.cancel()
    question.signal.removeEventListener('abort', end)
  }
}

async function ask(
  api: RemoteApi,
  { path, accept, etag }: Question,
  signal: AbortSignal,
  { backends, names }: RemoteJsonParts,
): Promise<IncomingMessage> {
  const options = await backends.reach(api)
  const user = { name: `system:${names.aggregator}`, uid: '', groups: ['system:masters'], extra: {} }
  const condition = etag ? { 'if-none-match': etag } : {}
  const headers = { accept, 'user-agent': names.serverManager, ...identityOf(user, false), ...condition }
  const send = () => {
    const request = httpsRequest({ ...options, path, headers, signal })
    request.end()
    return answerHead(request)
  }
  return backends.ask(api, 'documents', { signal, send, refuse: refusedWith })
}

function refusedWith(code: number): never {
  throw new Error(`status ${code}`)
}

async function readBytes(response: IncomingMessage, bytesMax: number): Promise<{ readonly bytes: Uint8Array; readonly hash: string }> {
  const chunks: Uint8Array[] = []
  const hash = createHash('sha512')
  let length = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > bytesMax) {
      response.destroy()
      throw new Error(`the document has more than ${bytesMax} bytes`)
    }
    hash.update(chunk)
    chunks.push(chunk)
  }
  return { bytes: Buffer.concat(chunks), hash: hash.digest('hex').toUpperCase() }
}
