import { isRefusal, type ResourceClient } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { type Clock, sleep, systemClock } from '@orch/platform'

/** The watched object, and the signal. */
export interface Following {
  readonly namespace: string | undefined
  readonly name: string
  /** True for the awaited state. An absent object is `undefined`. */
  readonly isMet: (object: ApiObject | undefined) => boolean
  readonly signal: AbortSignal
  readonly clock?: Clock
}

/** Delay between a watch that the server has ended and the next list. */
const pauseMs = 1_000

/**
 * Resolves with true when the object meets the condition, or with false when the signal is aborted. A watch that the server ends, or that breaks off, is
 * followed by another list, as it says nothing about the object.
 */
export async function untilMet(
  collection: Pick<ResourceClient, 'list' | 'watch'>,
  { namespace, name, isMet, signal, clock = systemClock }: Following,
): Promise<boolean> {
  const select = { namespace, fieldSelector: `metadata.name=${name}` }
  for (;;) {
    const { items, metadata } = await collection.list(select)
    if (isMet(items[0])) return true
    if (await isMetLater(collection, { ...select, resourceVersion: metadata.resourceVersion, signal }, isMet)) return true
    if (signal.aborted) return false
    await sleep(clock, pauseMs, signal)
    if (signal.aborted) return false
  }
}

async function isMetLater(
  collection: Pick<ResourceClient, 'watch'>,
  options: Parameters<ResourceClient['watch']>[0] & { readonly signal: AbortSignal },
  isMet: Following['isMet'],
): Promise<boolean> {
  let hasBegun = false
  try {
    const events = await collection.watch(options)
    hasBegun = true
    for await (const { type, object } of events) if (type !== 'BOOKMARK' && isMet(type === 'DELETED' ? undefined : object)) return true
    return false
  } catch (error) {
    const isExpired = isRefusal(error, [410])
    if (hasBegun || isExpired || options.signal.aborted) return false
    throw error
  }
}
