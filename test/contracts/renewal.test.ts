import {
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionService,
  admissionContract,
  contract,
  type Service,
  stream,
  UnknownOutcomeError,
  unary,
  wire,
} from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateFolder, keepServiceCertificates, PushStream, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'
import { dialContract, openRpcServer, rpcLimits, serveContract } from '@orch/platform/rpc'
import { createFakeClock, type FakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { type Link, openLink } from '../chaos/link.ts'

const note = wire.message({ text: wire.string(1) })
const answerMs = 1_000
const notes = contract(
  'test.v1.Notes',
  {
    read: unary(note, note, { hot: true, idempotent: true, answerMs: () => answerMs }),
    write: unary(note, note, { hot: true, answerMs: () => answerMs }),
    /** A method without a time limit that a caller may repeat. */
    judge: unary(note, note, { hot: true, idempotent: true }),
    list: stream(note, note, { idempotent: true, answerMs: () => answerMs }),
    follow: stream(note, note, { endless: true }),
  },
  'storage',
)
type Notes = Service<typeof notes>

const names = namesOf('orch')
const turn = () => new Promise((resolve) => setImmediate(resolve))
const turns = async (count: number) => {
  for (let done = 0; done < count; done += 1) await turn()
}
const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await turn()
}
const never = () => new Promise<never>(() => {})

/** Certificates in a new folder. */
async function certificates() {
  const folder = aFolder()
  await keepServiceCertificates({ files: certificateFolder(folder), names, hostNames: ['localhost', '127.0.0.1'], clock: systemClock })
  return folder
}

interface Answering {
  /** The questions that the replica received. */
  readonly asked: string[]
  readonly address: string
  readonly server: Awaited<ReturnType<typeof openRpcServer>>
}

/** A replica that answers with its name, except for its silent methods. */
async function aReplica(name: string, silentAt: readonly (keyof Notes)[] = [], folder?: string): Promise<Answering> {
  const asked: string[] = []
  const answer = (method: keyof Notes) => async () => {
    asked.push(method)
    return silentAt.includes(method) ? never() : { text: name }
  }
  const parts = (method: keyof Notes) => () => {
    asked.push(method)
    const pushed = new PushStream<{ text: string }>()
    if (!silentAt.includes(method)) pushed.push({ text: name })
    return pushed
  }
  const service: Notes = {
    read: answer('read'),
    write: answer('write'),
    judge: answer('judge'),
    list: parts('list'),
    follow: parts('follow'),
  }
  const tls = folder === undefined ? undefined : serviceTlsFiles(folder, 'storage')
  const server = await openRpcServer({ address: '127.0.0.1:0', offers: [serveContract(notes, service)], tls, log: silentLog })
  onTestFinished(() => server.close())
  return { asked, address: server.address, server }
}

/** A caller with a separate clock. `random: 0`: among equal replicas the caller asks the first. */
function dial(addresses: readonly string[], folder?: string) {
  const clock = createFakeClock()
  const tls = folder === undefined ? undefined : serviceTlsFiles(folder, 'gateway')
  const dialled = dialContract(notes, { addresses, clock, tls, random: () => 0, log: silentLog })
  onTestFinished(() => dialled.close())
  return { ...dialled, clock }
}

/** Advances a clock and lets the processes read the received bytes. */
async function pass(clock: FakeClock, byMs: number): Promise<void> {
  // When a call has waited this long, the caller probes the replica. The answer to the probe takes some turns.
  const quietMs = Math.min(byMs, rpcLimits.unansweredMs)
  clock.advance(quietMs)
  await turns(100)
  clock.advance(byMs - quietMs)
  await turns(20)
}

async function linked(address: string): Promise<Link> {
  const link = await openLink(Number(address.split(':')[1]))
  onTestFinished(() => link.close())
  return link
}

test.each([
  ['silent', (link: Link) => link.silence()],
  ['half-open', (link: Link) => link.leaveHalfOpen()],
])(
  'CARD-25: a connection that is %s is closed after two probes without an answer, and another connection is established',
  async (_how, harm) => {
    const folder = await certificates()
    const { address } = await aReplica('a', [], folder)
    const link = await linked(address)
    const { service, clock, isReady, reached } = dial([`127.0.0.1:${link.port}`], folder)
    await reached
    expect(await service.read({ text: '' })).toEqual({ text: 'a' })
    const followed = service.follow({ text: '' })[Symbol.asyncIterator]()
    expect((await followed.next()).value).toEqual({ text: 'a' })
    const end = followed.next().catch((error: unknown) => error)
    harm(link)
    const lost = service.write({ text: '' }).catch((error: unknown) => error)
    await pass(clock, rpcLimits.probeMs)
    await pass(clock, rpcLimits.probeAnswerMs)
    expect(isReady()).toBe(true)
    link.hear()
    await pass(clock, rpcLimits.probeAnswerMs)
    // The calls and streams on the old connection have ended.
    expect(await lost).toBeInstanceOf(UnknownOutcomeError)
    expect(await end).toMatchObject({ code: 503 })
    await until(isReady)
    expect(await service.read({ text: '' })).toEqual({ text: 'a' })
    // The caller destroyed the stream of the dead connection.
    await until(() => link.connections === 1)
  },
)

