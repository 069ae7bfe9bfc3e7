import { SettingsError, type Values } from '@orch/platform'
import type { flowControlSettings } from './settings.ts'

/** How many requests a gateway works on at a time. */
export interface FlowControlOptions {
  readonly isFair: boolean
  readonly readsMax: number
  readonly writesMax: number
}

/** Checks that there is something to divide. */
export function readFlowControl(settings: Values<typeof flowControlSettings>): FlowControlOptions {
  const { enablePriorityAndFairness: isFair, maxRequestsInFlight: readsMax, maxMutatingRequestsInFlight: writesMax } = settings
  if (isFair && readsMax + writesMax === 0) {
    throw new SettingsError(
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0: priority and fairness has nothing to divide; give one of them, or --enable-priority-and-fairness=false',
    )
  }
  return { isFair, readsMax, writesMax }
}
