import { describe, expect, test } from 'vitest'
import { aName, configMap, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi()
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases'
const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

/** A Deployment whose replicas are written as the argument says. */
const deployment = (name: string, replicas: string) =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`

const patched = (target: string, type: keyof typeof patchTypes, body: unknown) =>
  server.api.send('PATCH', target, { body, headers: { 'content-type': patchTypes[type] } })

describe('numbers in odd forms', () => {
  test.each(['1.0', '1e0', '10e-1', '99999999999999999999'])(
    'VAL-01: of %s as replicas are a 400 in a POST and a PUT',
    async (replicas) => {
      const name = aName('d')
      const why = `json: cannot unmarshal number ${replicas} into Go struct field DeploymentSpec.spec.replicas of type int32`
      const message = `Deployment in version "v1" cannot be handled as a Deployment: ${why}`
      expect(await server.api.post(deployments, deployment(name, replicas))).toMatchObject({ status: 400, body: { message } })
      expect((await server.api.post(deployments, deployment(name, '1'))).status).toBe(201)
      expect(await server.api.put(`${deployments}/${name}`, deployment(name, replicas))).toMatchObject({ status: 400, body: { message } })
    },
  )

  test('VAL-01: such as 2.0 for an integer are refused in merge and JSON patches, and accepted in strategic patches and applies', async () => {
    const name = aName('d')
    const target = `${deployments}/${name}`
    expect((await server.api.post(deployments, deployment(name, '1'))).status).toBe(201)
    const why = 'json: cannot unmarshal number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32'
    for (const [type, body] of [
      ['merge', '{"spec":{"replicas":2.0}}'],
      ['json', '[{"op":"replace","path":"/spec/replicas","value":2.0}]'],
      [
        'json',
        '[{"op":"add","path":"/metadata/annotations","value":{"a":2.0}},{"op":"move","from":"/metadata/annotations/a","path":"/spec/replicas"}]',
      ],
    ] as const) {
      const { status, body: answer } = await patched(target, type, body)
      expect(status).toBe(422)
      expect(answer['message']).toContain('\\"replicas\\":2.0')
      expect(answer['message']).toMatch(new RegExp(`: ${why}$`))
    }
    expect(await patched(target, 'strategic', '{"spec":{"replicas":2.0}}')).toMatchObject({ status: 200, body: { spec: { replicas: 2 } } })
    const applied = await patched(`${target}?fieldManager=m&force=true`, 'apply', deployment(name, '3e0'))
    expect(applied).toMatchObject({ status: 200, body: { spec: { replicas: 3 } } })
  })

  test('are refused likewise in delete options and a scale', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const why = 'json: cannot unmarshal number 1.0 into Go struct field DeleteOptions.gracePeriodSeconds of type int64'
    expect(await server.api.delete(`${path}/a`, '{"gracePeriodSeconds":1.0}')).toMatchObject({ status: 400, body: { message: why } })
    const name = aName('d')
    expect((await server.api.post(deployments, deployment(name, '1'))).status).toBe(201)
    const scale = `{"metadata":{"name":"${name}","namespace":"default"},"spec":{"replicas":6.0}}`
    expect((await server.api.put(`${deployments}/${name}/scale`, scale)).status).toBe(400)
    expect((await patched(`${deployments}/${name}/scale`, 'merge', '{"spec":{"replicas":6.0}}')).status).toBe(422)
  })
})

describe('times in odd forms', () => {
  test('without six digits in a MicroTime are a 400 in a POST and an apply, and a 422 in patches', async () => {
    const name = aName('l')
    const lease = (renewTime: string) => ({
      apiVersion: 'coordination.orch.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { renewTime },
    })
    const time = '2026-01-01T00:00:00.278Z'
    const why = `parsing time "${time}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".278Z" as ".000000"`
    const refusal = { status: 400, body: { message: `Lease in version "v1" cannot be handled as a Lease: ${why}` } }
    expect(await server.api.post(leases, lease(time))).toMatchObject(refusal)
    expect((await server.api.post(leases, lease('2026-01-01T00:00:00.000278Z'))).status).toBe(201)
    for (const [type, body] of [
      ['merge', { spec: { renewTime: time } }],
      ['strategic', { spec: { renewTime: time } }],
      ['json', [{ op: 'add', path: '/spec/renewTime', value: time }]],
    ] as const) {
      const { status, body: answer } = await patched(`${leases}/${name}`, type, body)
      expect([status, String(answer['message']).endsWith(why)]).toEqual([422, true])
    }
    expect((await patched(`${leases}/${name}?fieldManager=m&force=true`, 'apply', lease(time))).status).toBe(400)
  })
})

