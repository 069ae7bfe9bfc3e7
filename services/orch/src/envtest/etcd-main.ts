import { mkdirSync, realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { getSystemErrorMessage } from 'node:util'
// Loads only a part of the platform: harnesses start this program for each environment and need it at once.
import { messageOf, systemErrnoOf } from '@orch/platform/errors'
import { Guard } from '@orch/platform/guard'
import { type DataFolderAnswer, dataFolderPath, type EtcdWords, EtcdWordsError, readEtcdWords } from './etcd-words.ts'

/**
 * `etcd` of the test assets: it owns the data folder of the API server of the assets, and reports its path. It does not implement etcd's protocol.
 */
async function run(words: readonly string[]): Promise<void> {
  const { listen, dataFolder } = readEtcdWords(words)
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const answers = {
    [dataFolderPath]: { dataFolder: realpathSync(dataFolder) } satisfies DataFolderAnswer,
    '/health': { health: 'true', reason: '' },
    '/version': { etcdserver: '3.5.4', etcdcluster: '3.5.0' },
  }
  const guard = new Guard((error) => void process.stderr.write(`etcd: ${messageOf(error)}\n`))
  for (const address of listen) await listenAt(serverOf(answers, guard), address)
}

function serverOf(answers: Readonly<Record<string, object>>, guard: Guard): Server {
  const server = createServer((request, response) => {
    const end = () => void request.socket.destroy()
    for (const emitter of [request, response]) guard.watch(emitter, 'request', end)
    guard.run('request', end, () => {
      const answer = answers[request.url ?? '']
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(
        `${JSON.stringify(answer ?? { error: 'this etcd holds the data of an orch API server for tests; it has no API of its own' })}\n`,
      )
    })
  })
  return server.prependListener('connection', (socket) => void guard.watch(socket, 'connection', () => socket.destroy()))
}

function listenAt(server: Server, { host, port }: EtcdWords['listen'][number]): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(0))
try {
  await run(process.argv.slice(2))
} catch (error) {
  const errno = systemErrnoOf(error)
  const message = messageOf(error)
  const text = error instanceof EtcdWordsError || errno === undefined ? message : `${message} (${getSystemErrorMessage(errno)})`
  process.stderr.write(`etcd: ${text}\n`, () => process.exit(1))
}
