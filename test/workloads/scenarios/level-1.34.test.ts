import { playFile } from './play-file.ts'

playFile('level-1.34.jsonl', { level: '1.34' })
