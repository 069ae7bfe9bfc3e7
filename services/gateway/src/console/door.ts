import type { User } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import type { Exchange } from '../exchange/exchange.ts'
import type { Console, ConsoleParts } from './console.ts'

/** A plain port, as the console sees it. */
export interface OpenPlainPort {
  /** `http://127.0.0.1:40123`. */
  readonly origin: string
  close(): Promise<void>
}

/** The dependencies of the console's entry. */
export interface DoorOptions extends ConsoleParts {
  /** Opens the plain port. Without it browsers use TLS. */
  readonly openPlainPort: ((serve: (exchange: Exchange, port: number) => Promise<void>) => Promise<OpenPlainPort>) | undefined
  /** Origin of the port with TLS. */
  readonly secureOrigin: () => string
}

/** The entry to the console. The console itself is loaded, and its port opened, with the first request for it. */
export class ConsoleDoor {
  readonly #options: DoorOptions
  #console: Promise<Console> | undefined
  #plainPort: Promise<OpenPlainPort> | undefined

  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** True if the console answers a request for this target. Its tickets are created by the API. */
  isAt(target: string): boolean {
    const { path } = this.#options
    if (!target.startsWith(path)) return false
    const rest = target.slice(path.length)
    return (rest === '' || rest[0] === '/' || rest[0] === '?') && !/^\/ticket(?:$|\?)/.test(rest)
  }

  /** Answers such a request over TLS. */
  async answer(exchange: Exchange): Promise<void> {
    await (await this.#load()).answer(exchange, false)
  }

  /** A link that opens one session as the user, within a minute. */
  async link(user: User): Promise<string> {
    const loaded = await this.#load()
    const { openPlainPort, secureOrigin } = this.#options
    if (openPlainPort === undefined) return loaded.link(user, secureOrigin())
    this.#plainPort ??= openPlainPort(async (exchange, port) => {
      if (this.isAt(exchange.target)) await loaded.answerPlain(exchange, port)
      else exchange.send(404, { 'content-type': 'text/plain; charset=utf-8' }, 'This port serves the console alone.\n')
    })
    const { origin } = await this.#plainPort.catch((cause: unknown) => {
      this.#plainPort = undefined
      throw failed(503, 'ServiceUnavailable', 'the port of the console cannot be opened', { cause })
    })
    return loaded.link(user, origin)
  }

  /** Ends all sessions, and closes the port. */
  async close(): Promise<void> {
    const loaded = await this.#console
    loaded?.close()
    await (await this.#plainPort)?.close()
  }

  #load(): Promise<Console> {
    this.#console ??= import('./console.ts').then(({ Console: Loaded }) => new Loaded(this.#options))
    return this.#console
  }
}
