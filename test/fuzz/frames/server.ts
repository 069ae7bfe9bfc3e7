/** A child process of a fuzz run of frames: a simulated node with two Pods; reports its memory and how long its event loop was busy. */
import type { ApiObject } from '@orch/core/meta'
import { createLog } from '@orch/platform'
import { start } from 'orch'

const tickMs = 10
const log = createLog({ level: 'error', format: 'json', write: (line) => process.send?.({ kind: 'log', line }) })
const server = await start({ profile: 'kubernetes', nodes: 1, log })
server.nodes.script({}, (c) =>
  c.port(80, async ({ input, write }) => {
    for await (const bytes of input) await write(bytes)
  }),
)
for (const name of ['web', 'shell']) {
  const metadata = { name, namespace: 'default', annotations: { 'simulation.orch.io/logs': 'every 1s: tick' } }
  const spec = { containers: [{ name: 'main', image: 'busybox', stdin: name === 'shell' }] }
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as ApiObject)
}
await server.settled({ within: 60_000 })

let last = process.threadCpuUsage()
let busiestMs = 0
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  busiestMs = Math.max(busiestMs, (user + system) / 1000)
}, tickMs)

process.on('message', () => {
  process.send?.({ kind: 'state', busiestMs, residentMb: process.memoryUsage.rss() / 1024 / 1024 })
  busiestMs = 0
})
process.on('disconnect', () => process.exit())
process.send?.({ kind: 'ready', kubeconfig: server.kubeconfig })
