import { createHmac } from 'node:crypto'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { systemClock } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { aFile, aServer, pods, secrets, serviceAccounts, type TestServer, until, whoIs } from './server.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const namespace = 'orch-system'

function aBootstrapSecret(id: string, more: Record<string, string>): ApiObject {
  const stringData = { 'token-id': id, 'token-secret': '0123456789abcdef', ...more }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace },
    type: 'bootstrap.orch.io/token',
    stringData,
  }
}

async function secretNames({ client }: TestServer): Promise<string[]> {
  const { items } = await client.resource(secrets).list({ namespace })
  return items.map(({ metadata }) => metadata.name ?? '').filter((name) => name.startsWith('bootstrap-token-'))
}

test('CTRL-01: expired bootstrap tokens are deleted, and others at their expiry', async () => {
  const clock = createFakeClock(Date.now())
  const server = await aServer({ clock, controllers: ['*', 'tokencleaner'] })
  const collection = server.client.resource(secrets)
  await collection.create(aBootstrapSecret('aaaaaa', { expiration: '2001-01-01T00:00:00Z' }))
  await collection.create(aBootstrapSecret('bbbbbb', { expiration: new Date(clock.now() + 60_000).toISOString() }))
  await collection.create(aBootstrapSecret('cccccc', {}))
  await until(async () => expect(await secretNames(server)).toEqual(['bootstrap-token-bbbbbb', 'bootstrap-token-cccccc']))
  await until(async () => {
    clock.advance(60_000)
    expect(await secretNames(server)).toEqual(['bootstrap-token-cccccc'])
  })
})

test('CTRL-03, CTRL-12: the ConfigMap cluster-info is signed with every bootstrap token for signing', async () => {
  const server = await aServer({ controllers: ['*', 'bootstrapsigner'] })
  await server.client.resource(secrets).create(aBootstrapSecret('aaaaaa', { 'usage-bootstrap-signing': 'true' }))
  await server.client.resource(secrets).create(aBootstrapSecret('bbbbbb', {}))
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info', namespace: 'orch-public' },
    data: { kubeconfig: 'words' },
  }
  await server.client.resource(configMaps).create(map)
  const signed = async () => (await server.client.resource(configMaps).get('cluster-info', { namespace: 'orch-public' }))['data']
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'aaaaaa' })).toString('base64url')
  const payload = Buffer.from('words').toString('base64url')
  const signature = createHmac('sha256', '0123456789abcdef').update(`${head}.${payload}`).digest('base64url')
  await until(async () => expect(await signed()).toEqual({ kubeconfig: 'words', 'jws-kubeconfig-aaaaaa': `${head}..${signature}` }))
  await server.client.resource(secrets).delete('bootstrap-token-aaaaaa', { namespace })
  await until(async () => expect(await signed()).toEqual({ kubeconfig: 'words' }))
})

test('AUTHN-SA-14: the Secret of a service account gets a token, which authenticates the account, and both are deleted with it', async () => {
  const server = await aServer()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
  await server.client.resource(serviceAccounts).create(account)
  const metadata = { name: 'robot-token', namespace: 'default', annotations: { 'orch.io/service-account.name': 'robot' } }
  await server.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'orch.io/service-account-token' })
  const filled = async () =>
    (await server.client.resource(secrets).get('robot-token', { namespace: 'default' }))['data'] as Record<string, string>
  await until(async () => expect(Object.keys((await filled()) ?? {}).sort()).toEqual(['ca.crt', 'namespace', 'token']))
  const token = Buffer.from((await filled())['token'] ?? '', 'base64').toString()
  expect(await whoIs(server, token)).toMatchObject({ username: 'system:serviceaccount:default:robot' })
  await server.client.resource(serviceAccounts).delete('robot', { namespace: 'default' })
  await until(async () => expect(await whoIs(server, token)).toBe(401))
  await until(() => expect(filled()).rejects.toBeInstanceOf(StatusError))
})

test('AUTHN-SA-14: a Secret of an absent account is deleted, and also a Secret of an earlier account of that name', async () => {
  const server = await aServer()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
  await server.client.resource(serviceAccounts).create(account)
  const create = (name: string, annotations: Record<string, string>) => {
    const metadata = { name, namespace: 'default', annotations }
    return server.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'orch.io/service-account-token' })
  }
  await create('of-none', { 'orch.io/service-account.name': 'gone' })
  await create('of-another', { 'orch.io/service-account.name': 'robot', 'orch.io/service-account.uid': 'x' })
  for (const name of ['of-none', 'of-another']) {
    await until(() => expect(server.client.resource(secrets).get(name, { namespace: 'default' })).rejects.toBeInstanceOf(StatusError))
  }
})

