import { playFile } from './play-file.ts'

playFile('rs.jsonl', { level: '1.37' })
