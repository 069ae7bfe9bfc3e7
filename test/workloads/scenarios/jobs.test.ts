import { playFile } from './play-file.ts'

playFile('job.jsonl', {
  level: '1.37',
  shows: {
    'job-one': '01 18 35 40',
    'job-parallel': '05',
    'job-indexed': '03 06 13',
    'job-indexed-fail': '06 15',
    'job-backoff-0-many': '24 27 28 38',
    'job-restarts': '25',
    'job-ttl': '43',
    'job-suspend': '17 19 39',
    'job-pfp-index': '33',
    'job-max-failed-indexes': '27 33',
    'job-managed-by': '42',
    'job-replace-failed': '34',
    'job-elastic': '10',
    'job-manual-selector': '11',
    'job-delete-background': '44',
    'job-zero-completions': '09 35 38',
    'job-two-failures-one-success': '04 20',
  },
})
