import { playFile } from './play-file.ts'

playFile('cj.jsonl', {
  level: '1.37',
  differences: {
    'cj-replace-running 2': 'the garbage collector deletes the Pod of the old Job while the controller of Jobs creates that of the new one',
  },
})
