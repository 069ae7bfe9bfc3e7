import { createCatalogue } from '@orch/core/catalogue'
import { gatesByDefault } from '@orch/core/feature-gates'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Authorizer } from '../../services/gateway/src/authorization/authorizer.ts'
import { ConfiguredEncryption, encryptStore, localTransformer } from '../../services/storage/src/encryption/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { aGateway, allConfigMaps, anAdmission, collection, configMap, merge } from './own-gateway.ts'

const key = 'core/configmaps/default/a'
const option = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const unsafely = `${collection}/a?${option}=true`
const problem = `${key} cannot be decrypted with k8s:enc:aesgcm:v1:k:: the value or the key is not the one that it was written with`
const corrupt = { code: 500, reason: 'InternalError', message: `Internal error occurred: StorageError: corrupt object: ${problem}` }

/** A gateway over a storage with the ConfigMaps a and b; the test has altered the stored bytes of a. */
async function anAlteredGateway(given: Parameters<typeof aGateway>[1] = {}) {
  const options = { catalogue: createCatalogue('orch', { isGateOn: () => true }), ...given }
  const inner = createMemoryStore()
  const open = async () => {
    const local = localTransformer('aesgcm', { name: 'k', secret: new Uint8Array(32).fill(7) })
    const encryption = new ConfiguredEncryption([{ resources: ['configmaps'], transformers: [local] }])
    const store = encryptStore(inner, { encryption, clock: createFakeClock(), onError: () => {} })
    const storage = await createStorage({ store })
    onTestFinished(() => storage.close())
    return storage
  }
  const whole = await aGateway(undefined, {}, await open())
  for (const name of ['a', 'b']) {
    const body = { ...configMap({ x: name }), metadata: { name, finalizers: ['example.com/held'] } }
    expect((await whole.call('POST', collection, body)).code).toBe(201)
  }
  const { revision } = inner.status()
  const record = await inner.getAt(key, revision)
  const value = Uint8Array.from(record?.value ?? [])
  value[value.length - 1]! ^= 1
  await inner.commit({ key, expected: record?.revision ?? 0, conditions: [], value, writeId: 'altered' })
  const storage = await open()
  const gateway = await aGateway(undefined, options, storage)
  const ask = async (method: string, path: string, body?: unknown, type?: string) => {
    const { code, body: answer } = await gateway.call(method, path, body, type)
    const { reason, message } = answer
    return { code, reason, message, answer: answer as unknown as Record<string, unknown> }
  }
  return { ask, storage, inner, open, revision }
}

