import { playFile } from './play-file.ts'

playFile('job.jsonl', { level: '1.37' })
