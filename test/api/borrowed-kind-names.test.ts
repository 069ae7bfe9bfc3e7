import { describe, expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })

/** A definition of a kind that has the name of a built-in kind, and the path of its objects. */
async function defined(kind: string, plural: string) {
  const group = `networking.${aName('g')}.example.com`
  const namespace = await aNamespace(server.api)
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } }, status: any } },
  }
  await created(server.api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  })
  const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'a' } }
  return { group, object, collection: `/apis/${group}/v1/namespaces/${namespace}/${plural}` }
}

describe('a custom kind with the name of a built-in kind', () => {
  test('has a status that is written as a whole and owned by its writer', async () => {
    const { object, collection } = await defined('CertificateSigningRequest', 'certificatesigningrequests')
    const made = await created(server.api, collection, { ...object, spec: { size: 1 } })
    expect(JSON.stringify(made.metadata)).toContain('f:size')
    const { body } = await server.api.put(`${collection}/a/status`, { ...made, status: { phase: 'Ready' } })
    expect(body['status']).toEqual({ phase: 'Ready' })
  })

  test('has its group in messages', async () => {
    const { group, object, collection } = await defined('Ingress', 'ingresses')
    const { body } = await server.api.post(collection, { ...object, spec: { size: 'x' } })
    expect(body['message']).toContain(`Ingress.${group} "a" is invalid`)
  })
})