describe('odd texts', () => {
  test('with an unpaired surrogate get U+FFFD in values and keys, in bodies and patches', async () => {
    const path = await someConfigMaps(server.api)
    const body = '{"metadata":{"name":"a","annotations":{"x":"\\udc00"}},"data":{"a":"x\\ud800y","b":"\\ud83d\\ude00"}}'
    const made = await server.api.post(path, body)
    expect(made.body).toMatchObject({ metadata: { annotations: { x: '\ufffd' } }, data: { a: 'x\ufffdy', b: '😀' } })
    const wrongKey = await server.api.post(path, '{"metadata":{"name":"b"},"data":{"\\ud800":"x"}}')
    expect(wrongKey.status).toBe(422)
    for (const [type, patch] of [
      ['merge', '{"data":{"a":"1\\ud800"}}'],
      ['strategic', '{"data":{"a":"2\\ud800"}}'],
      ['json', '[{"op":"add","path":"/data/a","value":"3\\ud800"}]'],
    ] as const) {
      expect((await patched(`${path}/a`, type, patch)).body).toMatchObject({ data: { a: expect.stringMatching(/^[123]\ufffd$/) } })
    }
  })

  test('with escaped surrogates are refused in an apply, whose body is YAML', async () => {
    const path = await someConfigMaps(server.api)
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},\n"data":{"a":"\\ud83d\\ude00"}}'
    const why = 'yaml: line 2: found invalid Unicode character escape code'
    const message = `error decoding patch: error converting YAML to JSON: ${why}`
    expect(await patched(`${path}/a?fieldManager=m`, 'apply', body)).toMatchObject({ status: 400, body: { message } })
  })

  test('such as null are an object without members', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const message = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
    expect(await server.api.post(path, 'null')).toMatchObject({ status: 422, body: { message } })
    expect((await patched(`${path}/a`, 'strategic', 'null')).status).toBe(200)
    expect(await patched(`${path}/a`, 'merge', 'null')).toMatchObject({ status: 400, body: { message: 'Invalid JSON Patch' } })
    expect(await patched(`${path}/a`, 'json', '[{"op":"add","path":"/data"}]')).toMatchObject({ status: 200 })
  })
})

describe('resourceVersions for absent objects', () => {
  test('are refused in a create if they are numbers: after validation, and not in a dry run', async () => {
    const path = await someConfigMaps(server.api, 'there')
    const message = 'resourceVersion should not be set on objects to be created'
    const refusal = { status: 400, body: { reason: 'BadRequest', message } }
    expect(await server.api.post(path, configMap({ name: 'a', resourceVersion: '012' }))).toMatchObject(refusal)
    expect(await server.api.post(path, configMap({ name: 'there', resourceVersion: '12' }))).toMatchObject(refusal)
    expect((await server.api.post(path, configMap({ name: 'A_', resourceVersion: '12' }))).status).toBe(422)
    const preview = await server.api.post(`${path}?dryRun=All`, configMap({ name: 'a', resourceVersion: '12' }))
    expect(preview).toMatchObject({ status: 201, body: { metadata: { resourceVersion: '12' } } })
    for (const resourceVersion of ['0', '-1', 'v1', '18446744073709551616']) {
      const { status, body } = await server.api.post(path, configMap({ name: aName(), resourceVersion }))
      expect([status, body.metadata.resourceVersion]).toEqual([201, expect.stringMatching(/^[1-9]\d*$/)])
    }
  })

  test('are ignored in a PUT and an apply that create if they are numbers, and refused otherwise', async () => {
    const lease = (name: string, resourceVersion: string) => ({
      apiVersion: 'coordination.orch.io/v1',
      kind: 'Lease',
      metadata: { name, resourceVersion },
    })
    for (const send of [
      (name: string, version: string) => server.api.put(`${leases}/${name}`, lease(name, version)),
      (name: string, version: string) => patched(`${leases}/${name}?fieldManager=m`, 'apply', lease(name, version)),
    ]) {
      const name = aName('l')
      expect((await send(name, 'abc')).status).toBe(400)
      expect((await send(name, '77')).status).toBe(201)
      expect((await send(name, '77')).status).toBe(409)
    }
  })

  test.each([
    ['merge', (version: string) => ({ metadata: { resourceVersion: version } })],
    ['strategic', (version: string) => ({ metadata: { resourceVersion: version } })],
    ['json', (version: string) => [{ op: 'add', path: '/metadata/resourceVersion', value: version }]],
  ] as const)('ERR-19: in a %s patch are a 400 if they are not numbers', async (type, patch) => {
    const path = await someConfigMaps(server.api, 'a')
    for (const [version, why] of [
      ['abc', 'invalid syntax'],
      ['-1', 'invalid syntax'],
      ['18446744073709551616', 'value out of range'],
    ] as const) {
      const { status, body } = await patched(`${path}/a`, type, patch(version))
      expect([status, body['message']]).toEqual([400, expect.stringContaining(`strconv.ParseUint: parsing "${version}": ${why}`)])
    }
    expect((await patched(`${path}/a`, type, patch('7'))).status).toBe(409)
    expect((await patched(`${path}/a`, type, patch('0'))).status).toBe(200)
  })

  test('a taken name beside generateName is refused like a generated name', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const message = 'configmaps "a" already exists, the server was not able to generate a unique name for the object'
    for (const query of ['', '?dryRun=All']) {
      const answer = await server.api.post(`${path}${query}`, configMap({ name: 'a', generateName: 'a-' }))
      expect(answer).toMatchObject({ status: 409, body: { message, details: { retryAfterSeconds: 1 } } })
      expect(answer.headers['retry-after']).toBe('1')
    }
  })
})

