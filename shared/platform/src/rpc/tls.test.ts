import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  contract,
  parseServiceIdentity,
  printServiceIdentity,
  type Service,
  type ServiceRole,
  serviceRoles,
  stream,
  unary,
  wire,
} from '@orch/core/contracts'
import { namesOf, profiles } from '@orch/core/names'
import { expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../clock.ts'
import { type Log, silentLog } from '../log.ts'
import type { TlsFiles } from '../tls/certificate-source.ts'
import type { KeyPair } from '../tls/key-pair.ts'
import { issueServiceAuthority, issueServiceCertificate, serviceTlsFiles } from '../tls/service-certificates.ts'
import { dialContract } from './dial.ts'
import { serveContract } from './offer.ts'
import { PushStream } from './push-stream.ts'
import { openRpcServer } from './server.ts'

const names = namesOf('orch')
const note = wire.message({ text: wire.string(1) })
const guarded = contract(
  'test.v1.Guarded',
  {
    ask: unary(note, note, { callers: ['gateway', 'watch'], permits: (role, { text }) => role === 'gateway' || text === 'open' }),
    write: unary(note, note, { callers: ['gateway'], hot: true }),
    follow: stream(note, note, { callers: ['gateway'] }),
  },
  'storage',
)
const service: Service<typeof guarded> = {
  ask: async (request) => request,
  write: async (request) => request,
  follow: (request) => {
    const parts = new PushStream<{ text: string }>()
    parts.push(request)
    parts.end()
    return parts
  },
}

/** A folder with certificates of a new or the given authority. */
async function makeFolder(authority?: KeyPair) {
  const folder = mkdtempSync(join(tmpdir(), 'services-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const signer = authority ?? (await issueServiceAuthority({ names, nowMs: Date.now() }))
  writeFileSync(join(folder, 'ca.crt'), signer.certificate)
  const issue = async (role: ServiceRole, hostNames: readonly string[] = ['localhost', '127.0.0.1'], nowMs = Date.now()) => {
    const { certificate, key } = await issueServiceCertificate({ authority: signer, names, role, hostNames, nowMs })
    writeFileSync(join(folder, `${role}.crt`), certificate)
    writeFileSync(join(folder, `${role}.key`), key)
    return serviceTlsFiles(folder, role)
  }
  return { folder, signer, issue }
}

/** The machine's clock, except that the test calls repeating timers. */
function handClock() {
  const repeated = new Set<() => void>()
  const clock: Clock = {
    ...systemClock,
    every(_, callback) {
      repeated.add(callback)
      return { cancel: () => void repeated.delete(callback) }
    },
  }
  const poll = () => {
    for (const callback of repeated) callback()
  }
  return { clock, poll, repeated }
}

async function serve(tls: TlsFiles, more: { clock?: Clock; log?: Log } = {}) {
  const server = await openRpcServer({ address: '127.0.0.1:0', offers: [serveContract(guarded, service)], tls, log: silentLog, ...more })
  onTestFinished(() => server.close())
  return server
}

function dial(address: string, tls: TlsFiles | undefined, log: Log = silentLog) {
  const dialled = dialContract(guarded, { addresses: [address], tls, random: Math.random, log })
  onTestFinished(() => dialled.close())
  return dialled
}

/** The service after it has connected, which on a busy machine may take longer than the wait of a call. */
async function connected(address: string, tls: TlsFiles | undefined): Promise<typeof service> {
  const dialled = dial(address, tls)
  await dialled.reached
  return dialled.service
}

const read = async (parts: AsyncIterable<{ text: string }>) => {
  const texts: string[] = []
  for await (const { text } of parts) texts.push(text)
  return texts
}

test('the role in the certificate decides which methods may be called, singly and in batches', async () => {
  const { issue } = await makeFolder()
  const server = await serve(await issue('storage'))
  const gateway = await connected(server.address, await issue('gateway'))
  const watch = await connected(server.address, await issue('watch'))
  expect(await gateway.ask({ text: 'a' })).toEqual({ text: 'a' })
  expect(await gateway.write({ text: 'b' })).toEqual({ text: 'b' })
  expect(await read(gateway.follow({ text: 'c' }))).toEqual(['c'])
  expect(await watch.ask({ text: 'open' })).toEqual({ text: 'open' })
  const forbidden = { code: 403, reason: 'Forbidden' }
  await expect(watch.ask({ text: 'closed' })).rejects.toMatchObject(forbidden)
  await expect(watch.write({ text: 'b' })).rejects.toMatchObject({
    ...forbidden,
    message: 'the role watch may not call Write of test.v1.Guarded for this',
  })
  await expect(read(watch.follow({ text: 'c' }))).rejects.toMatchObject(forbidden)
})

test('a certificate of another authority, another host, another role or no certificate gets no connection', async () => {
  const ours = await makeFolder()
  const others = await makeFolder()
  const server = await serve(await ours.issue('storage'))
  const gateway = await ours.issue('gateway')
  const elsewhere = await serve(await ours.issue('storage', ['storage.example.com']))
  const impostor = await serve(await ours.issue('watch'))
  expect(await refusal(server.address, await others.issue('gateway'))).toContain('self-signed certificate in certificate chain')
  expect(await refusal(server.address, undefined)).toContain('No connection established')
  expect(await refusal(elsewhere.address, gateway)).toContain("127.0.0.1 is not in the cert's list")
  expect(await refusal(impostor.address, gateway)).toContain('the certificate of the server names the role watch, expected storage')
})

/** The logged reason of a failed connection. */
async function refusal(address: string, tls: TlsFiles | undefined): Promise<string> {
  const reasons: string[] = []
  const { service } = dial(address, tls, { ...silentLog, warn: ({ reason }) => void reasons.push(String(reason)) })
  await expect(service.ask({ text: '' })).rejects.toMatchObject({ code: 503 })
  while (reasons.length === 0) await new Promise((resolve) => setImmediate(resolve))
  return reasons.join()
}

test('changed certificates are used for new connections; invalid ones are ignored and logged once', async () => {
  const first = await makeFolder()
  const errors: string[] = []
  const log: Log = { ...silentLog, error: ({ err }) => void errors.push((err as Error).message) }
  const files = await first.issue('storage')
  const { clock, poll } = handClock()
  const server = await serve(files, { clock, log })
  expect(await (await connected(server.address, await first.issue('gateway'))).ask({ text: 'a' })).toEqual({ text: 'a' })

  writeFileSync(files.keyFile, 'nonsense')
  poll()
  poll()
  expect(errors).toEqual([`${files.keyFile}: expected a private key in PEM form`])
  expect(await (await connected(server.address, await first.issue('gateway'))).ask({ text: 'b' })).toEqual({ text: 'b' })

  const second = await makeFolder()
  writeFileSync(files.authorityFile, second.signer.certificate)
  const { certificate, key } = await issueServiceCertificate({
    authority: second.signer,
    names,
    role: 'storage',
    hostNames: ['127.0.0.1'],
    nowMs: Date.now(),
  })
  writeFileSync(files.certificateFile, certificate)
  writeFileSync(files.keyFile, key)
  poll()
  expect(await (await connected(server.address, await second.issue('gateway'))).ask({ text: 'c' })).toEqual({ text: 'c' })
  expect(errors.length).toBe(1)
})

test('a caller uses new certificates and authorities of its files at its next connection, without being created again', async () => {
  const [first, second] = [await makeFolder(), await makeFolder()]
  const files = await first.issue('gateway')
  const { clock, poll } = handClock()
  const server = await serve(await first.issue('storage'))
  const dialled = dialContract(guarded, { addresses: [server.address], tls: files, clock, random: Math.random, log: silentLog })
  onTestFinished(() => dialled.close())
  await dialled.reached
  expect(await dialled.service.ask({ text: 'a' })).toEqual({ text: 'a' })
  server.close()
  const successor = await second.issue('storage')
  const again = await openRpcServer({
    address: server.address,
    offers: [serveContract(guarded, service)],
    tls: successor,
    log: silentLog,
  })
  onTestFinished(() => again.close())
  await expect(dialled.service.ask({ text: 'b' })).rejects.toMatchObject({ code: 503 })
  const renewed = await second.issue('gateway')
  for (const name of ['certificateFile', 'keyFile', 'authorityFile'] as const) writeFileSync(files[name], readFileSync(renewed[name]))
  poll()
  while (!dialled.isReady()) await new Promise((resolve) => setImmediate(resolve))
  expect(await dialled.service.ask({ text: 'c' })).toEqual({ text: 'c' })
})

test('an invalid file is named in an error at the start, and a closed server no longer reads its files', async () => {
  const { folder, issue } = await makeFolder()
  const files = await issue('storage')
  const { clock, repeated } = handClock()
  const server = await serve(files, { clock })
  expect(repeated.size).toBe(1)
  server.close()
  expect(repeated.size).toBe(0)
  const other = await issue('watch')
  await expect(serve({ ...files, keyFile: other.keyFile })).rejects.toThrow(`${other.keyFile}: this is not the key of the certificate in`)
  await expect(serve({ ...files, certificateFile: join(folder, 'no.crt') })).rejects.toThrow('no.crt: cannot be read (ENOENT)')
  await expect(serve({ ...files, authorityFile: files.keyFile })).rejects.toThrow('storage.key: expected certificates in PEM form')
})

test('no unencrypted connection leaves this machine, unless that is allowed', async () => {
  const offers = [serveContract(guarded, service)]
  const options = { random: Math.random, log: silentLog }
  await expect(openRpcServer({ address: '0.0.0.0:0', offers, log: silentLog })).rejects.toThrow(
    '0.0.0.0: a connection between services that leaves',
  )
  expect(() => dialContract(guarded, { ...options, addresses: ['dns:///storage.example.com:7000'] })).toThrow('must be encrypted')
  expect(() => dialContract(guarded, { ...options, addresses: ['storage'] })).toThrow('storage: expected host:port or dns:///name:port')
  expect(() => dialContract(guarded, { ...options, addresses: [] })).toThrow('at least one address')
  const server = await openRpcServer({ address: '0.0.0.0:0', offers, log: silentLog, insecureTransport: true })
  onTestFinished(() => server.close())
  expect(await (await connected(server.address.replace('0.0.0.0', 'localhost'), undefined)).ask({ text: 'a' })).toEqual({ text: 'a' })
})

test('a printed identity is parsed in every profile, and no other text is', () => {
  for (const profile of profiles) {
    for (const role of serviceRoles) expect(parseServiceIdentity(printServiceIdentity(namesOf(profile), role))).toBe(role)
  }
  for (const text of [
    '',
    'spiffe://cluster.local/orch/service/',
    'spiffe://cluster.local/orch/service/root',
    'spiffe://else/orch/service/gateway',
  ]) {
    expect(parseServiceIdentity(text)).toBeUndefined()
  }
})

test('an expired certificate gets no connection, for a server or a caller, and its replacement needs no restart', async () => {
  const { issue } = await makeFolder()
  const twoYearsAgoMs = Date.now() - 2 * 365 * 24 * 3_600_000
  const host = ['127.0.0.1']
  const files = await issue('storage', host, twoYearsAgoMs)
  const { clock, poll } = handClock()
  const server = await serve(files, { clock })
  const gateway = await issue('gateway')
  expect(await refusal(server.address, gateway)).toContain('certificate has expired')
  await issue('storage', host)
  poll()
  expect(await (await connected(server.address, gateway)).ask({ text: 'a' })).toEqual({ text: 'a' })

  await issue('gateway', host, twoYearsAgoMs)
  const caller = handClock()
  const dialled = dialContract(guarded, {
    addresses: [server.address],
    tls: gateway,
    clock: caller.clock,
    random: Math.random,
    log: silentLog,
  })
  onTestFinished(() => dialled.close())
  await expect(dialled.service.ask({ text: 'b' })).rejects.toMatchObject({ code: 503 })
  await issue('gateway', host)
  caller.poll()
  while (!dialled.isReady()) await new Promise((resolve) => setImmediate(resolve))
  expect(await dialled.service.ask({ text: 'c' })).toEqual({ text: 'c' })
})
