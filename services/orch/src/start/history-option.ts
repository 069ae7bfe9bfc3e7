import { durationToMs, parseDuration } from '@orch/core/meta'
import { SettingsError } from '@orch/platform'

/**
 * Retention of the history: `all` keeps changes of any age, within 256 MiB; a time such as `5m` those of that age; `bytes` as much as has
 * room. What has no room is forgotten, oldest first, with one warning in the log.
 */
export type HistoryOption = 'all' | (string & {}) | { readonly bytes: number }

/** The retention that the option means. */
export interface HistoryRetention {
  /** Infinity: changes of any age. */
  readonly watchHistoryMs: number
  /** Absent: storage's bound. */
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
