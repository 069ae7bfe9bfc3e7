import { playFile } from './play-file.ts'

playFile('ds.jsonl', {
  level: '1.37',
  shows: { 'ds-first': '30', 'ds-unschedulable': '05', 'ds-history': '21 24', 'ds-delete-orphan': '31' },
  differences: { 'ds-delete 2': 'the garbage collector deletes the Pod and the revision at once, and either may be the first' },
})