test('WL-SA-01: token Secrets get their data also where the ConfigMap of the first day is refused', async () => {
  const server = await aServer()
  const quotas = server.client.resource({ group: '', version: 'v1', plural: 'resourcequotas', namespaced: true })
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec: { hard: { 'count/configmaps': '0' } } }
  await quotas.create(quota)
  await until(async () => expect(await quotas.get('q', { namespace })).toHaveProperty('status.used'))
  await server.client
    .resource(serviceAccounts)
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } })
  await server.client.resource(secrets).create({
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'orch.io/service-account-token' },
    metadata: { name: 'robot', namespace: 'default', annotations: { 'orch.io/service-account.name': 'robot' } },
  })
  await until(async () =>
    expect((await server.client.resource(secrets).get('robot', { namespace: 'default' }))['data']).toHaveProperty('token'),
  )
})

test('AUTHN-SA-14: an account loses the reference to a deleted token Secret, and keeps its other references', async () => {
  const server = await aServer()
  const accounts = server.client.resource(serviceAccounts)
  const references = [{ name: 'robot-token' }, { name: 'other' }]
  const metadata = { name: 'robot', namespace: 'default' }
  await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata, secrets: references })
  const annotations = { 'orch.io/service-account.name': 'robot' }
  await server.client.resource(secrets).create({
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'orch.io/service-account-token' },
    metadata: { name: 'robot-token', namespace: 'default', annotations },
  })
  const dataOf = async () => (await server.client.resource(secrets).get('robot-token', { namespace: 'default' }))['data']
  await until(async () => expect(await dataOf()).toBeDefined())
  await server.client.resource(secrets).delete('robot-token', { namespace: 'default' })
  await until(async () => expect((await accounts.get('robot', { namespace: 'default' }))['secrets']).toEqual([{ name: 'other' }]))
})

test('WL-SA-01: a token in a Secret is labelled with the day of its use, marked after a year without use, refused, and deleted after another', async () => {
  let passedMs = 0
  const now = () => Date.now() + passedMs
  const today = () => new Date(now()).toISOString().slice(0, 10)
  const flags = [`--token-auth-file=${aFile('boss-token,boss,1,system:masters\n')}`]
  const server = await aServer({ clock: { ...systemClock, now }, flags })
  const inDefault = { namespace: 'default' }
  const create = async (name: string) => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, ...inDefault }, secrets: [{ name }] }
    await server.client.resource(serviceAccounts).create(account)
    await server.client.resource(secrets).create({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'orch.io/service-account-token' },
      metadata: { name, ...inDefault, annotations: { 'orch.io/service-account.name': name } },
    })
  }
  // The certificate of the administrator ends within the first year.
  const ofSecret = (name: string, asking: object = {}) =>
    server.ask(`/api/v1/namespaces/default/secrets/${name}`, { token: 'boss-token', ...asking })
  const labelsOf = async (name: string) => (await ofSecret(name)).body.metadata.labels
  /** The controller looks at a Secret when it changes; its timers wait for days. */
  const passAYear = async () => {
    passedMs += 368 * 24 * 3_600_000
    const body = { metadata: { annotations: { year: today() } } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    for (const name of ['robot', 'mounted']) await ofSecret(name, { method: 'PATCH', headers, body })
  }
  const volumes = [{ name: 'v', secret: { secretName: 'mounted' } }]
  const spec = { containers: [{ name: 'main', image: 'web:1' }], volumes }
  await Promise.all(['robot', 'mounted'].map(create))
  await server.client.resource(pods).create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...inDefault }, spec })
  const tokenOf = async () => Buffer.from((await ofSecret('robot')).body.data?.token ?? '', 'base64').toString()
  await until(async () => expect(await tokenOf()).not.toBe(''))
  const token = await tokenOf()
  const answer = await server.ask('/api', { token })
  expect(answer.headers['warning']).toContain('instead of auto-generated secret-based tokens')
  const used = today()
  await until(async () => expect(await labelsOf('robot')).toEqual({ 'orch.io/legacy-token-last-used': used }))
  const noted = () => server.client.resource(configMaps).get('kube-apiserver-legacy-service-account-token-tracking', { namespace })
  await until(async () => expect((await noted())['data']).toEqual({ since: used }))

  await passAYear()
  const invalid = { 'orch.io/legacy-token-last-used': used, 'orch.io/legacy-token-invalid-since': today() }
  await until(async () => expect(await labelsOf('robot')).toEqual(invalid))
  await until(async () => expect(await whoIs(server, token)).toBe(401))
  await until(async () => expect(await labelsOf('robot')).toEqual({ ...invalid, 'orch.io/legacy-token-last-used': today() }))

  await passAYear()
  await until(async () => expect((await ofSecret('robot')).code).toBe(404))
  expect(await labelsOf('mounted')).toBeUndefined()
})
