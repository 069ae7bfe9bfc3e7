import { describe, expect, test } from 'vitest'
import { type Answer, type Api, anApi, type Body, sharedApi, until } from './api.ts'

// The first release that has the feature of observed generations on.
const server = sharedApi({ flags: ['--emulated-version=1.36'] })
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const schema = { openAPIV3Schema: { type: 'object' } }
const version = { name: 'v1', served: true, storage: true, schema }

interface Names {
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind: string
}

function definition(group: string, names: Names, spec: object = {}) {
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names, scope: 'Namespaced', versions: [version], ...spec },
  }
}

const create = (group: string, names: Names, spec: object = {}): Promise<Answer> =>
  server.api.post(definitions, definition(group, names, spec))
const pathOf = (group: string, plural: string): string => `${definitions}/${plural}.${group}`

/** Status and reason of the conditions, by type. */
function conditionsOf({ body }: Pick<Answer, 'body'>): Record<string, string> {
  const { conditions = [] } = body['status'] as { conditions?: { type: string; status: string; reason: string }[] }
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

function namesOf({ body }: Pick<Answer, 'body'>): Partial<Names> {
  return (body['status'] as { acceptedNames: Partial<Names> }).acceptedNames
}

interface Owner {
  readonly manager: string
  readonly subresource?: string
  readonly fieldsV1: Readonly<Record<string, object>>
}

function ownersOf({ body }: Pick<Answer, 'body'>): readonly Owner[] {
  return (body.metadata as { managedFields?: readonly Owner[] }).managedFields ?? []
}

const whole = { NamesAccepted: 'True NoConflicts', Established: 'True InitialNamesAccepted' }

describe('names and conditions', () => {
  test('CRD-04, CRD-57, CRD-59: a definition is established in the answer of its create', async () => {
    const answer = await create('first.example.com', { plural: 'widgets', kind: 'Widget' })
    expect(answer.status).toBe(201)
    expect(conditionsOf(answer)).toEqual(whole)
    expect(namesOf(answer)).toEqual({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' })
    expect(answer.body['status']).toMatchObject({ storedVersions: ['v1'] })
    expect(answer.body.metadata.generation).toBe(1)
  })

  test('CRD-08, MACH-CRD-05: the server sets no observedGeneration; from 1.36 on a writer of the status may set it, and it stays', async () => {
    const release = async (api: Api, group: string) => {
      const path = pathOf(group, 'widgets')
      const { body } = await api.post(definitions, definition(group, { plural: 'widgets', kind: 'Widget' }))
      expect(conditionsOf({ body })).toEqual(whole)
      expect(JSON.stringify(body['status'])).not.toContain('observedGeneration')
      const { conditions } = body['status'] as { conditions: readonly object[] }
      const noted = conditions.map((condition) => ({ ...condition, observedGeneration: 7 }))
      await api.patch(`${path}/status`, { status: { observedGeneration: 7, conditions: noted } })
      await api.patch(path, { spec: { names: { shortNames: ['wd'] } } })
      return JSON.stringify((await api.get(path)).body['status']).match(/"observedGeneration":7/g)?.length ?? 0
    }
    expect(await release(server.api, 'observed.example.com')).toBe(3)
    expect(await release(await anApi({ version: '1.35' }), 'plain.example.com')).toBe(0)
  })

  test('the server owns the names and conditions in the status, and the writer owns the rest', async () => {
    const group = 'owned.example.com'
    await create(group, { plural: 'kites', kind: 'Kite' })
    const owners = async () => ownersOf(await server.api.get(pathOf(group, 'kites')))
    const first = await owners()
    expect(first).toHaveLength(2)
    const status = first.find(({ subresource }) => subresource === 'status')
    const own = first.find(({ subresource }) => subresource === undefined)
    expect(status).toMatchObject({ manager: 'orch-apiserver', operation: 'Update' })
    expect(Object.keys(status?.fieldsV1 ?? {})).toEqual(['f:status'])
    expect(Object.keys(status?.fieldsV1['f:status'] ?? {})).toEqual(expect.arrayContaining(['f:acceptedNames', 'f:conditions']))
    expect(own?.fieldsV1).toHaveProperty('f:spec')
    expect(own?.fieldsV1).not.toHaveProperty('f:status')
    const renamed = { spec: { names: { plural: 'kites', kind: 'Kite', shortNames: ['kt'] } } }
    await server.api.patch(`${pathOf(group, 'kites')}?fieldManager=renamer`, renamed)
    expect((await owners()).find(({ subresource }) => subresource === 'status')?.fieldsV1['f:status']).toHaveProperty([
      'f:acceptedNames',
      'f:shortNames',
    ])
    expect((await owners()).find(({ manager }) => manager === 'renamer')?.fieldsV1).toEqual({
      'f:spec': { 'f:names': { 'f:shortNames': {} } },
    })
  })

  test('CRD-54, CRD-55: a name of another definition of the group is not assigned', async () => {
    const group = 'second.example.com'
    await create(group, { plural: 'apples', kind: 'Apple', shortNames: ['ap'] })
    const answer = await create(group, { plural: 'apricots', kind: 'Apricot', shortNames: ['ap'] })
    expect(conditionsOf(answer)).toEqual({ NamesAccepted: 'False ShortNamesConflict', Established: 'False NotAccepted' })
    expect(namesOf(answer)).not.toHaveProperty('shortNames')
    expect(conditionsOf(await create('third.example.com', { plural: 'apricots', kind: 'Apricot', shortNames: ['ap'] }))).toEqual(whole)
  })

  test('CRD-60: a name that its definition drops is assigned to the waiting definition', async () => {
    const group = 'fourth.example.com'
    await create(group, { plural: 'pears', kind: 'Pear', shortNames: ['p'] })
    await create(group, { plural: 'plums', kind: 'Plum', shortNames: ['p'] })
    await server.api.patch(pathOf(group, 'pears'), { spec: { names: { plural: 'pears', kind: 'Pear', shortNames: ['pe'] } } })
    const settled = await until(
      () => server.api.get(pathOf(group, 'plums')),
      (answer) => conditionsOf(answer)['NamesAccepted'] === 'True NoConflicts',
    )
    expect(conditionsOf(settled)).toEqual(whole)
    expect(namesOf(settled)).toMatchObject({ shortNames: ['p'] })
  })

  test('CRD-58: a definition stays established when a later name is refused', async () => {
    const group = 'fifth.example.com'
    await create(group, { plural: 'cats', kind: 'Cat' })
    await create(group, { plural: 'dogs', kind: 'Dog' })
    const names = { plural: 'dogs', kind: 'Dog', shortNames: ['cat'] }
    const answer = await server.api.patch(pathOf(group, 'dogs'), { spec: { names } })
    expect(conditionsOf(answer)).toEqual({ NamesAccepted: 'False ShortNamesConflict', Established: 'True InitialNamesAccepted' })
  })

  test('of two definitions that request one name at the same time only one gets it', async () => {
    const group = 'sixth.example.com'
    const answers = await Promise.all(
      ['as', 'bs', 'cs', 'ds'].map((plural) => create(group, { plural, kind: plural.toUpperCase(), shortNames: ['one'] })),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(answers.filter((answer) => conditionsOf(answer)['NamesAccepted'] === 'True NoConflicts')).toHaveLength(1)
  })

  test('a dry run shows no names, as in kube-apiserver, and assigns none', async () => {
    const group = 'seventh.example.com'
    const body = definition(group, { plural: 'tries', kind: 'Try', shortNames: ['t'] })
    const { body: tried } = await server.api.post(`${definitions}?dryRun=All`, body)
    expect(tried['status']).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    expect(conditionsOf(await create(group, { plural: 'trials', kind: 'Trial', shortNames: ['t'] }))).toEqual(whole)
  })

  test('CRD-07: a write of the status keeps the spec, and assigns no names', async () => {
    const group = 'eighth.example.com'
    const { body } = await create(group, { plural: 'stones', kind: 'Stone' })
    const changed = {
      ...body,
      metadata: { ...body.metadata, labels: { a: 'b' } },
      spec: { ...(body['spec'] as object), preserveUnknownFields: true },
      status: { ...(body['status'] as object), acceptedNames: { plural: 'others', kind: 'Other' } },
    }
    const answer = await server.api.put(`${pathOf(group, 'stones')}/status`, changed)
    expect(answer.status).toBe(200)
    expect(answer.body.metadata.labels).toEqual({ a: 'b' })
    expect(answer.body['spec']).toEqual(body['spec'])
    expect(namesOf(answer)).toMatchObject({ plural: 'stones', kind: 'Stone' })
  })

  test('CRD-06: the generation counts only changes of the spec', async () => {
    const group = 'ninth.example.com'
    await create(group, { plural: 'hills', kind: 'Hill' })
    const path = pathOf(group, 'hills')
    const generation = async (patch: object, at = path): Promise<number> => (await server.api.patch(at, patch)).body.metadata.generation
    expect(await generation({ metadata: { labels: { a: 'b' } } })).toBe(1)
    expect(await generation({ status: { storedVersions: ['v1'] } }, `${path}/status`)).toBe(1)
    expect(await generation({ spec: { names: { plural: 'hills', kind: 'Hill', categories: ['all'] } } })).toBe(2)
  })
})

describe('the deletion of a definition', () => {
  const deleted = async (group: string, plural: string): Promise<Body> => (await server.api.delete(pathOf(group, plural))).body

  test('CRD-140: waits for its objects', async () => {
    const group = 'tenth.example.com'
    await create(group, { plural: 'boats', kind: 'Boat' })
    const body = await deleted(group, 'boats')
    expect(body.metadata).toMatchObject({
      generation: 1,
      finalizers: ['customresourcecleanup.apiextensions.orch.io'],
      deletionTimestamp: expect.any(String),
    })
    expect(body.metadata).not.toHaveProperty('deletionGracePeriodSeconds')
    expect(conditionsOf({ body })).toEqual({ ...whole, Terminating: 'True InstanceDeletionPending' })
  })

  test('CRD-143, CRD-147: follows the deletion of its objects, and its name can be reused', async () => {
    const group = 'eleventh.example.com'
    const first = await create(group, { plural: 'ships', kind: 'Ship', shortNames: ['sh'] })
    await deleted(group, 'ships')
    await until(
      () => server.api.get(pathOf(group, 'ships')),
      ({ status }) => status === 404,
    )
    const second = await create(group, { plural: 'ships', kind: 'Ship', shortNames: ['sh'] })
    expect(conditionsOf(second)).toEqual(whole)
    expect(second.body.metadata.uid).not.toBe(first.body.metadata.uid)
  })

  test('CRD-145: also works for a definition that was never established', async () => {
    const group = 'twelfth.example.com'
    await create(group, { plural: 'vans', kind: 'Van', shortNames: ['v'] })
    await create(group, { plural: 'vats', kind: 'Vat', shortNames: ['v'] })
    await deleted(group, 'vats')
    await until(
      () => server.api.get(pathOf(group, 'vats')),
      ({ status }) => status === 404,
    )
    expect((await server.api.get(pathOf(group, 'vans'))).status).toBe(200)
  })

  test('CRD-60: releases its names to the waiting definition', async () => {
    const group = 'thirteenth.example.com'
    await create(group, { plural: 'roads', kind: 'Road', shortNames: ['r'] })
    await create(group, { plural: 'rails', kind: 'Rail', shortNames: ['r'] })
    await deleted(group, 'roads')
    const settled = await until(
      () => server.api.get(pathOf(group, 'rails')),
      (answer) => conditionsOf(answer)['NamesAccepted'] === 'True NoConflicts',
    )
    expect(conditionsOf(settled)).toEqual(whole)
  })

  test('CRD-141: with a failed precondition is a 409', async () => {
    const group = 'fourteenth.example.com'
    await create(group, { plural: 'lamps', kind: 'Lamp' })
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
      const { status } = await server.api.send('DELETE', pathOf(group, 'lamps'), { body: { preconditions } })
      expect(status).toBe(409)
    }
  })
})
