import type { CallContext } from '@orch/core/contracts'
import type { Clock } from './clock.ts'

/** Tells whether the caller of a call no longer waits: its time is over, counted from now, or it has cancelled the call. */
export function latenessOf(context: CallContext | undefined, clock: Clock): () => boolean {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = context ?? {}
  const deadlineMs = clock.monotonic() + timeoutMs
  return () => clock.monotonic() > deadlineMs || signal?.aborted === true
}
