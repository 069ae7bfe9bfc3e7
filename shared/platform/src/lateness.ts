import type { CallContext } from '@orch/core/contracts'
import type { Clock } from './clock.ts'

/** Returns a function that tells if a caller no longer waits: it has cancelled the call, or its time, counted from now, is over. */
export function latenessOf(context: CallContext | undefined, clock: Clock): () => boolean {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = context ?? {}
  const deadlineMs = clock.monotonic() + timeoutMs
  return () => clock.monotonic() > deadlineMs || signal?.aborted === true
}
