import type { IncomingMessage } from 'node:http'
import { isJsonObject } from '@orch/core/json'
import { refusalByCode } from '@orch/core/meta'
import { type Credential, secretsOf } from './credentials.ts'
import { limits } from './limits.ts'

/** The response, or the reason why it is missing. */
export type CallAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  /** `code` is the status of a refusing answer. */
  | { readonly kind: 'failed'; readonly message: string; readonly code: number | undefined; readonly isLate: boolean }

/** The raw answer of a webhook server. */
export interface Posted {
  readonly response: Pick<IncomingMessage, 'statusCode' | 'headers'>
  readonly text: string
}

/** A code from 200 to 206 with a body is an answer. The content type does not matter: Go's servers send text/plain by default. */
export function judge({ response, text }: Posted, credential: Credential, fail: (why: string) => CallAnswer): CallAnswer {
  const code = response.statusCode ?? 0
  if (code < 200 || code > 206) {
    const said = withoutSecrets(text, credential)
    if (code >= 300 && code < 400) return { kind: 'failed', message: redirectText(code), code: undefined, isLate: false }
    const { 'content-type': type = 'text/plain' } = response.headers
    const why = type.startsWith('text/') ? said.slice(0, limits.answerTextMax).trim() : 'unknown'
    const refusal = statusIn(said) ?? { message: refusalByCode(code, why)[1], code: code >= 400 ? code : undefined }
    return { kind: 'failed', ...refusal, isLate: false }
  }
  if (text !== '') return { kind: 'answered', text }
  return fail(`0-length response with status code: ${code} and content type: ${response.headers['content-type'] ?? ''}`)
}

/** Reads a body up to a maximum length. */
export async function readText(response: Pick<IncomingMessage, 'destroy'> & AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > limits.answerBytesMax) {
      response.destroy()
      throw new Error(`the answer has more than ${limits.answerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Removes the credential from a text: a failing server may repeat it, and its answer is logged and sent to the client. */
function withoutSecrets(said: string, credential: Credential): string {
  return secretsOf(credential).reduce((text, secret) => text.replaceAll(secret, '[redacted]'), said)
}

function redirectText(code: number): string {
  const place = code === 307 || code === 308 ? ' to another host or to none' : ''
  return `the webhook answered with a redirect (${code})${place}, which is not followed`
}

/** The refusal of a text that is a failed Status, as a webhook behind a client of Kubernetes may send. */
function statusIn(text: string): { readonly message: string; readonly code: number } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const { kind, apiVersion = 'v1', status, message = '', code = 0 } = value
  if (kind !== 'Status' || apiVersion !== 'v1' || status !== 'Failure') return undefined
  if (typeof message !== 'string' || !Number.isInteger(code) || Number(code) < 0) return undefined
  return { message: message.slice(0, limits.answerTextMax), code: Number(code) }
}
