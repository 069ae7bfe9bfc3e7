import { playFile } from './play-file.ts'

playFile('cj.jsonl', {
  level: '1.37',
  shows: {
    'cj-fire': '12 13 19',
    'cj-fail': '12 19',
    'cj-suspended': '18',
    'cj-job-deleted': '13 20',
    'cj-forbid-skip': '16',
    'cj-replace-running': '17',
    'cj-history-success': '22',
    'cj-history-failed': '22',
  },
  differences: {
    'cj-replace-running 2': 'the garbage collector deletes the Pod of the old Job while the controller of Jobs creates that of the new one',
  },
})
