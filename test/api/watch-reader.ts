import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Body } from './api.ts'

export interface WatchEvent {
  type: string
  object: Body
}

/** An open watch. */
export interface WatchAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** The next event; undefined after the server has ended the stream. */
  next(): Promise<WatchEvent | undefined>
  /** The next `count` events. */
  take(count: number): Promise<WatchEvent[]>
  /** All events until the server ends the stream. */
  rest(): Promise<WatchEvent[]>
  close(): void
}

/** Reads the lines of a watch as they arrive. */
export class WatchReader {
  readonly #request: ClientRequest
  readonly #events: WatchEvent[] = []
  readonly #waiting: ((event: WatchEvent | undefined) => void)[] = []
  #pending = ''
  #isOver = false

  constructor(request: ClientRequest) {
    this.#request = request
  }

  opened(): Promise<WatchAnswer> {
    return new Promise((resolve, reject) => {
      this.#request.on('error', (error) => {
        this.#end()
        reject(error)
      })
      this.#request.on('response', (response) => resolve(this.#answerOf(response)))
      this.#request.end()
    })
  }

  close(): void {
    this.#request.destroy()
  }

  #answerOf(response: IncomingMessage): WatchAnswer {
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#read(chunk))
    response.on('end', () => this.#end())
    response.on('error', () => this.#end())
    const next = () => this.#next()
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      next,
      async take(count) {
        const events: WatchEvent[] = []
        while (events.length < count) {
          const event = await next()
          if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`)
          events.push(event)
        }
        return events
      },
      async rest() {
        const events: WatchEvent[] = []
        for (let event = await next(); event !== undefined; event = await next()) events.push(event)
        return events
      },
      close: () => this.close(),
    }
  }

  #read(chunk: string): void {
    const lines = `${this.#pending}${chunk}`.split('\n')
    this.#pending = lines.pop() ?? ''
    for (const line of lines) this.#give(JSON.parse(line) as WatchEvent)
  }

  #give(event: WatchEvent): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#events.push(event)
    else waiting(event)
  }

  #end(): void {
    this.#isOver = true
    for (const waiting of this.#waiting.splice(0)) waiting(undefined)
  }

  #next(): Promise<WatchEvent | undefined> {
    const event = this.#events.shift()
    if (event !== undefined || this.#isOver) return Promise.resolve(event)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
