import { playFile } from './play-file.ts'

const equalPods = 'of Pods that are equal in all that is compared, the recorded controller took another one'
const paceOfReadiness = 'how many of the Pods that become ready one after the other a step sees depends on the pace of the requests'
const kubelet = 'the played kubelet removes a Pod when all else has been done, the recorded one at once'
const deletedSooner = 'the recorded Deployment was deleted before its controller had seen its Pods become ready'

playFile('dep.jsonl', {
  level: '1.37',
  shows: {
    'dep-first-rollout': '57',
    'dep-recreate-failed-pod': '37',
    'dep-annotations': '54',
    'dep-pod-killed': '25 51 WL-COMMON-30',
    'dep-terminating': 'WL-COMMON-33',
    'dep-rs-scaled-by-hand': '33',
    'dep-selector-two': '15',
  },
  differences: {
    'dep-rolling-surge0 4': equalPods,
    'dep-rolling-surge0 5': equalPods,
    'dep-proportional-three 3': paceOfReadiness,
    'dep-proportional-three 4': paceOfReadiness,
    'dep-proportional-three 5': paceOfReadiness,
    'dep-history-1 4': kubelet,
    'dep-delete-foreground 2': deletedSooner,
  },
})
