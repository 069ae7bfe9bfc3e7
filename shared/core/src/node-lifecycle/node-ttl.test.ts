import { expect, test } from 'vitest'
import { NodeTtl } from './node-ttl.ts'

test('WL-NODE-13: the TTL grows with the number of nodes, and shrinks only below a lower number', () => {
  const ttl = new NodeTtl()
  const changes: string[] = []
  const look = (nodes: number, before: number) => {
    if (ttl.seconds !== before) changes.push(`${nodes}: ${ttl.seconds}`)
  }
  for (let nodes = 1; nodes <= 2_001; nodes++) {
    const before = ttl.seconds
    ttl.add()
    look(nodes, before)
  }
  for (let nodes = 2_000; nodes >= 0; nodes--) {
    const before = ttl.seconds
    ttl.remove()
    look(nodes, before)
  }
  expect(changes).toEqual(['101: 15', '501: 30', '1001: 60', '2001: 300', '1799: 60', '899: 30', '449: 15', '89: 0'])
})
