import type { ChangeMessage, ListPart, StorageService, WatchPart, WatchService } from '@orch/core/contracts'
import { PushStream } from '@orch/platform'

/** The faults that a scenario causes once to show that the checker finds them. */
export type Fault = 'lose' | 'double' | 'swap' | 'delay' | 'stale read'

/** The faults of published messages in transit. */
export type ChangeStreamFault = 'lose' | 'double' | 'swap' | 'delay' | 'stale position'

/** A delivery with faults in one of ten messages. */
export function faultyDelivery(
  fault: ChangeStreamFault | undefined,
  random: () => number,
): (message: ChangeMessage) => readonly ChangeMessage[] {
  const held: ChangeMessage[] = []
  let stale: ChangeMessage | undefined
  return (message) => {
    if (fault === undefined) return [message]
    if (message.kind === 'position') {
      if (fault !== 'stale position') return fault === 'delay' ? [message, ...held.splice(0)] : [message]
      stale ??= message
      return [stale]
    }
    if (fault === 'stale position' || (held.length === 0 && random() < 0.1)) {
      if (fault === 'double') return [message, message]
      if (fault === 'swap' || fault === 'delay') held.push(message)
      return []
    }
    return fault === 'swap' ? [message, ...held.splice(0)] : [message]
  }
}

/** A watch service with a fault in one of its pieces of events. */
export function faultyWatch(watch: WatchService, fault: Fault | undefined, onPlanted: () => void): WatchService {
  if (fault === undefined || fault === 'stale read') return watch
  let countdown = 20
  const isDue = () => {
    countdown -= 1
    return countdown === 0
  }
  return {
    subscribe(request, context) {
      const source = watch.subscribe(request, context)
      const parts = new PushStream<WatchPart>({ onClose: () => source.close() })
      let held: WatchPart | undefined
      let isPlanted = false
      const give = (part: WatchPart) => {
        // The fault counts only now: a subscription that ends with the bad piece resumes before it.
        if (isPlanted) onPlanted()
        isPlanted = false
        if (held !== undefined && (fault === 'swap' ? part.kind === 'events' : part.kind === 'position')) {
          parts.push(part)
          parts.push(held)
          held = undefined
          isPlanted = true
        } else if (part.kind === 'events' && held === undefined && isDue()) plant(part)
        else parts.push(part)
      }
      const plant = (part: WatchPart) => {
        isPlanted = fault === 'lose' || fault === 'double'
        if (!isPlanted) held = part
        if (fault === 'double') for (let times = 0; times < 2; times += 1) parts.push(part)
      }
      const forward = async () => {
        for await (const part of source) give(part)
        parts.end()
      }
      forward().catch((error: unknown) => parts.fail(error))
      return parts
    },
  }
}

/** A storage service that once repeats its first answer to a list with the same selector. */
export function faultyStorage(storage: StorageService, fault: Fault | undefined, onPlanted: () => void): StorageService {
  if (fault !== 'stale read') return storage
  const firstAnswers = new Map<string, Promise<ListPart[]>>()
  let countdown = 10
  const { changes, commit, get, getAt, history, revisionAt, status } = storage
  return {
    ...{ changes, commit, get, getAt, history, revisionAt, status },
    list(request, context) {
      const key = JSON.stringify(request.selection)
      const first = firstAnswers.get(key)
      countdown -= 1
      if (first !== undefined && countdown <= 0) {
        countdown = Number.POSITIVE_INFINITY
        onPlanted()
        return streamOf(first)
      }
      const answer = readAll(storage.list(request, context))
      if (first === undefined) firstAnswers.set(key, answer)
      return streamOf(answer)
    },
  }
}

async function readAll(stream: AsyncIterable<ListPart>): Promise<ListPart[]> {
  const parts: ListPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

function streamOf(answer: Promise<ListPart[]>): PushStream<ListPart> {
  const stream = new PushStream<ListPart>()
  const forward = async () => {
    for (const part of await answer) stream.push(part)
    stream.end()
  }
  forward().catch((error: unknown) => stream.fail(error))
  return stream
}
