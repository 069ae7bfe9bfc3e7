import { playFile } from './play-file.ts'

playFile('level-1.25.jsonl', {
  level: '1.25',
  shows: {
    'job-backoff-1.25': '22',
    'ds-unready-roll-1.25': '17',
    'sts-min-ready-roll-1.25': '30',
    'pdb-bare-percent-1.25': '05',
    'pv-expand-1.25': '21',
  },
})
