import { playFile } from './play-file.ts'

playFile('pv.jsonl', { level: '1.37', shows: { 'pv-expand': '21' } })
