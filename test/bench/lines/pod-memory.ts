import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure, Line } from '../figure.ts'
import { getRequest } from '../http1-load.ts'
import { fillPods, withConnections, withOrch } from '../shared-server.ts'

const namespaces = Array.from({ length: 10 }, (_, index) => `memory-${index}`)
const each = 1_000

export const podMemory: Line = {
  name: 'pod-memory',
  what: 'memory per Pod of 3 KB (8 KB as served) after 10,000 durable creates, against its bytes: at once, and idle for 12 s',
  run: () =>
    withOrch({}, async (server) => {
      await sleep(4000)
      const before = server.child.anonBytes()
      await fillPods(server, namespaces, each)
      const floor = await withConnections(1, server.port, server, async ([one]) => {
        const answer = await one?.send(getRequest(`/api/v1/namespaces/${namespaces[0]}/pods/p-00000`))
        return answer?.bytes ?? Number.NaN
      })
      const figureOf = (label: string): Figure & { label: string } => {
        const value = (server.child.anonBytes() - before) / (namespaces.length * each)
        const note = 'garbage included; mapped files not'
        return { label, value, unit: 'B', floor, ratio: value / floor, target: 1.8, goal: 1.4, better: 'less', note }
      }
      const atOnce = figureOf('at once')
      await sleep(12_000)
      return [atOnce, figureOf('idle for 12 s')]
    }),
}
