import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  admissionContract,
  type Contract,
  type Methods,
  type ServiceRole,
  serviceRoles,
  storageContract,
  watchContract,
} from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import {
  issueServiceAuthority,
  issueServiceCertificate,
  type KeyPair,
  serviceTlsFiles,
  silentLog,
  systemChance,
  systemClock,
} from '@orch/platform'
import { aCertificate } from '@orch/platform/any-certificate'
import { dialContract } from '@orch/platform/rpc'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { readAdmission } from '../../services/orch/src/admission/settings.ts'
import { everythingServed } from '../../services/orch/src/api/settings.ts'
import { openAdmissionReplica } from '../../services/orch/src/distributed/admission.ts'
import type { Replica } from '../../services/orch/src/distributed/replica.ts'
import { openStorageReplica } from '../../services/orch/src/distributed/storage.ts'
import { openWatchReplica } from '../../services/orch/src/distributed/watch.ts'
import { readStartSettings } from '../../services/orch/src/start/start-settings.ts'
import { catalogueOf } from '../../services/orch/src/surroundings.ts'
import { createMemoryStore } from '../../services/storage/src/index.ts'

const names = namesOf('orch')
const folder = mkdtempSync(join(tmpdir(), 'service-roles-'))
const authority = await issueServiceAuthority({ names, nowMs: Date.now() })
writeFileSync(join(folder, 'ca.crt'), authority.certificate)

function keep(name: string, { certificate, key }: KeyPair): void {
  writeFileSync(join(folder, `${name}.crt`), certificate)
  writeFileSync(join(folder, `${name}.key`), key)
}

for (const role of serviceRoles) {
  keep(role, await issueServiceCertificate({ authority, names, role, hostNames: ['127.0.0.1'], nowMs: Date.now() }))
}
/** The certificate of a user whose name is a service's name, signed by the same authority. */
keep('nobody', await aCertificate({ issuer: authority, commonName: 'gateway', organizations: ['system:masters'], use: 'client' }))

/** Real services in the form in which they run apart. */
async function openServices(): Promise<Replica[]> {
  const world = { clock: systemClock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }
  const as = (role: ServiceRole) => ({
    trust: { tls: serviceTlsFiles(folder, role), insecureTransport: false },
    hasProcessMetrics: false,
    listen: '127.0.0.1:0',
  })
  const store = createMemoryStore()
  const storage = await openStorageReplica({ ...as('storage'), store, changeStream: undefined, watchHistoryMs: 300_000 }, world)
  const storageAddresses = [storage.address]
  const watch = await openWatchReplica({ ...as('watch'), storageAddresses, changeStream: undefined }, world)
  const admission = await openAdmissionReplica(
    { ...as('admission'), storageAddresses, admission: readAdmission(readStartSettings({})) },
    world,
  )
  return [storage, watch, admission]
}

const replicas = await openServices()
afterAll(async () => {
  for (const replica of [...replicas].reverse()) await replica.stop()
  rmSync(folder, { recursive: true })
})
const [storageAddress = '', watchAddress = '', admissionAddress = ''] = replicas.map(({ address }) => address)

type Caller = ServiceRole | 'nobody'
const callers: readonly Caller[] = [...serviceRoles, 'nobody']

const dialled = new Map<string, { close(): void }>()
afterAll(() => {
  for (const one of dialled.values()) one.close()
})

/** One connection for each caller of each service. */
function dial<M extends Methods>(contract: Contract<M>, address: string, caller: Caller) {
  const tls = { ...serviceTlsFiles(folder, 'gateway'), certificateFile: `${folder}/${caller}.crt`, keyFile: `${folder}/${caller}.key` }
  const name = `${contract.name} ${caller}`
  const known = dialled.get(name) as ReturnType<typeof dialContract<M>> | undefined
  const made = known ?? dialContract(contract, { addresses: [address], tls, random: Math.random, log: silentLog })
  dialled.set(name, made)
  return made.service
}

/** True if the call passed authentication, whatever its result. */
async function isLetIn(call: () => unknown): Promise<boolean> {
  const { code, message } = await answered(call)
  return !(code === 403 && /may not call .* of orch\./.test(message))
}

