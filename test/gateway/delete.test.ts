import { describe, expect, test } from 'vitest'
import { aNamespace, type Body, configMap, created, sharedApi, someConfigMaps } from '../api/api.ts'

const shared = sharedApi({ controllers: [] })

async function held(...finalizers: string[]): Promise<string> {
  const path = await someConfigMaps(shared.api)
  await created(shared.api, path, configMap({ name: 'a', finalizers }))
  return `${path}/a`
}

describe('two phases', () => {
  test('DEL-10: an object without finalizers is deleted at once, and the answer names it', async () => {
    const path = await someConfigMaps(shared.api, 'a')
    const { uid } = (await shared.api.get(`${path}/a`)).body.metadata
    const answer = await shared.api.delete(`${path}/a`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid },
    })
    expect((await shared.api.get(`${path}/a`)).status).toBe(404)
  })

  test('DEL-01, DEL-02, DEL-04: an object with finalizers stays readable with its deletion time', async () => {
    const path = await held('x.io/a')
    const answer = await shared.api.delete(path)
    expect(answer.status).toBe(200)
    expect(answer.body.metadata).toMatchObject({
      deletionTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      deletionGracePeriodSeconds: 0,
    })
    expect((await shared.api.get(path)).body).toEqual(answer.body)
  })

  test('DEL-03: a second delete changes nothing', async () => {
    const path = await held('x.io/a')
    const first = await shared.api.delete(path)
    expect((await shared.api.delete(path)).body).toEqual(first.body)
  })

  test('DEL-05, DEL-06, DEL-08: finalizers are removed one by one in any order, and the object with the last one', async () => {
    const path = await held('x.io/a', 'x.io/b')
    await shared.api.delete(path)
    expect((await shared.api.patch(path, { metadata: { finalizers: ['x.io/b'] } })).body.metadata.finalizers).toEqual(['x.io/b'])
    const last = await shared.api.patch(path, { metadata: { finalizers: null } })
    expect([last.status, last.body.kind]).toEqual([200, 'ConfigMap'])
    expect((await shared.api.get(path)).status).toBe(404)
  })

  test('DEL-09: finalizers may be reordered', async () => {
    const path = await held('x.io/a', 'x.io/b')
    expect((await shared.api.patch(path, { metadata: { finalizers: ['x.io/b', 'x.io/a'] } })).body.metadata.finalizers).toEqual([
      'x.io/b',
      'x.io/a',
    ])
  })

  test('DEL-02: an object under deletion accepts no new finalizers', async () => {
    const path = await held('x.io/a')
    await shared.api.delete(path)
    const answer = await shared.api.patch(path, { metadata: { finalizers: ['x.io/a', 'x.io/new'] } })
    expect(answer.body).toMatchObject({
      code: 422,
      message:
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/new"}',
    })
  })

  test('DEL-13: deleting a collection keeps objects with finalizers', async () => {
    const path = await held('x.io/a')
    const collection = path.slice(0, path.lastIndexOf('/'))
    await created(shared.api, collection, configMap({ name: 'b' }))
    const before = (await shared.api.get(collection)).body
    expect((await shared.api.delete(collection)).body).toEqual(before)
    const { items } = (await shared.api.get(collection)).body
    expect(items.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp !== undefined])).toEqual([['a', true]])
  })

  test('META-07, META-11: the name can be reused for another object', async () => {
    const path = await someConfigMaps(shared.api, 'a')
    const before = (await shared.api.get(`${path}/a`)).body.metadata.uid
    await shared.api.delete(`${path}/a`)
    expect((await created(shared.api, path, configMap({ name: 'a' }))).metadata.uid).not.toBe(before)
  })
})

