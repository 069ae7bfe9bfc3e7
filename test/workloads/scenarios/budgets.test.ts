import { playFile } from './play-file.ts'

playFile('pdb.jsonl', {
  level: '1.37',
  shows: {
    'pdb-min-number': '01 09 10 12',
    'pdb-min-percent': '04 08',
    'pdb-two-owners': '04 08',
    'pdb-bare-percent': '05 08',
    'pdb-no-pods': '08 15',
    'pdb-unhealthy-policy': '18',
    'pdb-two': '13',
    'pdb-change': '09',
  },
})
