import { playFile } from './play-file.ts'

const noCondition = 'an eviction does not set the condition DisruptionTarget of the Pod yet'

playFile('pdb.jsonl', {
  level: '1.37',
  differences: { 'pdb-min-number 4': noCondition, 'pdb-min-number 5': noCondition, 'pdb-unhealthy-policy 4': noCondition },
})
