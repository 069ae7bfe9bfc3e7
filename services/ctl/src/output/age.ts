import { printAge, unknownAge } from '@orch/core/table'
import { systemClock } from '@orch/platform'

/** How long ago an RFC 3339 time is: `5m`. */
export function ageOf(time: string | undefined): string {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? unknownAge : printAge(systemClock.now() - at)
}
