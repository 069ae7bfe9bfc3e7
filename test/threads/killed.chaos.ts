import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Client, createClient, createHttpsTransport, loadConfiguration } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'

const entry = join(import.meta.dirname, '../../services/orch/src/main.ts')
const rounds = Number(process.env['ORCH_CHAOS_THREAD_KILLS'] ?? 3)
/** A number of connections at which each of two threads receives some. */
const writers = 16
const writesPerRound = 300

/** A server with two threads on the folder; resolves when it is ready. */
async function startOn(dataDir: string): Promise<{ readonly child: ChildProcess; readonly ended: Promise<unknown> }> {
  const flags = ['up', '--threads=2', '--secure-port=0', `--data-dir=${dataDir}`, '--log-level=warn']
  const child = spawn(process.execPath, ['--conditions=source', '--no-warnings', entry, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('For kubectl')) break
  child.stdout.resume()
  return { child, ended }
}

const mapOf = (name: string, text: string) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { text } }) as ApiObject

test.skipIf(!canSharePorts)(
  `STORE-04: no write that two threads have acknowledged is lost when the process is killed, ${rounds} times`,
  async () => {
    const dataDir = aFolder()
    const acknowledged = new Map<string, string>()
    for (let round = 0; round <= rounds; round += 1) {
      const { child, ended } = await startOn(dataDir)
      const clients = await Promise.all(Array.from({ length: writers }, () => connect(dataDir)))
      const stored = await readAll(clients[0] as Client)
      for (const [name, revision] of acknowledged) expect({ name, revision: stored.get(name) }).toEqual({ name, revision })
      if (round === rounds) child.kill('SIGKILL')
      let written = 0
      const writing = clients.map(async (client, writer) => {
        for (let index = 0; round < rounds; index += 1) {
          const name = `map-${round}-${writer}-${index}`
          const made = await client.objects.create(mapOf(name, 'a'))
          acknowledged.set(name, made.metadata.resourceVersion ?? '')
          written += 1
          if (written === writesPerRound) child.kill('SIGKILL')
        }
      })
      await Promise.allSettled(writing)
      await ended
      for (const client of clients) client.close()
    }
    expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
    expect(acknowledged.size).toBeGreaterThanOrEqual(rounds * writesPerRound)
  },
)

async function connect(dataDir: string): Promise<Client> {
  return createClient(createHttpsTransport(await loadConfiguration(join(dataDir, 'admin.conf'))))
}

/** The revisions of all stored objects, by name. */
async function readAll(client: Client): Promise<Map<string, string>> {
  const list = await client.request<{ items: ApiObject[] }>({ method: 'GET', path: '/api/v1/namespaces/default/configmaps' })
  return new Map(list.items.map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']))
}
