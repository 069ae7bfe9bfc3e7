import { domainGroup, namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { type Api, aName, anApi, type Body, created, until } from './api.ts'
import { aConvertedKind, answeringObjects, versionOf, widget } from './conversion-hook.ts'

const migrationsAt = `/apis/${domainGroup(namesOf('kubernetes'), 'storagemigration')}/v1/storageversionmigrations`

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

interface MigrationStatus {
  readonly resourceVersion: string
  readonly conditions: readonly Condition[]
}

const conditionsOf = ({ status = {} }: Body) => (status as Partial<MigrationStatus>).conditions ?? []

const aMigration = (group: string, resource: string) => ({
  apiVersion: `${domainGroup(namesOf('kubernetes'), 'storagemigration')}/v1`,
  kind: 'StorageVersionMigration',
  metadata: { name: aName('m') },
  spec: { resource: { group, resource } },
})

/** The migration after it has ended. */
async function ended(api: Api, group: string, resource: string): Promise<Body> {
  const { metadata } = await created(api, migrationsAt, aMigration(group, resource))
  const { body } = await until(
    () => api.get(`${migrationsAt}/${metadata.name}`),
    ({ body }) => conditionsOf(body).some(({ type, status }) => type !== 'Running' && status === 'True'),
  )
  return body
}

const revisionsOf = (items: readonly Body[]) => Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))

/** A policy that refuses each update of a group's objects, once the policy takes effect. */
async function refuseUpdates(api: Api, group: string): Promise<void> {
  const name = aName('frozen')
  const registration = `${domainGroup(namesOf('kubernetes'), 'admissionregistration')}/v1`
  const rule = { apiGroups: [group], apiVersions: ['*'], resources: ['*'], operations: ['UPDATE'] }
  await created(api, `/apis/${registration}/validatingadmissionpolicies`, {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false', message: 'frozen' }] },
  })
  await created(api, `/apis/${registration}/validatingadmissionpolicybindings`, {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  })
}

test('SVM-04, SVM-05: objects in a former storage version are stored again without another change, and others are not written', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const kind = await aConvertedKind(api)
  for (const name of ['a', 'b', 'c']) await created(api, kind.at('v1'), widget(kind, 'v1', name, { size: 1 }))
  const change = { spec: { versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } }
  expect((await api.patch(kind.definition, change)).status).toBe(200)
  await created(api, kind.at('v2'), widget(kind, 'v2', 'late', { box: { size: 2 } }))
  const before = (await api.get(kind.at('v2'))).body.items
  const first = await ended(api, kind.group, 'widgets')
  expect(conditionsOf(first)).toMatchObject([
    { type: 'Running', status: 'False', reason: 'MigrationCompleted', message: 'Migration completed' },
    { type: 'Succeeded', status: 'True', reason: 'StorageVersionMigrationSucceeded', message: 'Migration completed' },
  ])
  const after = (await api.get(kind.at('v2'))).body.items
  const [then, now] = [revisionsOf(before), revisionsOf(after)]
  expect(Object.keys(now).filter((name) => now[name] !== then[name])).toEqual(['a', 'b', 'c'])
  expect(after.map(({ spec, metadata }) => [spec, metadata.generation])).toEqual(
    before.map(({ spec, metadata }) => [spec, metadata.generation]),
  )
  // No object of the former version is left, so nothing needs the webhook.
  kind.hook.reply = answeringObjects(() => ({ result: { status: 'Failure', message: 'not today' } }))
  expect((await api.get(kind.at('v2'))).status).toBe(200)
  await ended(api, kind.group, 'widgets')
  expect(revisionsOf((await api.get(kind.at('v2'))).body.items)).toEqual(now)
})

test('SVM-06: a migration with an object that cannot be written fails with the answer of the server', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const kind = await aConvertedKind(api)
  await created(api, kind.at('v1'), widget(kind, 'v1', 'old', { size: 1 }))
  const change = { spec: { versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } }
  expect((await api.patch(kind.definition, change)).status).toBe(200)
  await refuseUpdates(api, kind.group)
  const failed = await ended(api, kind.group, 'widgets')
  expect(conditionsOf(failed)).toMatchObject([
    { type: 'Running', status: 'False' },
    {
      type: 'Failed',
      status: 'True',
      reason: 'StorageVersionMigrationFailed',
      message: expect.stringMatching(/^migration encountered unhandled error: .*ValidatingAdmissionPolicy .* denied request: frozen/),
    },
  ])
})

test('SVM-01, SVM-02: the kind is cluster-scoped with a status, its spec is immutable, and a resource is required', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: [] })
  const { metadata } = await created(api, migrationsAt, aMigration('', 'secrets'))
  const at = `${migrationsAt}/${metadata.name}`
  const { status, body } = await api.patch(at, { spec: { resource: { resource: 'configmaps' } } })
  expect([status, body['message']]).toEqual([422, expect.stringContaining('spec: Invalid value: ')])
  expect((await api.get(`${at}/status`)).status).toBe(200)
  const empty = { ...aMigration('', ''), spec: { resource: { group: '', resource: '' } } }
  expect((await api.post(migrationsAt, empty)).status).toBe(422)
})

test('SVM-07: one migration touches no object of another resource or group', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const [one, other] = [await aConvertedKind(api), await aConvertedKind(api)]
  const change = { spec: { versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } }
  for (const kind of [one, other]) {
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    expect((await api.patch(kind.definition, change)).status).toBe(200)
  }
  const [before, otherBefore] = await Promise.all([one, other].map(async (kind) => (await api.get(kind.at('v2'))).body.items))
  await ended(api, one.group, 'widgets')
  const [after, otherAfter] = await Promise.all([one, other].map(async (kind) => (await api.get(kind.at('v2'))).body.items))
  expect(revisionsOf(after ?? [])).not.toEqual(revisionsOf(before ?? []))
  expect(revisionsOf(otherAfter ?? [])).toEqual(revisionsOf(otherBefore ?? []))
})
