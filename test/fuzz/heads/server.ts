/** A child process of a fuzz run of heads: a server in memory with the given flags. */
import { createLog } from '@orch/platform'
import { start } from 'orch'

const log = createLog({ level: 'error', format: 'json', write: (line) => process.send?.({ kind: 'log', line }) })
const server = await start({ controllers: [], flags: process.argv.slice(2), log })
process.send?.({ kind: 'ready', kubeconfig: server.kubeconfig })
process.on('disconnect', () => process.exit())