describe('the propagation policy of a delete', () => {
  test('DEL-12: adds its finalizer, and another policy removes it', async () => {
    const path = await held()
    expect((await shared.api.delete(path, { propagationPolicy: 'Foreground' })).body.metadata.finalizers).toEqual(['foregroundDeletion'])
    expect((await shared.api.delete(path, { propagationPolicy: 'Orphan' })).body.metadata.finalizers).toEqual(['orphan'])
    expect((await shared.api.delete(path, { propagationPolicy: 'Background' })).body).toMatchObject({ kind: 'Status', status: 'Success' })
  })

  test('DEL-12: may be in the query', async () => {
    const path = await held()
    expect((await shared.api.delete(`${path}?propagationPolicy=Orphan`)).body.metadata.finalizers).toEqual(['orphan'])
  })

  const wrong: [title: string, options: object, message: RegExp][] = [
    [
      'an unknown policy',
      { propagationPolicy: 'Nope' },
      /propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"/,
    ],
    [
      'a policy in two ways',
      { propagationPolicy: 'Orphan', orphanDependents: true },
      /Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set/,
    ],
    ['an unknown dry run', { dryRun: ['Some'] }, /dryRun: Unsupported value: \["Some"\]: supported values: "All"/],
  ]
  for (const [title, options, message] of wrong) {
    test(`DEL-12: ${title} is refused`, async () => {
      const path = await held()
      expect((await shared.api.delete(path, options)).body).toMatchObject({
        code: 422,
        reason: 'Invalid',
        message: expect.stringMatching(message),
      })
      expect((await shared.api.get(path)).status).toBe(200)
    })
  }

  test('DEL-12: a failed precondition is a conflict', async () => {
    const path = await held()
    const uid = await shared.api.delete(path, { preconditions: { uid: 'zzz' } })
    expect(uid.body).toMatchObject({
      code: 409,
      message: expect.stringContaining('the UID in the precondition (zzz) does not match the UID in record'),
    })
    const version = await shared.api.delete(path, { preconditions: { resourceVersion: '1' } })
    expect(version.body).toMatchObject({
      code: 409,
      message: expect.stringContaining('the ResourceVersion in the precondition (1) does not match the ResourceVersion in record'),
    })
  })

  test('DRY-01, DRY-10: a dry run has the same answer and deletes nothing', async () => {
    const path = await held()
    expect((await shared.api.delete(`${path}?dryRun=All`)).body).toMatchObject({ kind: 'Status', status: 'Success' })
    expect((await shared.api.get(path)).status).toBe(200)
  })

  test('DRY-17: a dry run of a collection deletes nothing', async () => {
    const path = await someConfigMaps(shared.api, 'a', 'b')
    expect((await shared.api.delete(`${path}?dryRun=All`)).status).toBe(200)
    expect((await shared.api.get(path)).body.items).toHaveLength(2)
  })

  test('QP-11, QP-13: selectors restrict a deletion of a collection', async () => {
    const path = await someConfigMaps(shared.api, 'a', 'b')
    await created(shared.api, path, configMap({ name: 'c', labels: { x: 'y' } }))
    await shared.api.delete(`${path}?labelSelector=x%3Dy`)
    await shared.api.delete(`${path}?fieldSelector=metadata.name%3Da`)
    expect((await shared.api.get(path)).body.items.map(({ metadata }) => metadata.name)).toEqual(['b'])
  })
})

describe('deleted Pods wait for their node', () => {
  async function aPod(spec: object = {}): Promise<string> {
    const path = `/api/v1/namespaces/${await aNamespace(shared.api)}/pods`
    await created(shared.api, path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], ...spec },
    })
    return `${path}/p`
  }
  const graceOf = ({ metadata }: Body) => metadata['deletionGracePeriodSeconds']

  test('DEL-11, QP-18: for thirty seconds, or the grace period of the Pod or the request', async () => {
    expect(graceOf((await shared.api.delete(await aPod())).body)).toBe(30)
    expect(graceOf((await shared.api.delete(await aPod({ terminationGracePeriodSeconds: 7 }))).body)).toBe(7)
    expect(graceOf((await shared.api.delete(`${await aPod()}?gracePeriodSeconds=5`)).body)).toBe(5)
  })

  test('DEL-11: for a shorter time after a later delete, and with zero no longer', async () => {
    const path = await aPod()
    const first = (await shared.api.delete(path)).body
    expect((await shared.api.delete(path, { gracePeriodSeconds: 60 })).body).toEqual(first)
    expect(graceOf((await shared.api.delete(path, { gracePeriodSeconds: 5 })).body)).toBe(5)
    await shared.api.delete(path, { gracePeriodSeconds: 0 })
    expect((await shared.api.get(path)).status).toBe(404)
  })

  test('DEL-11: unless they have no node', async () => {
    const path = await aPod({ nodeName: '' })
    expect((await shared.api.delete(path)).body.kind).toBe('Pod')
    expect((await shared.api.get(path)).status).toBe(404)
  })
})
