import { playFile } from './play-file.ts'

playFile('rs.jsonl', {
  level: '1.37',
  shows: {
    'rs-failed-pods': '01 18',
    'rs-template-change': '12',
    'rs-delete-foreground': 'WL-COMMON-09 WL-COMMON-20',
    'rc-adopt': 'WL-COMMON-17',
    'rc-min-ready': '05',
  },
  differences: { 'rs-template-change 3': 'a new Pod is made once the old one is seen as being deleted, and may come before its removal' },
})
