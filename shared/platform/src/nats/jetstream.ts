import {
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamUpdateConfig,
} from '@nats-io/jetstream'
import { headers, type MsgHdrs, type NatsConnection, nanos } from '@nats-io/transport-node'
import { type ChangeMessage, changeMessage } from '@orch/core/contracts'
import { systemClock } from '../clock.ts'
import { codecOf } from '../codec.ts'
import { AcknowledgedPublisher } from './acknowledgements.ts'
import type { ChangeListener, ChangeStream, LastMessage, PublishOptions } from './change-stream.ts'
import type { Nats } from './connection.ts'
import {
  changeStreamAgeMsMaxDefault,
  changeStreamBytesMaxDefault,
  natsDuplicatesWindowMs,
  natsFollowerIdleMs,
  natsTimeoutMs,
} from './limits.ts'

/** Options of a stream of changes. */
export interface JetStreamOptions {
  readonly nats: Nats
  /** See `streamName`. */
  readonly name: string
  /** The storage of a new stream; an existing one is unchanged. Either is safe, since storage is the source of truth. */
  readonly storage?: 'memory' | 'file'
  readonly replicas?: number
  readonly bytesMax?: number
  readonly ageMsMax?: number
}

/**
 * The name of a control plane's stream, from its profile and its prefix in etcd, so that two control planes may share a NATS.
 * Characters that are invalid in a name become codes: `/prod/eu` is `=2fprod=2feu`.
 */
export function streamName({ profile, prefix }: { readonly profile: string; readonly prefix: string }): string {
  const printed = prefix.replace(/[^A-Za-z0-9-]/gu, (character) => `=${character.codePointAt(0)?.toString(16)}`)
  return `${profile}_${printed}_changes`
}

/** The change stream on JetStream. Subjects contain the epoch. */
export function createJetStream(options: JetStreamOptions): ChangeStream {
  return new JetStreamOfChanges(options)
}

const idHeader = 'Nats-Msg-Id'
const codec = codecOf(changeMessage)

/** A connection, and the parts that use it. */
interface Connected {
  readonly of: NatsConnection
  readonly client: JetStreamClient
  /** Created on demand: subscribers need no publisher and have no options for it. */
  publisher(): AcknowledgedPublisher
}

class JetStreamOfChanges implements ChangeStream {
  readonly #options: JetStreamOptions
  #client: Connected | undefined

  constructor(options: JetStreamOptions) {
    this.#options = options
  }

  async prepare(): Promise<LastMessage> {
    const { nats, name } = this.#options
    // Connect before any message, so that no message overtakes another that waits for the connection.
    await this.#connect()
    const { streams } = await jetstreamManager(await nats.connection(), { checkAPI: false, timeout: natsTimeoutMs })
    const existing = await streams.info(name).catch(orAbsent)
    const { state } = existing === undefined ? await streams.add(this.#config()) : await streams.update(name, this.#limits())
    if (state.last_seq === 0 || state.messages === 0) return { sequence: state.last_seq }
    const last = await streams.getMessage(name, { seq: state.last_seq }).catch(orAbsent)
    if (last === undefined || last === null) return { sequence: state.last_seq }
    return { sequence: last.seq, id: last.header.get(idHeader), message: decode(last.data) }
  }

  async publish(message: ChangeMessage, { id, expectedSequence, expectedId }: PublishOptions): Promise<void> {
    const { name } = this.#options
    if (this.#client === undefined) throw new Error('there is no connection to NATS')
    const { sequence, isDuplicate } = await this.#client.publisher().publish({
      subject: `${name}.${message.epoch}`,
      data: codec.encode(message),
      headers: headersOf({ stream: name, id, expectedSequence, expectedId }),
    })
    if (isDuplicate || sequence !== expectedSequence + 1)
      throw new Error(`message ${id} lies at ${sequence} of the stream, and not at ${expectedSequence + 1}`)
  }

  async follow({ onMessage, onEnd }: ChangeListener): Promise<() => void> {
    const { name } = this.#options
    const { client } = await this.#connect()
    const consumer = await client.consumers.getPushConsumer(name, {
      deliver_policy: DeliverPolicy.New,
      inactive_threshold: nanos(natsFollowerIdleMs),
    })
    let isEnded = false
    let messages: ConsumerMessages | undefined
    const end = (error?: unknown) => {
      if (isEnded) return
      isEnded = true
      messages?.stop()
      onEnd(error)
    }
    const callback = ({ data }: JsMsg) => {
      if (isEnded) return
      const message = decode(data)
      if (message !== undefined) onMessage(message, data.length)
    }
    messages = await consumer.consume({ callback })
    void messages.closed().then(end, end)
    return () => {
      isEnded = true
      messages.stop()
    }
  }

  async close(): Promise<void> {
    await this.#options.nats.close()
  }

  async #connect() {
    const connection = await this.#options.nats.connection()
    if (this.#client?.of === connection) return this.#client
    let publisher: AcknowledgedPublisher | undefined
    const made: Connected = {
      of: connection,
      client: jetstream(connection, { timeout: natsTimeoutMs }),
      publisher() {
        publisher ??= new AcknowledgedPublisher({ connection, clock: systemClock, timeoutMs: natsTimeoutMs })
        return publisher
      },
    }
    this.#client = made
    void connection.closed().then(() => {
      if (this.#client === made) this.#client = undefined
    })
    return made
  }

  #config() {
    const { name, storage = 'memory' } = this.#options
    return {
      name,
      retention: RetentionPolicy.Limits,
      storage: storage === 'file' ? StorageType.File : StorageType.Memory,
      ...this.#limits(),
    }
  }

  #limits(): Partial<StreamUpdateConfig> & { subjects: string[] } {
    const { name, replicas = 1, bytesMax = changeStreamBytesMaxDefault, ageMsMax = changeStreamAgeMsMaxDefault } = this.#options
    return {
      subjects: [`${name}.*`],
      discard: DiscardPolicy.Old,
      max_bytes: bytesMax,
      max_age: nanos(ageMsMax),
      duplicate_window: nanos(Math.min(natsDuplicatesWindowMs, ageMsMax)),
      num_replicas: replicas,
    }
  }
}

function headersOf({ stream, id, expectedSequence, expectedId }: PublishOptions & { readonly stream: string }): MsgHdrs {
  const expectations = headers()
  expectations.set(idHeader, id)
  expectations.set('Nats-Expected-Stream', stream)
  expectations.set('Nats-Expected-Last-Sequence', String(expectedSequence))
  if (expectedId !== undefined) expectations.set('Nats-Expected-Last-Msg-Id', expectedId)
  return expectations
}

/** Decodes a message; undefined if an incompatible version wrote it. The gap in revisions then shows with later messages. */
function decode(data: Uint8Array): ChangeMessage | undefined {
  try {
    return codec.decode(data)
  } catch {
    return undefined
  }
}

function orAbsent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && (error.code === JetStreamApiCodes.StreamNotFound || error.status === 404)) return undefined
  throw error
}
