import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { aConfigMap, clusterStarter } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { start } from './start.ts'
import type { ServerUser } from './user.ts'

const startCluster = clusterStarter({ embedded: start })
const startKubernetes = () => startCluster({ mode: 'embedded', options: { profile: 'kubernetes' } })
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const secrets = { group: '', version: 'v1', plural: 'secrets', namespaced: true }
const inDefault = { namespace: 'default' }

function whoAmI({ client }: Pick<ServerUser, 'client'>) {
  return client.objects.create({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} })
}

async function clientOf(kubeconfig: string) {
  const client = createClient(createHttpsTransport(await parseConfiguration(kubeconfig)))
  onTestFinished(() => client.close())
  return client
}

describe('a user of a test', () => {
  test('is identified by its name and groups, by its client and by its configuration file', async () => {
    const server = await startKubernetes()
    const operator = server.user('operator', { groups: ['team-a'] })
    const userInfo = { username: 'operator', groups: ['team-a', 'system:authenticated'] }
    expect(await whoAmI(operator)).toMatchObject({ status: { userInfo } })
    expect(await whoAmI({ client: await clientOf(operator.kubeconfig) })).toMatchObject({ status: { userInfo } })
    expect(server.user('operator')).toBe(operator)
    expect(() => server.user('operator', {})).toThrow('the user has been made')
    expect(() => server.user('')).toThrow('must not be empty')
    expect(() => server.user('crowd', { groups: Array(1_001).fill('g') })).toThrow('user("crowd"): 1001 groups: at most 1000')
  })

  test('may do everything, or as much as its rules allow, before and after a reset', async () => {
    const server = await startKubernetes()
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get'] }]
    const [operator, reader] = [server.user('operator'), server.user('reader', { rules })]
    for (const round of [1, 2]) {
      await operator.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'default' } })
      await reader.client.resource(configMaps).create(aConfigMap({ name: 'a' }))
      const refused = { reason: 'Forbidden', message: expect.stringContaining('User "reader" cannot list resource "secrets"') }
      await expect(reader.client.resource(secrets).list(inDefault), `round ${round}`).rejects.toMatchObject(refused)
      await server.reset()
    }
  })
})

describe('the log of requests', () => {
  test('has the user, the request and the answer of each line', async () => {
    const server = await startKubernetes()
    const operator = server.user('operator')
    server.requests.clear()
    const maps = operator.client.resource(configMaps)
    const created = await maps.create(aConfigMap({ name: 'a', data: { x: '1' } }))
    await maps.update(created)
    await maps.update({ ...created, data: { x: '2' } })
    await maps.update({ ...created, data: { x: '3' } }).catch(() => undefined)
    await maps.create(aConfigMap({ name: 'b' }), { dryRun: true })
    const { metadata } = await maps.list(inDefault)
    await server.client.resource(configMaps).get('a', inDefault)
    expect(operator.requests().map(({ verb, name, code, changed, noop }) => [verb, name, code, changed, noop])).toEqual([
      ['create', 'a', 201, true, false],
      ['update', 'a', 200, false, true],
      ['update', 'a', 200, true, false],
      ['update', 'a', 409, false, false],
      ['create', 'b', 201, false, false],
      ['list', '', 200, false, false],
    ])
    const [first] = operator.requests()
    expect(first).toMatchObject({ user: 'operator', resource: 'configmaps', group: '', namespace: 'default', subresource: '' })
    expect(first?.revision).toBe(Number(created.metadata.resourceVersion))
    expect(operator.requests({ verb: 'list' })[0]?.revision).toBe(Number(metadata.resourceVersion))
    expect([server.requests.count({ verb: 'get', resource: 'configmaps' }), operator.requests.count({ noop: true })]).toEqual([1, 1])
    expect(operator.requests({ since: Date.now() + 60_000 })).toEqual([])
  })

  test('has a watch while it is open, with its number', async () => {
    const server = await startKubernetes()
    const operator = server.user('operator')
    const leaving = new AbortController()
    await operator.client.resource(configMaps).watch({ ...inDefault, signal: leaving.signal })
    const [begun] = operator.requests({ verb: 'watch' })
    // Controllers also watch.
    expect(begun).toMatchObject({ watch: expect.any(Number), code: 200 })
    expect(begun?.durationMs).toBeUndefined()
    leaving.abort()
    await vi.waitFor(() => expect(operator.requests({ verb: 'watch' })[0]?.durationMs).toBeGreaterThanOrEqual(0), 10_000)
    expect(operator.requests.count({ verb: 'watch' })).toBe(1)
  })

  test('can be printed as a table, and is empty after it is cleared', async () => {
    const server = await startKubernetes()
    server.requests.clear()
    await server
      .user('operator')
      .client.resource(configMaps)
      .create(aConfigMap({ name: 'a' }))
    expect(server.requests.print({ user: /^oper/ })).toMatch(
      /^\S+Z {2}operator {2}create {2}configmaps default\/a {2}201 {2}@\d+ {2}changed\n$/,
    )
    server.requests.clear()
    expect(server.requests.print()).toBe('')
  })

  test('refuses an unknown member of a filter', async () => {
    const server = await startKubernetes()
    expect(() => server.requests({ verbs: 'get' } as object)).toThrow('verbs is no member of a match')
  })
})
