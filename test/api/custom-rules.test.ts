import { expect, test } from 'vitest'
import { aDefinition } from '../definition.ts'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { min: { type: 'integer' }, max: { type: 'integer' }, mode: { type: 'string' } },
      'x-kubernetes-validations': [
        { rule: 'self.min <= self.max', messageExpression: "'min %d is above max'.format([self.min])", fieldPath: '.min' },
        { rule: 'self.mode == oldSelf.mode', message: 'mode is immutable', reason: 'FieldValueForbidden' },
      ],
    },
  },
}

/** The path of a kind whose objects have rules, and an object of the kind. */
async function ruled(): Promise<{ readonly collection: string; readonly object: (spec: object) => Record<string, unknown> }> {
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(server.api)
  await created(
    server.api,
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    aDefinition({ domain: 'k8s.io', group, plural: 'ranges', kind: 'Range', schema: { openAPIV3Schema: schema } }),
  )
  return {
    collection: `/apis/${group}/v1/namespaces/${namespace}/ranges`,
    object: (spec) => ({ apiVersion: `${group}/v1`, kind: 'Range', metadata: { name: 'a' }, spec }),
  }
}

test('CEL-27 CEL-30: an object that breaks a rule is a 422 with the message of the rule at its field', async () => {
  const { collection, object } = await ruled()
  const { status, body } = await server.api.post(collection, object({ min: 2, max: 1, mode: 'x' }))
  expect(status).toBe(422)
  expect(body['details']).toMatchObject({
    causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value: min 2 is above max', field: 'spec.min' }],
  })
  expect((await server.api.post(collection, object({ min: 1, max: 2, mode: 'x' }))).status).toBe(201)
})

test('CEL-29 CEL-31: a rule about the old value is evaluated on updates', async () => {
  const { collection, object } = await ruled()
  await created(server.api, collection, object({ min: 1, max: 2, mode: 'x' }))
  const live = (await server.api.get(`${collection}/a`)).body
  const { status, body } = await server.api.put(`${collection}/a`, { ...live, spec: { min: 1, max: 2, mode: 'y' } })
  expect(status).toBe(422)
  expect(body['details']).toMatchObject({
    causes: [{ reason: 'FieldValueForbidden', message: 'Forbidden: mode is immutable', field: 'spec' }],
  })
})

test('CRD-100: rules are not evaluated on an object of wrong types', async () => {
  const { collection, object } = await ruled()
  const { status, body } = await server.api.post(collection, object({ min: 'a', max: 1 }))
  expect(status).toBe(422)
  expect(body['message']).toContain('some validation rules were not checked because the object was invalid')
})

test('CEL-42, CEL-43: a message expression that creates a string of unbounded length is refused', async () => {
  const group = `${aName('g')}.example.com`
  const rule = { rule: 'self.min <= self.max', messageExpression: "'min ' + string(self.min) + ' is above max'" }
  const spec = { ...schema.properties.spec, 'x-kubernetes-validations': [rule] }
  const { status, body } = await server.api.post(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    aDefinition({
      domain: 'k8s.io',
      group,
      plural: 'ranges',
      kind: 'Range',
      schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    }),
  )
  expect(status).toBe(422)
  const root = 'spec.validation.openAPIV3Schema'
  const field = `${root}.properties[spec].x-kubernetes-validations[0].messageExpression`
  const factor = 'exceeds budget by factor of more than 100x'
  const advice = '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
  const reason = 'FieldValueForbidden'
  const total = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  expect(body['details']).toMatchObject({
    causes: [
      { reason, field, message: `Forbidden: estimated messageExpression cost ${factor} ${advice}` },
      { reason, field, message: 'Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema' },
      { reason, field: root, message: `Forbidden: ${total} ${factor} ${advice}` },
    ],
  })
})
