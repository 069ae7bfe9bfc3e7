import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contract, type Methods, type Service, type ServiceRole, type Stream, serviceRoles, watchContract } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateFolder, keepServiceCertificates, PushStream, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'
import { someAttributes } from '@orch/testkit'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dialContract, openRpcServer, serveContract } from '../../shared/platform/src/rpc/index.ts'
import { contracts } from './services.ts'

/** The callers that may make each call, written independently of the contracts. The key names the committed object. */
const allowed: Readonly<Record<string, readonly ServiceRole[]>> = {
  'storage get': ['gateway', 'watch', 'admission'],
  'storage getAt': ['gateway', 'watch', 'admission'],
  'storage list': ['gateway', 'watch', 'admission'],
  'storage changes': ['gateway', 'watch', 'admission'],
  'storage history': ['gateway'],
  'storage revisionAt': ['gateway'],
  'storage status': ['gateway', 'watch', 'admission'],
  'storage commit core/configmaps/default/a': ['gateway'],
  'storage commit core/resourcequotas/default/a': ['gateway', 'admission'],
  'storage commit quota/reservations/default/a': ['gateway', 'admission'],
  'storage commit core/resourcequotas': ['gateway'],
  'storage commit rbac.authorization.orch.io/clusterrolebindings/a': ['gateway'],
  'watch subscribe': ['gateway'],
  'admission admit': ['gateway'],
  'admission outcome': ['gateway'],
  'admission admissionRules': ['gateway'],
  'nodes logs': ['gateway'],
  'nodes exec': ['gateway'],
  'nodes attach': ['gateway'],
  'nodes forward': ['gateway', 'admission'],
  'nodes input': ['gateway', 'admission'],
  'nodes request': ['gateway'],
  'nodes metrics': ['gateway'],
}

const scope = { resource: 'core/configmaps' }
const selection = { labels: [], fields: [] }
const pod = { node: 'n', namespace: 'default', name: 'web', uid: 'u' }
const latest = { kind: 'latest' }
const requests: Readonly<Record<string, object>> = {
  'storage get': { key: 'core/configmaps/default/a', read: latest },
  'storage getAt': { key: 'core/configmaps/default/a', revision: 1 },
  'storage list': { scope, selection, read: latest, limit: 0, start: '', form: 'joined' },
  'storage changes': { after: 0, epoch: '', resources: [] },
  'storage history': { prefix: '', after: 0, limit: 1 },
  'storage revisionAt': { timeMs: 0 },
  'storage status': {},
  'watch subscribe': { scope, selection, group: '', version: 'v1', resource: 'configmaps', format: { kind: 'json' }, after: 0, epoch: '' },
  'admission admit': { phase: 'mutate', attributes: someAttributes(), decisions: [], resumeAt: '', explain: false },
  'admission outcome': { writeId: 'w', reservations: [], isCommitted: true, revision: 1 },
  'admission admissionRules': {},
  'nodes logs': { pod, container: 'c', follow: false, previous: false, timestamps: false, stream: 'All' },
  'nodes exec': { pod, container: 'c', command: ['true'], stdin: false, stdout: true, stderr: true, tty: false },
  'nodes attach': { pod, container: 'c', stdin: false, stdout: true, stderr: true, tty: false },
  'nodes forward': { pod, port: 80 },
  'nodes input': { session: 's', input: { kind: 'end' } },
  'nodes request': { node: 'n', path: '/healthz' },
  'nodes metrics': { resource: 'pods', namespace: '', name: '' },
}

const answers: Readonly<Record<string, object>> = {
  get: { revision: 1, epoch: 'e' },
  getAt: {},
  history: { changes: [], revision: 1, compacted: 1 },
  revisionAt: { revision: 1 },
  status: { epoch: 'e', revision: 1, compacted: 0, refusing: '', entries: 0, bytes: 0, profile: 'orch', members: [] },
  commit: { kind: 'written', revision: 1 },
  admit: { kind: 'allowed', conditions: [], reservations: [], warnings: [], auditAnnotations: [], steps: [], counts: [] },
  outcome: {},
  input: {},
  request: { status: 200, contentType: 'text/plain', body: new Uint8Array() },
}

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roles-'))
  const hostNames = ['localhost', '127.0.0.1']
  await keepServiceCertificates({ files: certificateFolder(folder), names: namesOf('orch'), hostNames, clock: systemClock })
  return () => rmSync(folder, { recursive: true })
})

