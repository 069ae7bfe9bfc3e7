import { describe, expect, test } from 'vitest'
import { aNamespace, configMap, configMapsIn, created, sharedApi } from './api.ts'

/** Values that a client can send and that make a careless `JSON.stringify` or `String` throw. */
const server = sharedApi()
const big = '9007199254740993'
const withoutText = '{"toString":1,"valueOf":1}'
const json = { 'content-type': 'application/json' }
const reviews = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews'
const review = (metadata: string) =>
  `{"apiVersion":"authorization.orch.io/v1","kind":"SelfSubjectAccessReview","metadata":${metadata},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`

describe('numbers without a plain text are refused with a message', () => {
  test.each<[string, string, string, string, string, number, string]>([
    ['the kind of options', 'DELETE', '/a', 'application/json', `{"kind":${big}}`, 400, `no kind ${big} is registered`],
    ['the kind of options', 'DELETE', '/a', 'application/json', `{"kind":${withoutText}}`, 400, `no kind ${withoutText}`],
    ['the version of options', 'DELETE', '/a', 'application/json', `{"apiVersion":${big}}`, 400, `version ${big}`],
    ['options of a collection', 'DELETE', '', 'application/yaml', `kind: ${big}\n`, 400, `no kind ${big}`],
    ['a dry run', 'DELETE', '/a', 'application/json', `{"dryRun":[${big}]}`, 400, 'Go struct field DeleteOptions.dryRun of type string'],
    ['a grace', 'DELETE', '/a', 'application/json', `{"gracePeriodSeconds":${big}}`, 400, 'gracePeriodSeconds'],
    [
      'the kind of an object',
      'POST',
      '',
      'application/json',
      `{"kind":${withoutText}}`,
      400,
      `${withoutText} in version "v1" cannot be handled as a ConfigMap`,
    ],
    [
      'the kind of an object',
      'POST',
      '',
      'application/json',
      `{"kind":[${big}]}`,
      400,
      `[${big}] in version "v1" cannot be handled as a ConfigMap`,
    ],
    ['the version of an object', 'PUT', '/a', 'application/json', `{"apiVersion":${withoutText}}`, 400, `version "${withoutText}"`],
    [
      'the kind of a configuration',
      'PATCH',
      '/a',
      'application/apply-patch+yaml',
      `{"apiVersion":"v2","kind":${withoutText}}`,
      400,
      'version: v2',
    ],
    [
      'an operation',
      'PATCH',
      '/a',
      'application/json-patch+json',
      `[{"op":${big},"path":"/x"}]`,
      400,
      'cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    ['a patched kind', 'PATCH', '/a', 'application/merge-patch+json', `{"kind":${withoutText}}`, 422, 'ConfigMap.kind of type string'],
    [
      'a patched version',
      'PATCH',
      '/a',
      'application/strategic-merge-patch+json',
      `{"apiVersion":${big}}`,
      422,
      'cannot convert int64 to string',
    ],
  ])('LIM-12: %s: %s %s, %s, %s', async (_what, method, name, type, body, status, message) => {
    const path = configMapsIn(await aNamespace(server.api))
    await created(server.api, path, configMap({ name: 'a' }))
    const answer = await server.api.send(method, `${path}${name}?fieldManager=m`, { body, headers: { 'content-type': type } })
    expect({ status: answer.status, message: answer.body['message'] }).toEqual({ status, message: expect.stringContaining(message) })
  })

  test('LIM-12: in the metadata of a review', async () => {
    const answer = await server.api.send('POST', reviews, { body: review(`{"generation":${big}}`), headers: json })
    expect(answer.status).toBe(422)
    expect(answer.body['message']).toContain(`"generation":${big}`)
  })

  test('LIM-12: in the lifetime of a token', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/serviceaccounts`
    await created(server.api, path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })
    const body = `{"apiVersion":"authentication.orch.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":${big}}}`
    const answer = await server.api.send('POST', `${path}/a/token`, { body, headers: json })
    expect(answer.status).toBe(422)
    expect(answer.body['message']).toContain(`Invalid value: ${big}: may not specify a duration larger than 2^32 seconds`)
  })
})

test('LIM-12: an integer beyond 2^53 is exact in an answer', async () => {
  const body = `{"apiVersion":"authentication.orch.io/v1","kind":"TokenReview","metadata":{"generation":${big}},"spec":{"token":"a"}}`
  const { status, text } = await server.api.send('POST', '/apis/authentication.orch.io/v1/tokenreviews', { body, headers: json })
  expect(status).toBe(201)
  expect(text).toContain(`"generation":${big}`)
})

test('LIM-12: containers added to a Pod are compared even with integers beyond 2^53', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await created(server.api, path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
  const add = (name: string) =>
    server.api.send('PATCH', `${path}/p/ephemeralcontainers`, {
      body: `{"spec":{"ephemeralContainers":[{"name":"${name}","image":"i","resources":{},"env":[{"name":"A","value":"${big}"}]}]}}`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    })
  expect([(await add('one')).status, (await add('two')).status]).toEqual([200, 200])
})

test('watch is ignored in a read of a subresource', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
  const spec = { ports: [{ port: 80 }] }
  await created(server.api, path, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec })
  const plain = await server.api.get(`${path}/s/status`)
  for (const query of ['watch=1', 'watch=', 'watch=true&sendInitialEvents=true']) {
    expect(await server.api.get(`${path}/s/status?${query}`)).toMatchObject({ status: 200, body: plain.body })
  }
})

test('LIM-12: a number out of range in an apply to an object with owners in another version is a 400', async () => {
  const apply = (version: string, maxReplicas: number) =>
    server.api.send('PATCH', `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/a?fieldManager=m&force=true`, {
      body: {
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'a' },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas },
      },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
  expect((await apply('v2', 2)).status).toBe(201)
  const { status, body } = await apply('v1', 2 ** 40)
  expect({ status, message: body['message'] }).toEqual({
    status: 400,
    message: expect.stringContaining('spec.maxReplicas of type int32'),
  })
})

test('LIM-12: the template of a DaemonSet with an integer beyond 2^53 is compared with the earlier template', async () => {
  const path = '/apis/apps/v1/namespaces/default/daemonsets'
  const body = `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"},"deletionGracePeriodSeconds":${big}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
  expect((await server.api.send('POST', path, { body, headers: json })).status).toBe(201)
  expect((await server.api.send('PUT', `${path}/a`, { body, headers: json })).status).toBe(200)
  expect((await server.api.get(`${path}/a`)).text).toContain(`"deletionGracePeriodSeconds":${big}`)
})