test('CARD-25: calls are answered again, one after the other, after damaged TLS records', async () => {
  const folder = await certificates()
  const { address } = await aReplica('a', [], folder)
  const link = await linked(address)
  const dialled = dialContract(notes, {
    addresses: [`127.0.0.1:${link.port}`],
    tls: serviceTlsFiles(folder, 'gateway'),
    random: Math.random,
    log: silentLog,
  })
  onTestFinished(() => dialled.close())
  await dialled.reached
  for (let round = 0; round < 3; round += 1) {
    link.flip(1 + round)
    let isAnswered = false
    while (!isAnswered || link.flipsLeft > 0) {
      isAnswered = await dialled.service.read({ text: '' }).then(
        () => true,
        () => false,
      )
    }
    expect(isAnswered).toBe(true)
  }
})

/** Two replicas that both take calls; among equal replicas the caller asks the first. */
async function both(first: Answering, second: Answering) {
  const dialled = dial([first.address, second.address])
  await dialled.reached
  // Each question has a stream, so the caller spreads parallel questions.
  while (first.asked.length === 0 || second.asked.length === 0) {
    const streams = [dialled.service.follow({ text: '' }), dialled.service.follow({ text: '' })]
    await Promise.all(streams.map((stream) => stream[Symbol.asyncIterator]().next()))
    for (const stream of streams) stream.close()
  }
  for (const { asked } of [first, second]) asked.length = 0
  return dialled
}

/** The instances that answer many parallel questions. */
async function answering({ judge }: Notes): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => judge({ text: '' })))
  return [...new Set(answers.map(({ text }) => text))].sort()
}

/** Continues until the caller doubts neither replica. */
async function bothAnswer(service: Notes, clock: FakeClock): Promise<void> {
  for (let passedMs = 0; passedMs < rpcLimits.doubtMs; passedMs += rpcLimits.probeMs) await pass(clock, rpcLimits.probeMs)
  await until(async () => (await answering(service)).length === 2)
  // The other replica also answers its probe.
  await turns(100)
}

test('CARD-25: a read without an answer in time is repeated on another replica, and a write has an unknown outcome', async () => {
  const [silent, other] = [await aReplica('a', ['read', 'list', 'write']), await aReplica('b')]
  const { service, clock } = await both(silent, other)
  const read = service.read({ text: '' })
  await until(() => silent.asked.includes('read'))
  await pass(clock, answerMs - 1)
  expect(other.asked).toEqual([])
  await pass(clock, 1)
  expect(await read).toEqual({ text: 'b' })
  // While the caller doubts a replica, it asks others although the replica answers probes; after a while it asks the replica again.
  await turns(100)
  expect(await answering(service)).toEqual(['b'])
  await bothAnswer(service, clock)
  const list = service.list({ text: '' })[Symbol.asyncIterator]().next()
  await until(() => silent.asked.includes('list'))
  await pass(clock, answerMs)
  expect((await list).value).toEqual({ text: 'b' })
  await bothAnswer(service, clock)
  const write = service.write({ text: '' }).catch((error: unknown) => error)
  await until(() => silent.asked.includes('write'))
  await pass(clock, answerMs)
  expect(await write).toBeInstanceOf(UnknownOutcomeError)
  expect(other.asked).not.toContain('write')
})

test('CARD-25: a long call is repeated on another replica as soon as the first is suspected', async () => {
  const [silent, other] = [await aReplica('a', ['judge']), await aReplica('b')]
  const link = await linked(silent.address)
  const { service, clock } = await both({ ...silent, address: `127.0.0.1:${link.port}` }, other)
  const judged = service.judge({ text: '' })
  await until(() => silent.asked.includes('judge'))
  await pass(clock, rpcLimits.probeMs - 1)
  expect(other.asked).toEqual([])
  link.silence()
  await pass(clock, 1)
  await pass(clock, rpcLimits.probeAnswerMs)
  expect(await judged).toEqual({ text: 'b' })
})

