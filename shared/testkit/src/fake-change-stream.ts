import { type ChangeMessage, changeMessage } from '@orch/core/contracts'
import type { ChangeListener, ChangeStream } from '@orch/platform/nats'
import { codecOf } from '@orch/platform/rpc'

/** A change stream in memory, with the behaviour of JetStream, that a test can break in every way. */
export interface FakeChangeStream extends ChangeStream {
  /** All messages that the stream has accepted since it was created. */
  readonly messages: readonly ChangeMessage[]
  readonly followers: number
  /** Decides how a message reaches the followers; by default it arrives once, unchanged. */
  deliver: (message: ChangeMessage) => readonly ChangeMessage[]
  /** Refuses everything and ends every follower, until `goUp`. */
  goDown(): void
  goUp(): void
  /** Removes all messages, as an operator can; the sequence continues. */
  purge(): void
  /** Simulates a server that has lost the stream: it is created again, with a sequence from 0. */
  lose(): void
}

const codec = codecOf(changeMessage)

/** A message crosses the stream as bytes. */
function copyOf(message: ChangeMessage): ChangeMessage {
  return codec.decode(codec.encode(message))
}

/** A stream without messages. */
export function createFakeChangeStream(): FakeChangeStream {
  const followers = new Set<ChangeListener>()
  let kept: { readonly id: string; readonly message: ChangeMessage }[] = []
  let messages: ChangeMessage[] = []
  let ids = new Set<string>()
  let sequence = 0
  let isDown = false
  let exists = false
  const answer = <T>(make: () => T): Promise<T> => (isDown ? Promise.reject(new Error('NATS is down')) : Promise.resolve().then(make))
  const endAll = () => {
    for (const follower of [...followers]) {
      followers.delete(follower)
      follower.onEnd(new Error('the connection has broken'))
    }
  }
  const stream: FakeChangeStream = {
    get messages() {
      return messages
    },
    get followers() {
      return followers.size
    },
    deliver: (message) => [message],
    prepare: () =>
      answer(() => {
        exists = true
        const last = kept.at(-1)
        return { sequence, id: last?.id, message: last?.message }
      }),
    publish(message, { id, expectedSequence, expectedId }) {
      if (isDown || !exists) return Promise.reject(new Error('no response from stream'))
      if (ids.has(id)) return Promise.reject(new Error(`${id} is a duplicate`))
      if (expectedSequence !== sequence) return Promise.reject(new Error(`wrong last sequence: ${sequence}`))
      const lastId = kept.at(-1)?.id
      if (expectedId !== undefined && expectedId !== lastId) return Promise.reject(new Error(`wrong last msg ID: ${lastId}`))
      sequence += 1
      ids.add(id)
      const frozen = copyOf(message)
      kept.push({ id, message: frozen })
      messages.push(frozen)
      for (const arrived of stream.deliver(frozen)) {
        for (const follower of followers) follower.onMessage(copyOf(arrived), sizeOf(arrived))
      }
      return Promise.resolve()
    },
    follow: (listener) =>
      answer(() => {
        if (!exists) throw new Error('stream not found')
        followers.add(listener)
        return () => void followers.delete(listener)
      }),
    goDown() {
      isDown = true
      endAll()
    },
    goUp() {
      isDown = false
    },
    purge() {
      kept = []
    },
    lose() {
      kept = []
      messages = []
      ids = new Set()
      sequence = 0
      exists = false
      endAll()
    },
    close: async () => {},
  }
  return stream
}

function sizeOf(message: ChangeMessage): number {
  return message.kind === 'changes' ? message.changes.reduce((sum, { after }) => sum + 100 + (after?.value.length ?? 0), 0) : 50
}
