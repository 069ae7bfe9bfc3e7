import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { everything, type StorageService, storageContract, UnknownOutcomeError } from '@orch/core'
import { silentLog } from '@orch/platform'
import { aPut, contractSuiteLinks, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { dialContract } from '../../shared/platform/src/rpc/index.ts'
import { contracts, openServices } from './services.ts'

interface ReplicaProcess {
  readonly child: ChildProcess
  readonly address: string
  readonly asked: string[]
}

async function startReplica(manner: 'silent' | 'answering', address = '127.0.0.1:0'): Promise<ReplicaProcess> {
  const script = fileURLToPath(new URL('./replica-child.ts', import.meta.url))
  const child = fork(script, [address, manner], { execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const asked: string[] = []
  child.on('message', (message: { asked?: string }) => {
    if (message.asked !== undefined) asked.push(message.asked)
  })
  const [told] = (await once(child, 'message')) as [{ address: string }]
  return { child, address: told.address, asked }
}

async function end({ child }: ReplicaProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function dial(...replicas: readonly ReplicaProcess[]) {
  const dialled = dialContract(storageContract, { addresses: replicas.map(({ address }) => address), random: Math.random, log: silentLog })
  onTestFinished(() => dialled.close())
  return dialled
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

const get = (storage: StorageService) => storage.get({ key: 'core/nodes/a', read: { kind: 'latest' } })
const commit = (storage: StorageService) => storage.commit({ key: 'core/nodes/a', expected: 0, conditions: [], writeId: 'w' })

/** Asks until both replicas take part. */
async function untilBothAnswer(storage: StorageService): Promise<void> {
  const seen = new Set<number>()
  while (seen.size < 2) for (const { revision } of await Promise.all([get(storage), get(storage)])) seen.add(revision)
}

test('CARD-24, CARD-25: a replica is killed under calls: reads go on elsewhere, its commits are unknown, and its successor gets work', async () => {
  const [silent, answering] = [await startReplica('silent'), await startReplica('answering')]
  const alone = dial(silent)
  const both = dial(silent, answering)
  await until(() => alone.isReady() && both.isReady())
  const lost = Array.from({ length: 10 }, () => commit(alone.service).catch((error: unknown) => error))
  const reads = [get(both.service)]
  const singles = [both.service.getAt({ key: 'core/nodes/a', revision: 1 })]
  const wasAsked = (method: string) => silent.asked.includes(method)
  for (; !wasAsked('get') || !wasAsked('getAt'); await turn()) {
    if (!wasAsked('get')) reads.push(get(both.service))
    if (!wasAsked('getAt')) singles.push(both.service.getAt({ key: 'core/nodes/a', revision: 1 }))
  }
  await until(() => silent.asked.filter((method) => method === 'commit').length === 10)
  await end(silent)
  for (const error of await Promise.all(lost)) expect(error).toBeInstanceOf(UnknownOutcomeError)
  expect(new Set((await Promise.all(reads)).map(({ revision }) => revision))).toEqual(new Set([answering.child.pid]))
  expect(await Promise.all(singles)).toEqual(singles.map(() => ({})))
  await startReplica('answering', silent.address)
  await untilBothAnswer(both.service)
  expect(await commit(alone.service)).toMatchObject({ kind: 'written' })
})

test('calls are spread over the replicas by what each has under way', async () => {
  const [silent, answering] = [await startReplica('silent'), await startReplica('answering')]
  const both = dial(silent, answering)
  const stop = new AbortController()
  const context = { signal: stop.signal }
  const answers: number[] = []
  for (let asked = 1; answers.length < 100; asked += 1) {
    const answer = both.service.get({ key: 'core/nodes/a', read: { kind: 'latest' } }, context)
    answer.then(
      ({ revision }) => answers.push(revision),
      () => {},
    )
    await until(() => answers.length + silent.asked.length === asked)
  }
  // Before the other one could be reached, it alone was there to be asked.
  expect(silent.asked.length).toBeLessThan(50)
  stop.abort()
  expect(new Set(answers)).toEqual(new Set([answering.child.pid]))
})

test('LIST-11: ten thousand objects are written in batches and listed in parts, none lost', async () => {
  const link = contractSuiteLinks({ contracts, open: openServices, script: new URL('./child.ts', import.meta.url) })[1]
  if (link === undefined) throw new Error('expected a link to a child process')
  onTestFinished(() => link.close())
  const { services, close } = await link.open()
  const data = 'x'.repeat(1_000)
  const names = Array.from({ length: 10_000 }, (_, index) => `n${String(index).padStart(5, '0')}`)
  for (let index = 0; index < names.length; index += 1_000)
    await Promise.all(names.slice(index, index + 1_000).map((name) => written(services.storage, aPut({ name, data }))))
  const parts = services.storage.list({
    scope: { resource: 'core/configmaps' },
    selection: everything,
    read: { kind: 'latest' },
    limit: 0,
    start: '',
    form: 'joined',
  })
  let count = 0
  const texts: string[] = []
  for await (const part of parts) {
    if (part.kind !== 'chunk') continue
    count += part.count
    texts.push(Buffer.from(part.bytes).toString())
  }
  expect(count).toBe(10_000)
  const listed = texts.flatMap((text) => JSON.parse(`[${text}]`) as { metadata: { name: string } }[])
  expect(listed.map(({ metadata }) => metadata.name)).toEqual(names)
  await close()
})
