import { printTime, toInstant } from '@orch/core/meta'
import type { RulesOf } from './kind-rules.ts'
import { statusKeeping } from './object-part.ts'

const gate = 'PersistentVolumeLastPhaseTransitionTime'

/** A volume stores the time of its last phase change. */
export const persistentVolumeStrategy: RulesOf<'core/v1.PersistentVolume'> = {
  deriveNew(volume, { isGateOn }) {
    const { creationTimestamp } = volume.metadata
    if (!isGateOn(gate) || creationTimestamp == null) return
    volume.status = { ...volume.status, lastPhaseTransitionTime: creationTimestamp }
  },
  status: statusKeeping([]),
  // Here the time has no owner among the managers.
  completeUpdate(volume, live, { clock, subresource, isGateOn }) {
    if (subresource !== 'status' || !isGateOn(gate)) return
    const { lastPhaseTransitionTime: time } = volume.status
    const { phase, lastPhaseTransitionTime: before } = live.status
    const isSamePhase = volume.status.phase === phase
    if (isSamePhase ? time != null : time != null && time !== before) return
    const next = isSamePhase ? before : printTime(toInstant(clock.now()))
    if (next != null) volume.status = { ...volume.status, lastPhaseTransitionTime: next }
  },
}