/** A service that answers every permitted caller. */
function answering({ methods }: Contract<Methods>): Service<Contract<Methods>> {
  const end = (): Stream<never> => {
    const parts = new PushStream<never>()
    parts.end()
    return parts
  }
  const answer = (name: string) => (methods[name]?.form === 'stream' ? end : async () => answers[name])
  return Object.fromEntries(Object.keys(methods).map((name) => [name, answer(name)])) as unknown as Service<Contract<Methods>>
}

/** `yes`, or the refusal. */
async function outcomeOf(called: Promise<unknown> | Stream<unknown>): Promise<unknown> {
  try {
    if (called instanceof Promise) await called
    else for await (const _ of called);
    return 'yes'
  } catch (error) {
    return error
  }
}

describe.each(serviceRoles)('CARD-13: a caller with the certificate of %s', (role) => {
  test.each(Object.entries(contracts))('may call only the methods of its role of %s', async (name, contract) => {
    const known: Contract<Methods> = contract
    const server = await openRpcServer({
      address: '127.0.0.1:0',
      offers: [serveContract(known, answering(known))],
      tls: serviceTlsFiles(folder, contract.offeredBy[0] as ServiceRole),
      log: silentLog,
    })
    onTestFinished(() => server.close())
    const tls = serviceTlsFiles(folder, role)
    const dialled = dialContract(known, { addresses: [server.address], tls, random: Math.random, log: silentLog })
    onTestFinished(() => dialled.close())
    await dialled.reached
    const service = dialled.service as unknown as Record<string, (request: object) => Promise<unknown> | Stream<unknown>>
    const cases = Object.entries(allowed).filter(([what]) => what.startsWith(`${name} `))
    expect(new Set(cases.map(([what]) => what.split(' ')[1]))).toEqual(new Set(Object.keys(known.methods)))
    for (const [what, roles] of cases) {
      const [, method = '', key = ''] = what.split(' ')
      const request = method === 'commit' ? { key, expected: 0, conditions: [], writeId: 'w' } : (requests[what] ?? {})
      const outcome = await outcomeOf(service[method]!(request))
      if (roles.includes(role)) expect(outcome, what).toBe('yes')
      else {
        const wire = `${method[0]?.toUpperCase()}${method.slice(1)}`
        const message = `the role ${role} may not call ${wire} of ${known.name} for this`
        expect(outcome, what).toMatchObject({ code: 403, reason: 'Forbidden', message })
      }
    }
  })
})

test('CARD-13: watch is offered by storage, the source of changes, and otherwise only by the watch service', async () => {
  const known: Contract<Methods> = watchContract
  const dialling = async (role: ServiceRole) => {
    const offers = [serveContract(known, answering(known))]
    const server = await openRpcServer({ address: '127.0.0.1:0', offers, tls: serviceTlsFiles(folder, role), log: silentLog })
    onTestFinished(() => server.close())
    const reasons: string[] = []
    const log = { ...silentLog, warn: ({ reason }: { reason?: unknown }) => void reasons.push(String(reason)) }
    const tls = serviceTlsFiles(folder, 'gateway')
    const dialled = dialContract(known, { addresses: [server.address], tls, random: Math.random, log: log as typeof silentLog })
    onTestFinished(() => dialled.close())
    return { dialled, reasons }
  }
  for (const role of ['watch', 'storage'] as const) await (await dialling(role)).dialled.reached
  const { dialled, reasons } = await dialling('admission')
  while (reasons.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(dialled.isReady()).toBe(false)
  expect(reasons.join()).toContain('the certificate of the server names the role admission, expected watch or storage')
})
