import { setting, settingTypes } from '@orch/platform'

const { bool, int } = settingTypes

const count = int({ min: 0, max: 1_000_000 })

/** How many requests a gateway works on at a time. */
export const flowControlSettings = {
  enablePriorityAndFairness: setting({
    flag: '--enable-priority-and-fairness',
    env: 'ORCH_ENABLE_PRIORITY_AND_FAIRNESS',
    type: bool,
    default: 'true',
    group: 'Flow control',
    doc: 'Limits concurrent requests by FlowSchemas and PriorityLevelConfigurations. Without it there is one limit for reads and one for writes.',
  }),
  maxRequestsInFlight: setting({
    flag: '--max-requests-inflight',
    env: 'ORCH_MAX_REQUESTS_INFLIGHT',
    type: count,
    default: '400',
    group: 'Flow control',
    doc: 'Maximum number of concurrent reads other than watches; 0 means no limit. With priority and fairness only the sum with --max-mutating-requests-inflight is used.',
  }),
  maxMutatingRequestsInFlight: setting({
    flag: '--max-mutating-requests-inflight',
    env: 'ORCH_MAX_MUTATING_REQUESTS_INFLIGHT',
    type: count,
    default: '200',
    group: 'Flow control',
    doc: 'Maximum number of concurrent writes; 0 means no limit. With priority and fairness only the sum with --max-requests-inflight is used.',
  }),
}
