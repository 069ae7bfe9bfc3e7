import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangeMessage } from '@orch/core/contracts'
import { createJetStream, createNats, streamName } from '@orch/platform/nats'
import { findBackend } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withoutPrograms } from '../programs.ts'
import { deployFolder } from './manifests.ts'

const backend = await findBackend('nats-server')
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : withoutPrograms('openssl')

/** nats-server with the deployed configuration, except the folders and the port. */
async function openDeployedNats() {
  const folder = mkdtempSync(join(tmpdir(), 'orch-nats-'))
  execFileSync('sh', [join(deployFolder, 'certificates.sh'), folder], { stdio: 'ignore' })
  const configuration = readFileSync(join(deployFolder, 'kustomize/nats/nats-server.conf'), 'utf8')
    .replace('/trust/tls.crt', join(folder, 'nats.crt'))
    .replace('/trust/tls.key', join(folder, 'nats.key'))
    .replace('/trust/ca.crt', join(folder, 'ca.crt'))
    .replace('/data/jetstream', join(folder, 'jetstream'))
    .replace('port: 4222', 'host: "127.0.0.1"\nport: -1')
    .replace('http_port: 8222', `ports_file_dir: "${folder}"`)
  const file = join(folder, 'nats-server.conf')
  writeFileSync(file, configuration)
  const server = spawn(backend.kind === 'found' ? backend.path : '', ['-c', file], {
    env: { POD_NAME: 'only' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(server, 'exit')
  onTestFinished(async () => {
    server.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  let told = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      told += chunk.toString()
      if (told.includes('Server is ready')) resolve()
    })
    exited.then(() => reject(new Error(told)), reject)
  })
  const port = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(told)?.[1] ?? told
  const as = (role: string) => {
    const tls = { caFile: join(folder, 'ca.crt'), certFile: join(folder, `${role}.crt`), keyFile: join(folder, `${role}.key`) }
    const nats = createNats({ servers: [`127.0.0.1:${port}`], tls, insecureTransport: false, name: role })
    const stream = createJetStream({ nats, name: streamName({ profile: 'orch', prefix: '' }) })
    onTestFinished(async () => {
      await stream.close()
      await nats.close()
    })
    return stream
  }
  return { as }
}

const position: ChangeMessage = { kind: 'position', epoch: 'e', revision: 7, last: 5 }
const first = { id: 'e-7.0', expectedSequence: 0, expectedId: undefined }

describe.skipIf(reason !== '')(`the deployed NATS configuration${reason}`, () => {
  test('lets storage publish and watch read, and refuses publishing by watch and other roles', async () => {
    const { as } = await openDeployedNats()
    const storage = as('storage')
    await storage.prepare()
    const { promise: heard, resolve } = Promise.withResolvers<ChangeMessage>()
    const watch = as('watch')
    const stop = await watch.follow({ onMessage: resolve, onEnd: () => {} })
    await storage.publish(position, first)
    expect(await heard).toEqual(position)
    stop()
    await expect(watch.publish({ ...position, revision: 8 }, { ...first, id: 'e-8.1', expectedSequence: 1 })).rejects.toThrow()
    await expect(as('gateway').prepare()).rejects.toThrow()
    expect(await storage.prepare()).toMatchObject({ sequence: 1, message: position })
  })
})
