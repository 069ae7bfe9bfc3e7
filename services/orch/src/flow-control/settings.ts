import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'

const { bool, int } = settingTypes
const setting = settingsOf('Flow control')

const count = int({ min: 0, max: 1_000_000 })

export const flowControlSettings = {
  flowControl: {
    isFair: setting(
      { flag: '--enable-priority-and-fairness', type: bool, default: 'true' },
      'Limits concurrent requests by FlowSchemas and PriorityLevelConfigurations. Without it there is one limit for reads and one for writes.',
    ),
    readsMax: setting(
      { flag: '--max-requests-inflight', type: count, default: '400' },
      'Maximum number of concurrent reads other than watches; 0 means no limit. With priority and fairness only the sum with --max-mutating-requests-inflight is used.',
    ),
    writesMax: setting(
      { flag: '--max-mutating-requests-inflight', type: count, default: '200' },
      'Maximum number of concurrent writes; 0 means no limit. With priority and fairness only the sum with --max-requests-inflight is used.',
    ),
  },
}

export type FlowControlOptions = Values<typeof flowControlSettings>['flowControl']

/** Checks that the limits leave room for requests. */
export function readFlowControl({ flowControl }: Values<typeof flowControlSettings>): FlowControlOptions {
  if (flowControl.isFair && flowControl.readsMax + flowControl.writesMax === 0) {
    throw new SettingsError(
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0: priority and fairness has nothing to divide; give one of them, or --enable-priority-and-fairness=false',
    )
  }
  return flowControl
}