describe('MACH-WRITE-12: owners that are listed twice', () => {
  const owner = (uid: string, more: object = {}) => ({ apiVersion: 'gone.example.com/v1', kind: 'Gone', name: 'n', uid, ...more })
  const text = (when: string, uids: string) =>
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`
  const warned = (when: string, uids: string) => `299 - ${JSON.stringify(text(when, uids))}`

  test('are merged with a warning before ownership is computed', async () => {
    const path = await someConfigMaps(server.api)
    const twice = [owner('1', { controller: true }), owner('1', { controller: true }), owner('2'), owner('2'), owner('2')]
    const made = await server.api.post(path, configMap({ name: 'a', ownerReferences: twice }))
    expect(made.status).toBe(201)
    expect(made.headers['warning']).toBe(warned('', '1, 2, 2'))
    expect(made.body.metadata.ownerReferences).toEqual([owner('1', { controller: true }), owner('2')])
    expect(JSON.stringify(made.body.metadata.managedFields)).toContain('k:{\\"uid\\":\\"2\\"}')
    const put = await server.api.put(`${path}/a`, configMap({ name: 'a', ownerReferences: [owner('2'), owner('2')] }))
    expect([put.headers['warning'], put.body.metadata.ownerReferences]).toEqual([warned('', '2'), [owner('2')]])
    const differing = [owner('2'), owner('2', { blockOwnerDeletion: true }), owner('2')]
    const patch = await server.api.patch(`${path}/a`, { metadata: { ownerReferences: differing } })
    expect(patch.headers['warning']).toBe(warned(' after mutating admission happens', '2'))
    expect(patch.body.metadata.ownerReferences).toEqual(differing.slice(0, 2))
  })
})

test('a strategic merge patch whose result is no object is quoted unchanged, in the syntax of Go', async () => {
  const name = aName('d')
  expect((await server.api.post(deployments, deployment(name, '1'))).status).toBe(201)
  const { status, body } = await patched(`${deployments}/${name}`, 'strategic', '{"spec":{"replicas":3.5,"paused":true}}')
  const why = 'cannot convert float64 to int32'
  const message = ` "" is invalid: patch: Invalid value: "map[spec:map[paused:true replicas:3.5]]": ${why}`
  expect([status, body['message']]).toEqual([422, message])
})

test.each([[[]], [[{}]]])('managedFields of %j remove all managers, through PUT and three patches', async (managedFields) => {
  const path = await someConfigMaps(server.api)
  const applied = configMap({ name: 'a', data: { x: '1' } })
  const reset: (() => Promise<{ readonly body: { readonly metadata: object } }>)[] = [
    () => server.api.put(`${path}/a`, configMap({ name: 'a', data: { x: '1' }, managedFields })),
    () => patched(`${path}/a`, 'merge', { metadata: { managedFields } }),
    () => patched(`${path}/a`, 'strategic', { metadata: { managedFields } }),
    () => patched(`${path}/a`, 'json', [{ op: 'replace', path: '/metadata/managedFields', value: managedFields }]),
  ]
  for (const send of reset) {
    const owned = await patched(`${path}/a?fieldManager=m&force=true`, 'apply', applied)
    expect(owned.body.metadata).toHaveProperty('managedFields')
    expect((await send()).body.metadata).not.toHaveProperty('managedFields')
  }
})

test('thousands of owner references to one uid are each checked once', async () => {
  const path = await someConfigMaps(server.api)
  const owner = (at: number) => ({ apiVersion: 'gone.example.com/v1', kind: 'Gone', name: `n-${at % 3_000}`, uid: '1' })
  const ownerReferences = Array.from({ length: 6_000 }, (_, at) => owner(at))
  const { status, body } = await server.api.post(`${path}?dryRun=All`, configMap({ name: 'a', ownerReferences }))
  expect([status, body.metadata.ownerReferences]).toEqual([201, ownerReferences.slice(0, 3_000)])
})
