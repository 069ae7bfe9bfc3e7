import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiObject } from '@orch/core/meta'
import { beforeAll, describe, expect, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { aWebhookServer } from '../admission/webhook-server.ts'
import { aFolder } from '../identity/folder.ts'
import { aKey, anOidcProvider } from '../identity/oidc-provider.ts'
import { aTokenWebhook, withStatus } from '../identity/token-webhook.ts'
import { anAccessWebhook } from './access-webhook.ts'
import { type Connection, maps, post, startThreaded, type ThreadedServer, textOf } from './threaded-server.ts'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

const statusOf = async ({ transport }: Connection, path: string) => {
  const response = await transport.send({ method: 'GET', path, headers: {} })
  await textOf(response)
  return response.status
}
/** A connection to each thread. */
const toBoth = async (server: ThreadedServer, how: Parameters<ThreadedServer['connect']>[1] = {}) =>
  [await server.connect('first', how), await server.connect('other', how)] as const
/** Controllers also send requests. */
const isOfPeople = (question: string) => /^(?:jane|john) list configmaps$/.test(question)
/** Replaces a file that the server reads every ten seconds, and waits until the first thread has applied it. */
const reload = async (server: ThreadedServer, { file, text, what }: { file: string; text: string; what: string }) => {
  const administrator = await server.connect('first')
  const total = async () => {
    const response = await administrator.transport.send({ method: 'GET', path: '/metrics', headers: {} })
    const series = new RegExp(`^apiserver_${what}_config_controller_automatic_reloads_total\\{\\S+,status="success"\\} (\\d+)`, 'm')
    return Number(series.exec(await textOf(response))?.[1] ?? 0)
  }
  const before = await total()
  writeFileSync(file, text)
  server.runEvery(10_000)
  await expect.poll(total).toBe(before + 1)
}

describe.skipIf(!canSharePorts)('shared work with two threads', () => {
  test('calls a token webhook once about a token, in any thread, and refuses a token in each thread after one call', async () => {
    const isGood = (token: string) => token === 'good'
    const { asked, configFile } = await aTokenWebhook((one, response) => {
      withStatus({ authenticated: isGood(one.review.spec.token), user: { username: 'jane' } })(one, response)
    })
    const server = await startThreaded([
      `--authentication-token-webhook-config-file=${configFile}`,
      '--authentication-token-webhook-cache-ttl=1h',
      '--authorization-mode=AlwaysAllow',
    ])
    const both = await toBoth(server, bearer('good'))
    const codes = await Promise.all([...both, ...both, ...both].map((connection) => statusOf(connection, maps)))
    expect(codes).toEqual([200, 200, 200, 200, 200, 200])
    for (const connection of await toBoth(server, bearer('bad'))) expect(await statusOf(connection, maps)).toBe(401)
    expect(asked.map(({ review }) => review.spec.token)).toEqual(['good', 'bad'])
  })

  test('reads an authentication configuration once, fetches the keys of an issuer once, and uses a new configuration in all threads at once', async () => {
    const provider = await anOidcProvider(aKey('one'))
    const issuer = { url: provider.issuer, audiences: ['orch'], certificateAuthority: readFileSync(provider.caFile, 'utf8') }
    const configuration = (fields: object) =>
      JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthenticationConfiguration', ...fields })
    const jwt = [{ issuer, claimMappings: { username: { claim: 'sub', prefix: '' } } }]
    const file = aFolder().write(
      'authentication.json',
      configuration({ jwt, anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }),
    )
    const server = await startThreaded([`--authentication-config=${file}`])
    const jane = await toBoth(server, bearer(await provider.token({ sub: 'jane' })))
    const strangers = await toBoth(server, { isAnonymous: true })
    for (const connection of jane) expect(await statusOf(connection, '/api')).toBe(200)
    const keysAsked = () => provider.asked.filter((path) => path === '/jwks').length
    // Another process prints its requests.
    await expect.poll(keysAsked).toBe(1)
    for (const connection of strangers) {
      expect([await statusOf(connection, '/livez'), await statusOf(connection, '/version')]).toEqual([200, 401])
    }
    await reload(server, { file, what: 'authentication', text: configuration({ jwt: [], anonymous: { enabled: false } }) })
    for (const connection of jane) expect(await statusOf(connection, '/api')).toBe(401)
    for (const connection of strangers) expect(await statusOf(connection, '/livez')).toBe(401)
    expect(keysAsked()).toBe(1)
  })

  test('calls an authorization webhook once for the same access in several threads', async () => {
    const webhook = await anAccessWebhook((user) => user === 'jane')
    const tokens = aFolder().write('tokens.csv', 'of-jane,jane,1\nof-john,john,2\n')
    const server = await startThreaded([
      `--token-auth-file=${tokens}`,
      '--authorization-mode=Webhook',
      `--authorization-webhook-config-file=${webhook.file}`,
    ])
    for (const connection of await toBoth(server, bearer('of-jane'))) expect(await statusOf(connection, maps)).toBe(200)
    for (const connection of await toBoth(server, bearer('of-john'))) expect(await statusOf(connection, maps)).toBe(403)
    expect(webhook.asked.filter(isOfPeople)).toEqual(['jane list configmaps', 'john list configmaps'])
  })

  test('reads an authorization configuration once, and a new one takes effect in all threads', async () => {
    const webhook = await anAccessWebhook((user) => user === 'jane')
    const configuration = (...authorizers: readonly object[]) =>
      JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthorizationConfiguration', authorizers })
    const file = aFolder().write('authorization.json', configuration(webhook.link('asked')))
    const tokens = aFolder().write('tokens.csv', 'of-jane,jane,1\n')
    const server = await startThreaded([`--token-auth-file=${tokens}`, `--authorization-config=${file}`])
    const both = await toBoth(server, bearer('of-jane'))
    for (const connection of both) expect(await statusOf(connection, maps)).toBe(200)
    expect(webhook.asked.filter(isOfPeople)).toEqual(['jane list configmaps'])
    const denying = webhook.link('another', { matchConditions: [{ expression: "request.user == 'nobody'" }] })
    await reload(server, { file, what: 'authorization', text: configuration(denying) })
    for (const connection of both) await expect.poll(() => statusOf(connection, maps)).toBe(403)
  })
})

describe.skipIf(!canSharePorts)('shared work of admission with two threads', () => {
  let server: ThreadedServer
  beforeAll(async () => {
    const limits = [{ type: 'Server', qps: 1, burst: 3 }]
    const configuration = { apiVersion: 'eventratelimit.admission.orch.io/v1alpha1', kind: 'Configuration', limits }
    const folder = mkdtempSync(join(tmpdir(), 'admission-'))
    const file = join(folder, 'admission.json')
    const plugins = [{ name: 'EventRateLimit', configuration }]
    writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }))
    server = await startThreaded(['--enable-admission-plugins=EventRateLimit', `--admission-control-config-file=${file}`], () => {})
    return async () => {
      await server.stop()
      rmSync(folder, { recursive: true })
    }
  })

  test('an admission webhook is called once for a write, whichever thread takes the write', async () => {
    const { serveWebhooks } = await import('../../services/orch/src/start/webhook-endpoint.ts')
    const names: string[] = []
    const endpoint = await serveWebhooks(async (review) => {
      names.push((review as unknown as { readonly request: { readonly name: string } }).request.name)
      return { allowed: true }
    })
    try {
      const [first, other] = await toBoth(server)
      await first.client.objects.create({
        apiVersion: 'admissionregistration.orch.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'counting' },
        webhooks: [
          {
            name: 'counting.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: {
              url: `https://${endpoint.host}:${endpoint.port}/`,
              caBundle: Buffer.from(endpoint.certificateAuthority).toString('base64'),
            },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          },
        ],
      } as unknown as ApiObject)
      const aMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
      for (const [connection, name] of [
        [first, 'probe-of-first'],
        [other, 'probe-of-other'],
      ] as const) {
        const isAsked = async () => {
          await post(connection, `${maps}?dryRun=All`, aMap(name))
          return names.includes(name)
        }
        await expect.poll(isAsked).toBe(true)
      }
      for (const [connection, name] of [
        [first, 'by-first'],
        [other, 'by-other'],
      ] as const) {
        expect((await post(connection, maps, aMap(name))).status).toBe(201)
      }
      expect(names.filter((name) => name.startsWith('by-'))).toEqual(['by-first', 'by-other'])
    } finally {
      await endpoint.close()
    }
  })

  test('bounds calls of a conversion webhook for all threads together', async () => {
    let [underWay, most] = [0, 0]
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const hook = await aWebhookServer(async ({ review, request }, response) => {
      underWay += 1
      most = Math.max(most, underWay)
      await released
      underWay -= 1
      const { uid, objects, desiredAPIVersion } = request
      const convertedObjects = objects.map((object: object) => ({ ...object, apiVersion: desiredAPIVersion }))
      const answer = { ...review, request: undefined, response: { uid, result: { status: 'Success' }, convertedObjects } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    const both = await toBoth(server)
    const versionOf = (name: string) => {
      const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      return { name, served: true, storage: name === 'v1', schema: { openAPIV3Schema } }
    }
    await both[0].client.objects.create({
      apiVersion: 'apiextensions.orch.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: hook.url, caBundle: hook.caBundle }, conversionReviewVersions: ['v1'] },
        },
        versions: [versionOf('v1'), versionOf('v2')],
      },
    } as unknown as ApiObject)
    const widgets = (version: string) => `/apis/example.com/${version}/widgets`
    for (const connection of both) await expect.poll(() => statusOf(connection, widgets('v1'))).toBe(200)
    const names = Array.from({ length: 40 }, (_, index) => `widget-${index}`)
    for (const name of names) {
      await post(both[0], widgets('v1'), { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })
    }
    const read = both.flatMap((connection) => names.map((name) => statusOf(connection, `${widgets('v2')}/${name}`)))
    await expect.poll(() => underWay).toBe(64)
    // The server answers later requests on a connection after the earlier requests.
    for (const connection of both) expect(await statusOf(connection, '/version')).toBe(200)
    release()
    expect(new Set(await Promise.all(read))).toEqual(new Set([200]))
    expect(most).toBe(64)
  })

  test('counts the events of all threads in EventRateLimit', async () => {
    const [first, other] = await toBoth(server)
    const anEvent = (index: number) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `event-${index}`, namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'default' },
    })
    // The clock stands still to the end of the server.
    server.freeze()
    const codes: number[] = []
    for (const [index, connection] of [first, other, first, other, first, other].entries()) {
      codes.push((await post(connection, '/api/v1/namespaces/default/events', anEvent(index))).status)
    }
    expect(codes).toEqual([201, 201, 201, 429, 429, 429])
  })
})
