import { printAge, unknownAge } from '@orch/core/table'
import { systemClock } from '@orch/platform'

/** The age of an RFC 3339 time: `5m`. */
export function ageOf(time: string | undefined): string {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? unknownAge : printAge(systemClock.now() - at)
}
