import { describe, expect, test } from 'vitest'
import { configMap, created, sharedApi, someConfigMaps } from '../api/api.ts'

const shared = sharedApi({ controllers: [] })

const strange = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","zzz":1},"data":{"k":"1","k":"2"},"bogus":1}'
const problems = ['unknown field \\"bogus\\"', 'unknown field \\"metadata.zzz\\"', 'duplicate field \\"data.k\\"']

describe('unknown and duplicate fields', () => {
  test('VAL-05, VAL-06, VAL-09, VAL-11: by default they are dropped, with a warning for each', async () => {
    const path = await someConfigMaps(shared.api)
    const answer = await shared.api.post(path, strange)
    expect(answer.status).toBe(201)
    for (const problem of problems) expect(answer.headers['warning']).toContain(`299 - "${problem}"`)
    expect(answer.body['data']).toEqual({ k: '2' })
    expect(answer.body).not.toHaveProperty('bogus')
  })

  test('VAL-09: Warn says the same aloud', async () => {
    const answer = await shared.api.post(`${await someConfigMaps(shared.api)}?fieldValidation=Warn`, strange)
    expect([answer.status, String(answer.headers['warning']).split('299 - ').length - 1]).toEqual([201, 3])
  })

  test('VAL-08: Ignore drops them without a word', async () => {
    const answer = await shared.api.post(`${await someConfigMaps(shared.api)}?fieldValidation=Ignore`, strange)
    expect([answer.status, answer.headers['warning']]).toEqual([201, undefined])
  })

  test('VAL-12, VAL-13, ERR-01: Strict names all of them and stores nothing', async () => {
    const path = await someConfigMaps(shared.api)
    const answer = await shared.api.post(`${path}?fieldValidation=Strict`, strange)
    expect(answer.body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringMatching(/^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: /),
    })
    for (const problem of problems) expect(answer.body['message']).toContain(problem.replaceAll('\\', ''))
    expect((await shared.api.get(`${path}/a`)).status).toBe(404)
  })

  test('VAL-14: PUT and PATCH are validated too', async () => {
    const path = await someConfigMaps(shared.api, 'a')
    const put = await shared.api.put(`${path}/a?fieldValidation=Strict`, { ...configMap({ name: 'a' }), bogus: 1 })
    expect(put.body).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "bogus"') })
    const patch = await shared.api.patch(`${path}/a?fieldValidation=Strict`, { bogus: 1 })
    expect(patch.body).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "bogus"') })
  })

  test('QP-16: another value is refused', async () => {
    const answer = await shared.api.post(`${await someConfigMaps(shared.api)}?fieldValidation=Loud`, configMap({ name: 'a' }))
    expect(answer.body).toMatchObject({ code: 422, message: expect.stringContaining('fieldValidation: Unsupported value: "Loud"') })
  })
})

test('VAL-15, GATE-09: with the gate off nothing is warned about', async () => {
  const { openApi } = await import('../api/api.ts')
  const api = await openApi({ controllers: [], featureGates: ['ServerSideFieldValidation=false'] })
  try {
    const answer = await api.post('/api/v1/namespaces/default/configmaps', strange)
    expect([answer.status, answer.headers['warning']]).toEqual([201, undefined])
  } finally {
    await api.stop()
  }
})

describe('a dry run', () => {
  test('DRY-01, DRY-04, DRY-06, DRY-08: creates nothing and answers as if it had', async () => {
    const path = await someConfigMaps(shared.api)
    const pods = path.replace('configmaps', 'pods')
    const answer = await shared.api.post(`${pods}?dryRun=All`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      metadata: { uid: expect.any(String), creationTimestamp: expect.any(String) },
      spec: { restartPolicy: 'Always' },
    })
    expect(answer.body.metadata.resourceVersion).toBeUndefined()
    expect((await shared.api.get(pods)).body.items).toEqual([])
  })

  test('DRY-05, DRY-10: merges a patch and keeps what was there', async () => {
    const path = await someConfigMaps(shared.api)
    const before = await created(shared.api, path, configMap({ name: 'a', data: { x: '1' } }))
    const answer = await shared.api.patch(`${path}/a?dryRun=All`, { data: { y: '2' } })
    expect(answer.body['data']).toEqual({ x: '1', y: '2' })
    expect((await shared.api.get(`${path}/a`)).body).toEqual(before)
  })

  test('DRY-07: finds the mistakes that the real one would', async () => {
    const path = await someConfigMaps(shared.api, 'a')
    expect((await shared.api.post(`${path}?dryRun=All`, configMap({ name: 'A B' }))).status).toBe(422)
    expect((await shared.api.post(`${path}?dryRun=All`, configMap({ name: 'a' }))).status).toBe(409)
  })

  test('DRY-03: without a value it is no dry run', async () => {
    const path = await someConfigMaps(shared.api)
    await created(shared.api, `${path}?dryRun=`, configMap({ name: 'a' }))
    expect((await shared.api.get(`${path}/a`)).status).toBe(200)
  })
})
