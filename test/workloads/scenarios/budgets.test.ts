import { playFile } from './play-file.ts'

playFile('pdb.jsonl', { level: '1.37' })
