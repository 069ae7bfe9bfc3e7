import { X509Certificate } from 'node:crypto'
import { createClient, createHttpsTransport } from '@orch/client'
import { issueAuthority, issueClient } from '@orch/platform/issue'
import { aConfigMap, createFakeClock } from '@orch/testkit'
import { type RunningServer, start, virtualClock } from 'orch'
import { expect, test } from 'vitest'
import { aFolder } from '../identity/folder.ts'

const events = { group: '', version: 'v1', plural: 'events', namespaced: true }
const anEvent = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
})

/** The authority of a server's certificate, PEM. */
function authorityOf({ kubeconfig }: RunningServer): string {
  return Buffer.from(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '', 'base64').toString()
}

test('one advance beyond the TTL of Events deletes all of them; an idle server has one timer, for bookmarks of watches', async () => {
  const clock = virtualClock()
  await using server = await start({ clock })
  const names = Array.from({ length: 40 }, (_, index) => `e${index}`)
  for (const name of names) await server.client.objects.create(anEvent(name))
  expect((await server.client.resource(events).list({ namespace: 'default' })).items).toHaveLength(40)
  await clock.advance('3700s')
  expect((await server.client.resource(events).list({ namespace: 'default' })).items).toEqual([])
  await clock.advance('10m')
  const pauses = () => clock.pending().map(({ at }) => at.getTime() - clock.now() > 30_000)
  expect(pauses()).toEqual([true])
  clock.every(1_000, () => {})
  expect(pauses()).toEqual([false, true])
})

test('a server runs in any year, and writes times of that year', async () => {
  for (const year of [1975, 2020, 2070, 9000]) {
    const clock = virtualClock({ start: new Date(Date.UTC(year, 0, 1)) })
    await using server = await start({ clock })
    const created = await server.client.objects.create(aConfigMap({ name: 'a' }))
    expect(created.metadata.creationTimestamp).toBe(`${year}-01-01T00:00:00Z`)
  }
})

test('certificates of a virtual server are valid from 1970 to 9999, and those of another server are not', async () => {
  const validity = async (clock: Parameters<typeof start>[0]) => {
    await using server = await start(clock)
    const { validFrom, validTo } = new X509Certificate(authorityOf(server))
    return [validFrom, validTo].map((text) => new Date(text).getUTCFullYear())
  }
  expect(await validity({ clock: virtualClock() })).toEqual([1970, 9999])
  expect((await validity({}))[1]).toBeLessThan(2100)
  expect((await validity({ clock: createFakeClock(Date.now()) }))[1]).toBeLessThan(2100)
})

test('client certificates are checked at the time of the virtual clock', async () => {
  const nowMs = Date.UTC(2090, 0, 1)
  const authority = await issueAuthority({ commonName: 'clients', nowMs })
  const pair = await issueClient({ authority, commonName: 'ann', organizations: ['system:masters'], nowMs })
  const clientCaFile = aFolder().write('ca.crt', authority.certificate)
  const dayMs = 86_400_000
  const clock = virtualClock({ start: new Date(nowMs + 365 * dayMs - 60_000) })
  await using server = await start({ clock, flags: [`--client-ca-file=${clientCaFile}`] })
  const statusOfGet = async ({ certificate, key } = pair) => {
    const trust = { server: server.url, certificateAuthority: authorityOf(server) }
    const client = createClient(createHttpsTransport({ ...trust, clientCertificate: certificate, clientKey: key }))
    const { status, body } = await client.transport.send({ method: 'GET', path: '/api/v1/namespaces', headers: {} })
    for await (const _ of body);
    client.close()
    return status
  }
  expect(await statusOfGet()).toBe(200)
  const stranger = await issueAuthority({ commonName: 'clients', nowMs })
  expect(await statusOfGet(await issueClient({ authority: stranger, commonName: 'ann', organizations: ['system:masters'], nowMs }))).toBe(
    401,
  )
  await clock.advance('2m')
  expect(await statusOfGet()).toBe(401)
})

test('tokens of service accounts are issued and expire by the virtual clock', async () => {
  const clock = virtualClock({ start: new Date('2090-01-01T00:00:00Z') })
  await using server = await start({ clock })
  await server.client.objects.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a', namespace: 'default' } })
  const group = `authentication${server.kubeconfig.includes('k8s') ? '.k8s.io' : '.orch.io'}`
  const { status } = await server.client.request<{ status: { token: string; expirationTimestamp: string } }>({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/a/token',
    body: { apiVersion: `${group}/v1`, kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
  })
  expect(status.expirationTimestamp).toBe('2090-01-01T00:10:00Z')
  const review = async () => {
    const body = { apiVersion: `${group}/v1`, kind: 'TokenReview', spec: { token: status.token } }
    const path = `/apis/${group}/v1/tokenreviews`
    const { status: answer } = await server.client.request<{ status: { authenticated?: boolean } }>({ method: 'POST', path, body })
    return answer.authenticated ?? false
  }
  expect(await review()).toBe(true)
  await clock.advance('12m')
  expect(await review()).toBe(false)
})

test('an automatic clock runs to the last timer of a start, and stops when only background timers are left', async () => {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z'), auto: true })
  await using server = await start({ clock })
  await server.settled({ within: 60_000 })
  expect(clock.pending().filter(({ background }) => !background)).toEqual([])
  const stoodAtMs = clock.now()
  await server.client.objects.create(aConfigMap({ name: 'a' }))
  await server.client.objects.create(anEvent('e'))
  await server.settled({ within: 60_000 })
  expect(clock.now()).toBe(stoodAtMs)
})

test('settled() waits until controllers have processed a request, with any clock', async () => {
  await using server = await start({ profile: 'kubernetes' })
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } })
  await server.client.objects.create(aConfigMap({ name: 'inside', namespace: 'a' }))
  await server.client.resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false }).delete('a')
  await server.settled({ within: 60_000 })
  await expect(server.client.objects.get({ apiVersion: 'v1', kind: 'Namespace', name: 'a' })).rejects.toMatchObject({ code: 404 })
})
