/** A child process of a fuzz run: a server in memory that reports how long its event loop stalled. */
import { createLog } from '@orch/platform'
import { start } from 'orch'

/** The server does not report shorter turns of the event loop. */
const toldFromMs = 40
const tickMs = 10

const log = createLog({ level: 'error', format: 'json', write: (line) => process.send?.({ kind: 'log', line }) })
const server = await start({ profile: process.argv[2] === 'kubernetes' ? 'kubernetes' : 'orch', controllers: [], log })
process.send?.({ kind: 'ready', kubeconfig: server.kubeconfig })

let lastMs = performance.now()
let lastCpu = process.threadCpuUsage()
setInterval(() => {
  const now = performance.now()
  const cpu = process.threadCpuUsage(lastCpu)
  lastCpu = process.threadCpuUsage()
  const cpuMs = (cpu.user + cpu.system) / 1000
  if (cpuMs > toldFromMs) process.send?.({ kind: 'stall', cpuMs, wallMs: now - lastMs, endedAt: Date.now() })
  lastMs = now
}, tickMs)

process.on('disconnect', () => process.exit())
