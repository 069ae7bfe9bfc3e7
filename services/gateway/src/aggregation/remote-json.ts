import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Names } from '@orch/core/names'
import { type Clock, messageOf } from '@orch/platform'
import type { RemoteApi } from './api-service.ts'
import type { Backends } from './backends.ts'
import { identityOf } from './passed-headers.ts'

/** What reading documents of servers behind this one needs. */
export interface RemoteJsonParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after'>
  readonly names: Names
}

/** A document that a server behind has, or why there is none. */
export type RemoteDocument =
  | { readonly kind: 'read'; readonly value: unknown; readonly contentType: string; readonly etag: string }
  /** It is as it was. */
  | { readonly kind: 'same' }
  | { readonly kind: 'failed'; readonly code: number; readonly message: string }

/** A server that is slow is asked again later. */
const readMsMax = 5_000
/** Discovery of a thousand resources is half a megabyte, and OpenAPI of a server with hundred kinds two: more would be long to read. */
const documentBytesMax = 4 * 1024 * 1024

/** One question to the server of an APIService, as the server itself. */
export interface Question {
  readonly path: string
  readonly accept: string
  /** Of the document that is known. */
  readonly etag?: string | undefined
  readonly signal: AbortSignal
}

/** Reads a JSON document. Never rejects. */
export async function readRemoteJson(api: RemoteApi, question: Question, parts: RemoteJsonParts): Promise<RemoteDocument> {
  const ending = new AbortController()
  const timer = parts.clock.after(readMsMax, () => ending.abort())
  const end = () => ending.abort()
  question.signal.addEventListener('abort', end, { once: true })
  try {
    const response = await ask(api, question, ending.signal, parts)
    const code = response.statusCode ?? 0
    if (code === 304) return { kind: 'same' }
    if (code !== 200) {
      response.destroy()
      return { kind: 'failed', code, message: `status ${code}` }
    }
    const text = await readText(response)
    return {
      kind: 'read',
      value: JSON.parse(text),
      contentType: response.headers['content-type'] ?? '',
      etag: response.headers.etag ?? '',
    }
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
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, path, headers, signal }, resolve)
    request.on('error', reject)
    request.end()
  })
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > documentBytesMax) {
      response.destroy()
      throw new Error(`the document has more than ${documentBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
