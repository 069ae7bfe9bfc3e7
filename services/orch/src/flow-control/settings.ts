import { settingsOf, settingTypes } from '@orch/platform'

const { bool, int } = settingTypes
const setting = settingsOf('Flow control')

const count = int({ min: 0, max: 1_000_000 })

/** How many requests a gateway works on at a time. */
export const flowControlSettings = {
  enablePriorityAndFairness: setting({
    flag: '--enable-priority-and-fairness',
    type: bool,
    default: 'true',
    doc: 'Limits concurrent requests by FlowSchemas and PriorityLevelConfigurations. Without it there is one limit for reads and one for writes.',
  }),
  maxRequestsInFlight: setting({
    flag: '--max-requests-inflight',
    type: count,
    default: '400',
    doc: 'Maximum number of concurrent reads other than watches; 0 means no limit. With priority and fairness only the sum with --max-mutating-requests-inflight is used.',
  }),
  maxMutatingRequestsInFlight: setting({
    flag: '--max-mutating-requests-inflight',
    type: count,
    default: '200',
    doc: 'Maximum number of concurrent writes; 0 means no limit. With priority and fairness only the sum with --max-requests-inflight is used.',
  }),
}
