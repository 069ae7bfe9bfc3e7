import { Worker } from 'node:worker_threads'
import { internal, serviceUnavailable, timeout } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type {
  AuditBodyAnswer,
  AuditBodyJob,
  JoinOpenApiAnswer,
  JoinOpenApiJob,
  ReadOpenApiAnswer,
  ReadOpenApiJob,
  TextAnswer,
  TextJob,
  ThreadAnswer,
  ThreadJob,
} from './jobs.ts'

type Done<Answer> = Exclude<Answer, { kind: 'failed' }>

interface Waiting {
  readonly job: ThreadJob
  resolve(answer: ThreadAnswer): void
  reject(error: Error): void
}

/**
 * A thread that parses and prints large texts in formats whose libraries are synchronous, so that the event loop is free meanwhile. It starts with the
 * first such text, processes texts in sequence, and ends with the gateway. A text that takes too long fails its request and ends the thread; the next
 * one gets a new thread.
 */
export class TextThread {
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #running: Waiting | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** Runs a job in the thread; rejects with the job's error. */
  do(job: TextJob): Promise<Done<TextAnswer>>
  do(job: AuditBodyJob): Promise<Done<AuditBodyAnswer>>
  do(job: ReadOpenApiJob): Promise<Done<ReadOpenApiAnswer>>
  do(job: JoinOpenApiJob): Promise<Done<JoinOpenApiAnswer>>
  async do(job: ThreadJob): Promise<Done<ThreadAnswer>> {
    if (this.#isClosed) throw internal('the server is stopping')
    const waiting = this.#waiting.reduce((sum, one) => sum + one.job.bytes.length, 0)
    // The events of audit have a bound of their own.
    if (waiting > limits.textWaitingBytesMax && job.kind !== 'auditBody')
      throw serviceUnavailable('too many long texts wait to be read or printed', { retryAfterSeconds: 1 })
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#next()
    })
    if (answer.kind === 'failed') throw answer.error
    return answer
  }

  /** Ends the thread; its unfinished jobs are refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(internal('the server is stopping'))
    await this.#end(internal('the server is stopping'))
  }

  #next(): void {
    if (this.#running !== undefined) return
    this.#running = this.#waiting.shift()
    if (this.#running === undefined) return
    this.#worker ??= this.#start()
    this.#timer = setTimeout(() => void this.#end(timeout('the text takes too long to be read or printed')), limits.textJobMsMax).unref()
    const { job } = this.#running
    // A copy, as the bytes may be part of a much larger buffer that others read. A newly read document is transferred.
    const bytes = job.kind === 'readOpenApi' ? ownBytes(job.bytes) : new Uint8Array(job.bytes)
    this.#worker.postMessage({ ...job, bytes }, [bytes.buffer])
  }

  #start(): Worker {
    // Next to this file, in the sources, compiled or in the bundle.
    const entry = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: limits.textThreadMbMax } })
    worker.unref()
    worker.on('message', (answer: ThreadAnswer) => {
      if (this.#worker === worker) this.#settle((running) => running.resolve(answer))
    })
    worker.once('error', (cause: Error) => {
      if (this.#worker === worker) void this.#end(internal('the text could not be read or printed', { cause }))
    })
    return worker
  }

  async #end(reason: Error): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#settle((running) => running.reject(reason))
    await worker?.terminate()
  }

  #settle(settle: (running: Waiting) => void): void {
    clearTimeout(this.#timer)
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) settle(running)
    this.#next()
  }
}

/** The bytes in a separate buffer. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes)
}
