import { playFile } from './play-file.ts'

playFile('pv.jsonl', { level: '1.37' })
