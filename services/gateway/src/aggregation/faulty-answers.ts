import { Readable } from 'node:stream'
import { brokenAnswer, type CallRefusal } from '@orch/platform'
import type { Answer, Response } from './send-behind.ts'

/** The answers to calls with faults. */
export const faultyAnswers = {
  refuse({ code, retryAfter, body }: CallRefusal): Answer {
    const headers = { 'content-type': ['application/json'], ...(retryAfter === undefined ? {} : { 'retry-after': [String(retryAfter)] }) }
    const bytes = Readable.from([Buffer.from(body)])
    return { kind: 'response', response: { code, headers, body: bytes, trailers: () => ({}), destroy: () => void bytes.destroy() } }
  },
  truncate(answer: Answer, bytes: number): Answer {
    if (answer.kind === 'response') return { kind: 'response', response: { ...answer.response, body: firstBytes(answer.response, bytes) } }
    answer.socket.destroy()
    return answer
  },
  drop(answer: Answer): void {
    if (answer.kind === 'response') answer.response.destroy()
    else answer.socket.destroy()
  },
}

async function* firstBytes({ body, destroy }: Response, bytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let left = bytes
  for await (const chunk of body) {
    if (left > 0) yield chunk.subarray(0, left)
    left -= chunk.length
    if (left > 0) continue
    destroy()
    throw brokenAnswer()
  }
}
