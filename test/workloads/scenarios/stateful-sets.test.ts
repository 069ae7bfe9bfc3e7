import { playFile } from './play-file.ts'

playFile('sts.jsonl', {
  level: '1.37',
  shows: { 'sts-partition': '26' },
  differences: { 'sts-parallel 1': 'the recorded controller asked for two Pods at once, and either may be the first' },
})
