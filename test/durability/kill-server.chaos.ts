import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@orch/client'
import { domainGroup, namesOf } from '@orch/core/names'
import { sleep, systemClock } from '@orch/platform'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { createRandom } from '../chaos/random.ts'
import { chaosSeed } from '../chaos/seed.ts'
import { type ServerProcess, startProcess } from '../e2e/server-process.ts'

const rounds = Number(process.env['ORCH_CHAOS_SERVER_KILLS'] ?? 10)
const lanes = 8
const secrets = { group: '', version: 'v1', plural: 'secrets', namespaced: true }
const key = Buffer.alloc(32, 7).toString('base64')

function encryptionFlag(): string {
  const file = join(aFolder(), 'encryption.json')
  const providers = [{ aesgcm: { keys: [{ name: 'first', secret: key }] } }, { identity: {} }]
  const configuration = {
    apiVersion: `${domainGroup(namesOf('orch'), 'apiserver.config')}/v1`,
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers }],
  }
  writeFileSync(file, JSON.stringify(configuration))
  return `--encryption-provider-config=${file}`
}

const variants: readonly [how: string, flagsOf: () => readonly string[], place: number][] = [
  ['in one process', () => [], 0],
  ['with --threads=2', () => ['--threads=2'], 1],
  ['with encryption', () => [encryptionFlag()], 2],
  ['with encryption and --threads=2', () => [encryptionFlag(), '--threads=2'], 3],
]

/** The clients' knowledge: the acknowledged version of each Secret, and the Secrets whose last request received no answer. */
interface Known {
  /** Undefined: the server acknowledged the deletion. */
  readonly versions: Map<string, string | undefined>
  readonly doubtful: Set<string>
  acknowledged: number
}

test.each(variants)(
  `STORE-04: no acknowledged write is lost when the server %s is killed, ${rounds} times under load, seed ${chaosSeed}`,
  {
    timeout: rounds * 60_000,
  },
  async (_how, flagsOf) => {
    const random = createRandom(chaosSeed)
    const flags = ['--controllers=-*', ...flagsOf()]
    const dataDir = aFolder()
    const known: Known = { versions: new Map(), doubtful: new Set(), acknowledged: 0 }
    const faults: string[] = []
    for (let round = 0; round < rounds && faults.length === 0; round++) {
      const server = await startProcess(flags, { dataDir })
      faults.push(...(await differences(server, known)).map((fault) => `round ${round}: ${fault}`))
      await killedUnderLoad(server, known, { round, random })
    }
    const last = await startProcess(flags, { dataDir })
    faults.push(...(await differences(last, known)))
    process.stdout.write(`${rounds} kills, ${known.acknowledged} acknowledged writes\n`)
    expect(faults).toEqual([])
    expect(known.acknowledged).toBeGreaterThan(rounds * 10)
  },
)

/** The differences between the server's state and the acknowledged state. For requests without an answer, the stored state decides. */
async function differences({ client }: ServerProcess, { versions, doubtful }: Known): Promise<string[]> {
  const { items } = await client.resource(secrets).list({ namespace: 'default' })
  const found = new Map(items.map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion]))
  const faults: string[] = []
  for (const [name, version] of versions)
    if (!doubtful.has(name) && found.get(name) !== version) faults.push(`${name} is at ${found.get(name)}, ${version} was acknowledged`)
  for (const name of found.keys()) if (!versions.has(name) && !doubtful.has(name)) faults.push(`${name} was never written`)
  for (const name of doubtful) versions.set(name, found.get(name))
  doubtful.clear()
  return faults
}

async function killedUnderLoad(
  server: ServerProcess,
  known: Known,
  { round, random }: { readonly round: number; readonly random: () => number },
) {
  const wanted = known.acknowledged + 20 + Math.floor(random() * 300)
  let isEnough = () => {}
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve
  })
  const writing = Array.from({ length: lanes }, async (_, lane) => {
    for (let count = 0; await writeOne(server.client, known, `r${round}-${lane}-${count}`); count++) {
      if (known.acknowledged >= wanted) isEnough()
    }
    isEnough()
  })
  await enough
  // The kill may come at any moment between two answers.
  await sleep(systemClock, random() * 5)
  server.signal('SIGKILL')
  await Promise.all([server.exited, ...writing])
}

/** Creates a Secret, changes it, and deletes every third Secret. False: the server has ended. */
async function writeOne(client: Client, known: Known, name: string): Promise<boolean> {
  const resource = client.resource(secrets)
  const note = (version: string | undefined) => {
    known.versions.set(name, version)
    known.acknowledged++
  }
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, stringData: { word: name.repeat(40) } }
  try {
    const created = await resource.create(object)
    note(created.metadata.resourceVersion)
    const changed = await resource.update({ ...created, metadata: { ...created.metadata, labels: { changed: 'yes' } } })
    note(changed.metadata.resourceVersion)
    if (!name.endsWith('3')) return true
    await resource.delete(name, { namespace: 'default' })
    note(undefined)
    return true
  } catch {
    known.doubtful.add(name)
    return false
  }
}
