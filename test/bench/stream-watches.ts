import type { ClientHttp2Session } from 'node:http2'
import { openSession } from './http2-load.ts'
import type { Credentials } from './orch-server.ts'

const streamsPerSession = 200
const lineEnd = 0x0a
/** The longest wait for the head of an answer. */
const answerMsMax = 60_000

/** Many watches over HTTP/2, 200 streams per connection. The client only counts events, one per line. */
export class StreamWatches {
  readonly #sessions: ClientHttp2Session[] = []
  /** The number of events of each watch, in the order of the paths. */
  readonly events: number[]

  private constructor(count: number) {
    this.events = Array.from({ length: count }, () => 0)
  }

  static async open(port: number, credentials: Credentials, paths: readonly string[]): Promise<StreamWatches> {
    const watches = new StreamWatches(paths.length)
    for (let from = 0; from < paths.length; from += streamsPerSession) {
      const session = await openSession(port, credentials)
      watches.#sessions.push(session)
      await Promise.all(paths.slice(from, from + streamsPerSession).map((path, index) => watches.#open(session, path, from + index)))
    }
    return watches
  }

  /** Waits until all watches together have received this number of events; fails after a minute. */
  async arrived(expected: number): Promise<void> {
    const began = performance.now()
    while (this.total < expected) {
      if (performance.now() - began > 60_000) throw new Error(`${this.total} of ${expected} events have arrived`)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    if (this.total > expected) throw new Error(`${this.total} events have arrived where ${expected} were expected`)
  }

  get total(): number {
    return this.events.reduce((sum, count) => sum + count, 0)
  }

  close(): void {
    for (const session of this.#sessions) session.destroy()
  }

  #open(session: ClientHttp2Session, path: string, index: number): Promise<void> {
    const stream = session.request({ ':path': path, accept: 'application/json' })
    stream.on('data', (chunk: Buffer) => {
      let count = 0
      for (let at = chunk.indexOf(lineEnd); at >= 0; at = chunk.indexOf(lineEnd, at + 1)) count += 1
      this.events[index] = (this.events[index] ?? 0) + count
    })
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => stream.destroy(new Error(`the watch ${path} was not answered`)), answerMsMax)
      stream.on('error', (error) => {
        stream.destroy()
        reject(error)
      })
      stream.on('close', () => reject(new Error(`the watch ${path} was closed before it was answered`)))
      stream.on('response', ({ ':status': status }) => {
        clearTimeout(deadline)
        if (status === 200) resolve()
        else reject(new Error(`a watch answered ${status}`))
      })
    })
  }
}
