import { Agent, request as httpsRequest } from 'node:https'
import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { type Answer, type Excuse, judge } from './judge.ts'
import type { Draw, DrawnRequest } from './requests.ts'

export interface RunOptions {
  readonly kubeconfig: string
  readonly draw: Draw
  readonly seed: number
  readonly from: number
  readonly count: number
  readonly atOnce: number
  /** The run calls this when it sends a request and when it has the answer. */
  readonly watch?: { sent(index: number, request: DrawnRequest): void; answered(index: number): void }
}

/** A request with a forbidden answer or without an answer. */
export interface Fault {
  readonly index: number
  readonly request: DrawnRequest
  readonly answer: string
}

export type Outcome = Awaited<ReturnType<typeof run>>

/** The client cuts an endless stream after this many bytes. */
const readBytesMax = 4096
/** The time limit is long enough for a busy machine; a request without an answer after it is a fault. */
const answerTimeoutMs = 60_000
/** An open watch without events. */
const silentStreamMs = 20

/** Sends requests, a given number at a time, and judges the answers. */
export async function run({ kubeconfig, draw, seed, from, count, atOnce, watch }: RunOptions) {
  const configuration = await parseConfiguration(kubeconfig)
  const agent = agentFor(configuration, atOnce)
  const byStatus = new Map<number, number>()
  const excused = new Map<Excuse, number>()
  const faults: Fault[] = []
  let next = from
  const worker = async () => {
    while (next < from + count) {
      const index = next++
      const request = draw(seed, index)
      watch?.sent(index, request)
      try {
        const answer = await send(agent, configuration.server, request)
        increment(byStatus, answer.status)
        const verdict = judge(request, answer)
        if (verdict.kind === 'excused') increment(excused, verdict.excuse)
        if (verdict.kind === 'fault') faults.push({ index, request, answer: `${answer.status} ${answer.text}` })
      } catch (error) {
        faults.push({ index, request, answer: `no answer: ${error instanceof Error ? error.message : String(error)}` })
      }
      watch?.answered(index)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  agent.destroy()
  return { byStatus, excused, faults }
}

function agentFor({ certificateAuthority, clientCertificate, clientKey }: ClientConfiguration, maxSockets: number): Agent {
  return new Agent({ keepAlive: true, maxSockets, ca: certificateAuthority, cert: clientCertificate, key: clientKey })
}

function increment<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

async function send(agent: Agent, server: string, request: DrawnRequest): Promise<Answer> {
  try {
    return await sendOnce(agent, server, request)
  } catch (error) {
    // The server may close a kept-alive connection at the moment when the client uses it again.
    if (!isReset(error)) throw error
    return sendOnce(agent, server, request)
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function sendOnce(agent: Agent, server: string, { method, target, headers, body }: DrawnRequest): Promise<Answer> {
  const { hostname, port } = new URL(server)
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ agent, hostname, port, method, path: target, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      const done = () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString().slice(0, readBytesMax) })
      const isStream = target.includes('watch')
      const silence = isStream ? setTimeout(() => request.destroy(), silentStreamMs) : undefined
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= 2 * readBytesMax) chunks.push(chunk)
      })
      response.on('close', () => {
        clearTimeout(silence)
        done()
      })
      response.on('error', () => done())
    })
    request.setTimeout(answerTimeoutMs, () => request.destroy(new Error(`not answered in ${answerTimeoutMs} ms`)))
    request.on('error', reject)
    request.end(body)
  })
}
