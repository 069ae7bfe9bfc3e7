import type { Change, ChangeMessage } from '@orch/core/contracts'
import type { PublisherLimits } from './limits.ts'

/** The carriers of messages never receive objects of these resources. */
const secretResources = ['core/secrets/']

/** The messages for a list of changes, in order: many changes per message, and a separate message for a change that is sent as a reference. */
export function* toMessages(
  changes: readonly Change[],
  {
    epoch,
    publishedMs,
    limits,
    isEncrypted = () => false,
  }: {
    readonly epoch: string
    readonly publishedMs: number
    readonly limits: Pick<PublisherLimits, 'messageBytesMax' | 'changeBytesMax'>
    readonly isEncrypted?: ((key: string) => boolean) | undefined
  },
): Generator<ChangeMessage, void, undefined> {
  let together: Change[] = []
  let bytes = 0
  for (const whole of changes) {
    const change = withoutOldContent(whole)
    const size = sizeOf(change)
    const isReference =
      size > limits.changeBytesMax || secretResources.some((prefix) => change.key.startsWith(prefix)) || isEncrypted(change.key)
    if (together.length > 0 && (isReference || bytes + size > limits.messageBytesMax)) {
      yield { kind: 'changes', epoch, changes: together, publishedMs }
      together = []
      bytes = 0
    }
    if (isReference) {
      const { revision, previous, key } = change
      yield { kind: 'reference', epoch, revision, previous, key }
      continue
    }
    together.push(change)
    bytes += size
  }
  if (together.length > 0) yield { kind: 'changes', epoch, changes: together, publishedMs }
}

/** Subscribers hold the replaced object of an update, or request it from storage. */
function withoutOldContent(change: Change): Change {
  const { after, before } = change
  if (after === undefined || before?.value === undefined) return change
  const { value: _value, ...known } = before
  return { ...change, before: known }
}

/** The size of a change on the wire without its values and facts. */
const changeOverheadBytes = 100

function sizeOf({ key, after, before }: Change): number {
  let bytes = changeOverheadBytes + key.length + (after?.value.length ?? 0) + (before?.value?.length ?? 0)
  for (const facts of [after?.facts, before?.facts]) {
    if (facts === undefined) continue
    for (const map of [facts.labels, facts.fields]) for (const key in map) bytes += key.length + (map[key]?.length ?? 0) + 8
  }
  return bytes
}
