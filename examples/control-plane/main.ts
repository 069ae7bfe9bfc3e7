import { writeFileSync } from 'node:fs'
import { start } from 'orch'
import { runController } from './controller.ts'

const server = await start({ profile: 'kubernetes', crds: ['./kinds.yaml'] })
writeFileSync('admin.conf', server.kubeconfig, { mode: 0o600 })
console.log(`serving databases and backups at ${server.url}\nexport KUBECONFIG=${process.cwd()}/admin.conf`)

const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
process.once('SIGTERM', () => ending.abort())
await runController(server.client, ending.signal)
await server.stop()