/** Waits for the service's answer, because a connection may take long on a busy machine. */
function answered(call: () => unknown) {
  const ask = async () => {
    const outcome = await outcomeOf(call)
    if (outcome.code === 503) throw new Error(outcome.message)
    return outcome
  }
  return vi.waitFor(ask, { timeout: 90_000, interval: 50 })
}

async function outcomeOf(call: () => unknown): Promise<{ code: number; message: string }> {
  try {
    const answer = call()
    if (answer instanceof Promise) await answer
    else for await (const _part of answer as AsyncIterable<unknown>) break
    return { code: 200, message: '' }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { code: error.status.code, message: error.message }
  }
}

const root = { name: 'root', uid: '', groups: ['system:masters'], extra: {} }
const scope = { resource: 'core/secrets', namespace: '' }
const secret = { key: 'core/secrets/default/a', expected: 0, conditions: [], value: Buffer.from('{}'), writeId: 'w' }
const attributes = {
  operation: 'CREATE',
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  subresource: '',
  namespace: 'default',
  name: 'a',
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'default' } },
  oldObject: undefined,
  options: {},
  user: root,
  dryRun: false,
  requestId: 'r',
  writeId: 'w',
}

const storageOf = (caller: Caller) => dial(storageContract, storageAddress, caller)
const watchOf = (caller: Caller) => dial(watchContract, watchAddress, caller)
const admissionOf = (caller: Caller) => dial(admissionContract, admissionAddress, caller)
const any = { kind: 'any' } as const
const selection = { labels: [], fields: [] }
const question = { phase: 'validate', attributes, decisions: [], resumeAt: '', explain: false }
const subscription = {
  scope,
  selection,
  group: '',
  version: 'v1',
  resource: 'secrets',
  format: { kind: 'json' },
  after: 0,
  epoch: '',
} as const
const outcome = { writeId: 'w', reservations: [], isCommitted: false, revision: 0 }
const readers = ['gateway', 'watch', 'admission']

/** Each method of each service, with its callers. */
const methods: readonly (readonly [string, readonly string[], (caller: Caller) => unknown])[] = [
  ['storage get', readers, (caller) => storageOf(caller).get({ key: secret.key, read: any })],
  ['storage list', readers, (caller) => storageOf(caller).list({ scope, selection, read: any, limit: 0, start: '', layout: 'entries' })],
  ['storage changes', readers, (caller) => storageOf(caller).changes({ after: 0, epoch: '', resources: [] })],
  ['storage getAt', readers, (caller) => storageOf(caller).getAt({ key: secret.key, revision: 1 })],
  ['storage status', readers, (caller) => storageOf(caller).status({})],
  ['storage commit', ['gateway'], (caller) => storageOf(caller).commit({ ...secret, key: `core/secrets/default/by-${caller}` })],
  [
    'storage commit of a reservation',
    ['gateway', 'admission'],
    (caller) => storageOf(caller).commit({ ...secret, key: `quota/reservations/default/by-${caller}` }),
  ],
  ['watch subscribe', ['gateway'], (caller) => watchOf(caller).subscribe(subscription)],
  ['admission admit', ['gateway'], (caller) => admissionOf(caller).admit(question)],
  ['admission outcome', ['gateway'], (caller) => admissionOf(caller).outcome(outcome)],
  ['admission admissionRules', ['gateway'], (caller) => admissionOf(caller).admissionRules({})],
]

describe('certificates of services', () => {
  test.each(methods)('give %s only to %j', async (_what, allowed, ask) => {
    const found = await Promise.all(callers.map(async (caller) => [caller, await isLetIn(() => ask(caller))] as const))
    expect(found.filter(([, isIn]) => isIn).map(([caller]) => caller)).toEqual(allowed)
  })

  test('let only a gateway pass the user of a request to admission, and no other service write a Secret', async () => {
    for (const caller of callers.filter((one) => one !== 'gateway')) {
      expect(await answered(() => admissionOf(caller).admit(question))).toMatchObject({ code: 403 })
    }
    const { entry } = await storageOf('gateway').get({ key: 'core/secrets/default/by-controllers', read: { kind: 'latest' } })
    expect(entry).toBeUndefined()
  })
})
