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
    doc: 'FlowSchemas and PriorityLevelConfigurations divide what is done at a time; without it reads and writes have one bound each.',
  }),
  maxRequestsInFlight: setting({
    flag: '--max-requests-inflight',
    env: 'ORCH_MAX_REQUESTS_INFLIGHT',
    type: count,
    default: '400',
    group: 'Flow control',
    doc: 'Reads that are worked on at a time, watches aside; 0 is no bound. With priority and fairness only the sum with the writes counts.',
  }),
  maxMutatingRequestsInFlight: setting({
    flag: '--max-mutating-requests-inflight',
    env: 'ORCH_MAX_MUTATING_REQUESTS_INFLIGHT',
    type: count,
    default: '200',
    group: 'Flow control',
    doc: 'Writes that are worked on at a time; 0 is no bound. With priority and fairness only the sum with the reads counts.',
  }),
}