describe('READ-22: an unreadable object', () => {
  test.each([
    ['GET', `${collection}/a`, undefined],
    ['GET', `${collection}/a?resourceVersion=0`, undefined],
    ['DELETE', `${collection}/a`, undefined],
    ['PUT', `${collection}/a`, configMap()],
    ['PATCH', `${collection}/a`, {}],
  ])('is a 500 for %s %s, and stays', async (method, path, body) => {
    const { ask, inner } = await anAlteredGateway()
    const before = inner.status().revision
    expect(await ask(method, path, body, method === 'PATCH' ? merge : undefined)).toMatchObject(corrupt)
    expect(inner.status().revision).toBe(before)
  })

  test('makes a create of its name fail as existing', async () => {
    const { ask } = await anAlteredGateway()
    expect(await ask('POST', collection, configMap())).toMatchObject({ code: 409, reason: 'AlreadyExists' })
  })

  test.each([collection, '/api/v1/configmaps', `${collection}?limit=1`, `${collection}?resourceVersion=0`, `${collection}?watch=true`])(
    'makes %s a 500 that names it',
    async (path) => {
      const { ask } = await anAlteredGateway()
      const { code, reason, message, answer } = await ask('GET', path)
      expect({ code, reason }).toEqual({ code: 500, reason: 'StorageReadError' })
      expect(message).toContain('failed to read one or more configmaps from the storage: ')
      const causes = [{ reason: 'UnexpectedServerResponse', message: problem, field: key }]
      expect(answer['details']).toEqual({ kind: 'configmaps', causes })
    },
  )

  test('does not affect others: objects of its kind by name, other namespaces and other kinds', async () => {
    const { ask } = await anAlteredGateway()
    expect((await ask('GET', `${collection}/b`)).code).toBe(200)
    expect((await ask('GET', '/api/v1/namespaces/other/configmaps')).code).toBe(200)
    expect((await ask('GET', '/api/v1/namespaces/default/secrets')).code).toBe(200)
  })

  test('is deleted by the option, with any finalizers, permanently', async () => {
    const { ask, inner, open } = await anAlteredGateway()
    const { code, answer } = await ask('DELETE', unsafely)
    expect({ code, status: answer['status'], details: answer['details'] }).toEqual({
      code: 200,
      status: 'Success',
      details: { name: 'a', kind: 'configmaps' },
    })
    expect((await ask('GET', `${collection}/a`)).code).toBe(404)
    const list = await ask('GET', collection)
    expect(list.answer['items']).toMatchObject([{ metadata: { name: 'b' } }])
    expect(await inner.getAt(key, inner.status().revision)).toBeUndefined()
    const again = await aGateway(undefined, {}, await open())
    expect((await again.call('GET', collection)).code).toBe(200)
    expect((await ask('POST', collection, configMap())).code).toBe(201)
  })

  test('MACH-DEL-02: stays after a dry run of its deletion, which succeeds', async () => {
    const { ask, inner } = await anAlteredGateway()
    const before = inner.status().revision
    expect((await ask('DELETE', `${unsafely}&dryRun=All`)).code).toBe(200)
    expect(inner.status().revision).toBe(before)
    expect(await ask('GET', `${collection}/a`)).toMatchObject(corrupt)
  })

  test('is deleted by the option in the body too', async () => {
    const { ask } = await anAlteredGateway()
    expect((await ask('DELETE', `${collection}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', [option]: true })).code).toBe(200)
  })

  test('is a change without an object in streams of storage, from memory and, after a restart, from the store', async () => {
    const { ask, storage, inner, open, revision } = await anAlteredGateway()
    await ask('DELETE', unsafely)
    const last = inner.status().revision
    const changesOf = async (from: Awaited<ReturnType<typeof open>>, after: number) => {
      const stream = from.changes({ after, epoch: '', resources: ['core/configmaps'] })
      for await (const part of stream) {
        stream.close()
        return part.kind === 'changes' ? part.changes.map((change) => [change.key, change.after !== undefined]) : [part.kind]
      }
    }
    expect(await changesOf(storage, last - 1)).toEqual([[key, false]])
    const changes = await changesOf(await open(), revision)
    expect(changes).toEqual([
      [key, false],
      [key, false],
    ])
  })
})

describe('READ-22: the option ignoreStoreReadErrorWithClusterBreakingPotential is refused', () => {
  const invalidText = (why: string) => `${option}: Invalid value: true: ${why}`

  test.each([
    [
      'can be read',
      'b',
      409,
      'Key: /registry/configmaps/default/b, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed',
    ],
    ['is not there', 'c', 404, 'configmaps "c" not found'],
  ])('MACH-DEL-02: for an object that %s', async (_, name, code, why) => {
    const { ask, inner } = await anAlteredGateway()
    const before = inner.status().revision
    const message = expect.stringContaining(why)
    expect(await ask('DELETE', `${collection}/${name}?${option}=true`)).toMatchObject({ code, message })
    expect(await ask('DELETE', `${collection}/${name}?${option}=true&dryRun=All`)).toMatchObject({ code, message })
    expect(inner.status().revision).toBe(before)
  })

  test.each([
    ['propagationPolicy', { propagationPolicy: 'Background' }],
    ['orphanDependents', { orphanDependents: false }],
    ['gracePeriodSeconds', { gracePeriodSeconds: 0 }],
    ['preconditions', { preconditions: { uid: 'u' } }],
  ])('beside %s', async (name, fields) => {
    const { ask } = await anAlteredGateway()
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', [option]: true, ...fields }
    const message = expect.stringContaining(invalidText(`cannot be set together with .${name}`))
    expect(await ask('DELETE', `${collection}/a`, body)).toMatchObject({ code: 422, message })
    expect(await ask('GET', `${collection}/a`)).toMatchObject(corrupt)
  })

  test('for a collection', async () => {
    const { ask } = await anAlteredGateway()
    const message = expect.stringContaining(invalidText('is not allowed with DELETECOLLECTION, try again after removing the option'))
    expect(await ask('DELETE', `${collection}?${option}=true`)).toMatchObject({ code: 422, message })
  })

  test('for users with the right to delete and without the special verb, also in another namespace', async () => {
    const verb = 'unsafe-delete-ignore-read-errors'
    const asked: string[] = []
    const authorizer: Authorizer = {
      authorize(_user, access) {
        if (access.kind !== 'resource' || access.verb !== verb) return { kind: 'allow', reason: '' }
        asked.push(`${access.namespace} ${access.resource} ${access.name}`)
        return { kind: 'noOpinion', reason: 'nobody says so' }
      },
      rulesOf: () => ({ rules: [] }),
    }
    const authorization = { authorizers: [authorizer] } as unknown as NonNullable<Parameters<typeof aGateway>[1]>['authorization']
    const { ask } = await anAlteredGateway(authorization === undefined ? {} : { authorization })
    const refused = { code: 403, message: expect.stringContaining(`not permitted to do "${verb}", reason: nobody says so`) }
    expect(await ask('DELETE', unsafely)).toMatchObject(refused)
    expect(await ask('DELETE', unsafely.replace('default', 'other'))).toMatchObject(refused)
    expect(asked).toEqual(['default configmaps a', 'other configmaps a'])
    expect(await ask('GET', `${collection}/a`)).toMatchObject(corrupt)
  })

  test('as an unknown field if the gate is off', async () => {
    const isGateOn = (name: string) => name !== 'AllowUnsafeMalformedObjectDeletion' && gatesByDefault(name)
    const { ask } = await anAlteredGateway({ catalogue: createCatalogue('orch', { isGateOn }) })
    expect(await ask('DELETE', unsafely)).toMatchObject(corrupt)
    expect((await ask('DELETE', `${collection}/b?${option}=true`)).code).toBe(200)
  })

  test('by admission', async () => {
    const admission = anAdmission(allConfigMaps)
    admission.admit = async ({ phase, attributes }) => {
      admission.asked.push(`${phase} ${attributes.operation} ${attributes.name} ${attributes.oldObject === undefined}`)
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'no',
        reason: 'Forbidden',
        code: 403,
      } as const
      return { kind: 'denied', status, warnings: [], auditAnnotations: [], steps: [], counts: [], conditions: [], reservations: [] }
    }
    const { ask } = await anAlteredGateway({ admission })
    expect(await ask('DELETE', unsafely)).toMatchObject({ code: 403, message: 'no' })
    expect(admission.asked).toEqual(['mutate DELETE a true'])
    expect(await ask('GET', `${collection}/a`)).toMatchObject(corrupt)
  })
})
