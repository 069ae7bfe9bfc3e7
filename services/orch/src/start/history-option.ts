import { durationToMs, parseDuration } from '@orch/core/meta'
import { SettingsError } from '@orch/platform'

/**
 * Retention of the history: `all` keeps changes of any age, within 256 MiB; a time such as `5m` keeps changes of that age; `bytes` limits the size.
 * The oldest changes are dropped first, with one warning in the log.
 */
export type HistoryOption = 'all' | (string & {}) | { readonly bytes: number }

/** The parsed option. */
export interface HistoryRetention {
  /** Maximum age; Infinity for no limit. */
  readonly watchHistoryMs: number
  /** Undefined for storage's default. */
  readonly pastBytesMax?: number
}

/** A failed test needs the whole history, but some tests write more than memory can hold. */
const allBytesMax = 256 * 1024 * 1024

/** Reads the option. Throws a SettingsError for other values. */
export function readHistory(option: HistoryOption): HistoryRetention {
  if (option === 'all') return { watchHistoryMs: Number.POSITIVE_INFINITY, pastBytesMax: allBytesMax }
  if (typeof option === 'string') {
    const duration = parseDuration(option)
    const ms = duration === undefined ? 0 : durationToMs(duration)
    if (ms > 0) return { watchHistoryMs: ms }
  } else if (Number.isSafeInteger(option.bytes) && option.bytes > 0) {
    return { watchHistoryMs: Number.POSITIVE_INFINITY, pastBytesMax: option.bytes }
  }
  throw new SettingsError(`history: ${JSON.stringify(option)}: must be 'all', a time such as '5m', or { bytes } above 0`)
}