test('CARD-25: a replica that is not ready gets calls only if no other replica accepts them', async () => {
  const [first, second] = [await aReplica('a'), await aReplica('b')]
  const { service, isReady } = await both(first, second)
  first.server.setUseful(false)
  await until(async () => (await answering(service)).join() === 'b')
  second.server.setUseful(false)
  await until(async () => (await answering(service)).join() === 'a,b')
  expect(isReady()).toBe(true)
  first.server.setUseful(true)
  await until(async () => (await answering(service)).join() === 'a')
})

test('CARD-25: a connection whose calls get no answer is closed even if probes are answered', async () => {
  const alone = await aReplica('a', ['write'])
  const link = await linked(alone.address)
  const { service, clock, reached } = dial([`127.0.0.1:${link.port}`])
  await reached
  const before = link.opened
  for (let count = 1; count <= rpcLimits.lateCallsMax; count += 1) {
    const write = service.write({ text: '' }).catch((error: unknown) => error)
    await until(() => alone.asked.length === count)
    await pass(clock, answerMs)
    expect(await write).toBeInstanceOf(UnknownOutcomeError)
  }
  await until(() => link.opened > before)
  expect(await service.read({ text: '' })).toEqual({ text: 'a' })
})

test('a call waits behind calls with late answers, and fails when no answers arrive', async () => {
  const answers: (() => void)[] = []
  const write = () => new Promise<{ text: string }>((resolve) => answers.push(() => resolve({ text: 'done' })))
  const other = async () => ({ text: '' })
  const parts = () => new PushStream<{ text: string }>()
  const service: Notes = { write, read: other, judge: other, list: parts, follow: parts }
  const server = await openRpcServer({ address: '127.0.0.1:0', offers: [serveContract(notes, service)], log: silentLog })
  onTestFinished(() => server.close())
  const { service: dialled, clock, reached } = dial([server.address])
  await reached
  const outcomes: string[] = []
  for (const name of ['a', 'b', 'c']) {
    dialled.write({ text: name }).then(
      () => outcomes.push(`${name} done`),
      (error: unknown) => outcomes.push(`${name} ${error instanceof UnknownOutcomeError ? 'unknown' : error}`),
    )
  }
  await until(() => answers.length === 3)
  await pass(clock, answerMs * 0.9)
  answers[0]?.()
  await until(() => outcomes.length === 1)
  await pass(clock, answerMs * 0.9)
  answers[1]?.()
  await until(() => outcomes.length === 2)
  await pass(clock, answerMs * 0.9)
  expect(outcomes).toEqual(['a done', 'b done'])
  await pass(clock, answerMs * 0.1)
  await until(() => outcomes.length === 3)
  expect(outcomes[2]).toBe('c unknown')
})

test('CARD-25: a request to an admission replica that dies is repeated on another replica, with the same write id', async () => {
  const question: AdmissionRequest = {
    phase: 'validate',
    attributes: {
      operation: 'CREATE',
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      subresource: '',
      namespace: 'default',
      name: 'a',
      object: {},
      oldObject: null,
      options: null,
      dryRun: false,
      requestId: '',
      writeId: 'w',
      user: { name: 'a', uid: '', groups: [], extra: {} },
    },
    decisions: [],
    resumeAt: '',
    explain: false,
  }
  const told = { warnings: [], auditAnnotations: [], steps: [], counts: [] }
  const allowed: AdmissionAnswer = { kind: 'allowed', conditions: [], reservations: [], ...told }
  const asked: { readonly name: string; readonly writeId: string }[] = []
  const anAdmission = async (name: string) => {
    const service: AdmissionService = {
      admit({ attributes: { writeId } }) {
        asked.push({ name, writeId })
        return asked.length === 1 ? never() : Promise.resolve(allowed)
      },
      outcome: async () => ({}),
      admissionRules: () => new PushStream(),
    }
    const server = await openRpcServer({ address: '127.0.0.1:0', offers: [serveContract(admissionContract, service)], log: silentLog })
    onTestFinished(() => server.close())
    return server
  }
  const servers = { a: await anAdmission('a'), b: await anAdmission('b') }
  const addresses = Object.values(servers).map(({ address }) => address)
  const dialled = dialContract(admissionContract, { addresses, random: Math.random, log: silentLog })
  onTestFinished(() => dialled.close())
  await dialled.reached
  const answer = dialled.service.admit(question)
  await until(() => asked.length === 1)
  const [dead, alive] = asked[0]?.name === 'a' ? (['a', 'b'] as const) : (['b', 'a'] as const)
  servers[dead].close()
  expect(await answer).toMatchObject({ kind: 'allowed' })
  expect(asked).toEqual([dead, alive].map((name) => ({ name, writeId: 'w' })))
})
