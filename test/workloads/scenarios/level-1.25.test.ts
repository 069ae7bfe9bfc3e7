import { playFile } from './play-file.ts'

playFile('level-1.25.jsonl', {
  level: '1.25',
  shows: {
    'job-backoff-1.25': '22',
    'ds-unready-roll-1.25': '17',
    'sts-min-ready-roll-1.25': '30',
    // The recorded manager ignored Pods without a controller, as later releases do, and its pass did not fail.
    'pdb-bare-percent-1.25': '05',
    'pv-expand-1.25': '21',
    'ds-taint-noschedule-1.25': '11',
    'dep-strategy-switch-1.25': '35 37',
    'ep-mirror-v6-1.25': '38',
  },
})
