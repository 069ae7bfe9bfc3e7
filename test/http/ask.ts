import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { text as readText } from 'node:stream/consumers'

export interface Answer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The value of a JSON text, otherwise the text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any answer
  readonly body: any
}

export interface Asking extends RequestOptions {
  /** Text and bytes are sent unchanged, any other value as JSON. */
  readonly body?: unknown
}

/** Sends one request and reads the whole answer. */
export function ask(url: string | URL, { body, headers, ...options }: Asking = {}): Promise<Answer> {
  const content = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  // Node.js by default announces no length for a DELETE.
  const described = content === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }
  const send = new URL(url).protocol === 'http:' ? httpRequest : httpsRequest
  return new Promise((resolve, reject) => {
    const read = async (response: IncomingMessage) => {
      const text = await readText(response)
      const isJson = /^application\/(?:[\w-]+\+)?json$/.test(response.headers['content-type'] ?? '') && text !== ''
      return { code: response.statusCode ?? 0, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
    }
    send(url, { ...options, headers: { ...described, ...headers } }, (response) => resolve(read(response)))
      .once('error', reject)
      .end(content)
  })
}
