import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'
import { statusKeeping } from './object-part.ts'

/** The first level with the time of a phase change in a volume. */
const phaseTimeSince = 29

const part = statusKeeping([])

/** A volume stores the time of its last phase change. */
export const persistentVolumeStrategy: RulesOf<'core/v1.PersistentVolume'> = {
  prepareCreate(volume, _names, _user, level) {
    const { creationTimestamp } = volume.metadata
    if (level < phaseTimeSince || creationTimestamp == null) return
    volume.status = { ...volume.status, lastPhaseTransitionTime: creationTimestamp }
  },
  status: { ...part, merge: (given, live, now) => withPhaseTime(part.merge(given, live, now), live, now) },
}

function withPhaseTime(object: ApiObject, live: ApiObject, now: string): ApiObject {
  const [status, before] = [statusOf(object), statusOf(live)]
  const { lastPhaseTransitionTime: time } = status
  const isSamePhase = status.phase === before.phase
  if (isSamePhase && time == null) return withTime(object, before.lastPhaseTransitionTime)
  return !isSamePhase && (time == null || time === before.lastPhaseTransitionTime) ? withTime(object, now) : object
}

type VolumeStatus = BuiltIn<'core/v1.PersistentVolumeStatus'>

function statusOf({ status }: ApiObject): VolumeStatus {
  return status ?? {}
}

function withTime(object: ApiObject, time: string | null | undefined): ApiObject {
  return time == null ? object : { ...object, status: { ...statusOf(object), lastPhaseTransitionTime: time } }
}
