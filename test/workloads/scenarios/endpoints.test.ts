import { playFile } from './play-file.ts'

playFile('ep.jsonl', {
  level: '1.37',
  differences: { 'ep-headless 1': 'two controllers make the Endpoints and the EndpointSlice, and either may be the first' },
})
