import { createCatalogue } from '@orch/core/catalogue'
import { expect, test } from 'vitest'
import { type ManifestPlugin, readManifests } from './read-manifests.ts'

const catalogue = createCatalogue('kubernetes', { minor: 37 })
const apiVersion = 'admissionregistration.k8s.io/v1'
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
const read = (plugin: ManifestPlugin, ...objects: readonly object[]) =>
  readManifests([{ path: '/m/a.yaml', text: objects.map((object) => JSON.stringify(object)).join('\n---\n') }], plugin, catalogue)

const policy = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }], ...spec },
})
const binding = (name: string, policyName: string, spec: object = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
})
const webhooks = (name: string, clientConfig: object) => ({
  apiVersion,
  kind: 'MutatingWebhookConfiguration',
  metadata: { name },
  webhooks: [{ name: 'a.example.com', clientConfig, rules: [rule], sideEffects: 'None', admissionReviewVersions: ['v1'] }],
})
const own = 'a.static.k8s.io'

test('manifests of documents and lists are read with their defaults, by name', async () => {
  const list = { apiVersion, kind: 'ValidatingAdmissionPolicyList', items: [{ ...policy(own), kind: undefined }] }
  const mixed = { apiVersion: 'v1', kind: 'List', items: [binding('b.static.k8s.io', own)] }
  const objects = await read('ValidatingAdmissionPolicy', mixed, list)
  expect(objects.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['ValidatingAdmissionPolicy', own],
    ['ValidatingAdmissionPolicyBinding', 'b.static.k8s.io'],
  ])
  expect(objects[0]).toMatchObject({ spec: { failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent' } } })
})

test.each<[string, ManifestPlugin, readonly object[], string]>([
  ['of another kind', 'ValidatingAdmissionPolicy', [webhooks(own, {})], `/m/a.yaml: expected ValidatingAdmissionPolicy or`],
  ['of another version', 'ValidatingAdmissionPolicy', [{ ...policy(own), apiVersion: 'v1' }], `of ${apiVersion}, got Validating`],
  ['without an object', 'ValidatingAdmissionPolicy', [[1]], '/m/a.yaml: expected an object'],
  ['of another name', 'ValidatingAdmissionPolicy', [policy('a')], '"a": expected a name that ends with .static.k8s.io'],
  [
    'that repeat a name',
    'ValidatingAdmissionPolicy',
    [policy(own), policy(own)],
    `there is another ValidatingAdmissionPolicy named "${own}"`,
  ],
  ['with an unknown field', 'ValidatingAdmissionPolicy', [policy(own, { zzz: 1 })], 'unknown field "spec.zzz"'],
  ['with a wrong type', 'ValidatingAdmissionPolicy', [policy(own, { validations: 1 })], 'cannot unmarshal number'],
  ['with a fault', 'ValidatingAdmissionPolicy', [policy(own, { validations: [{ expression: '(' }] })], 'spec.validations[0].expression'],
  [
    'with parameters',
    'ValidatingAdmissionPolicy',
    [policy(own, { paramKind: { apiVersion: 'v1', kind: 'Pod' } })],
    'spec.paramKind: Forbidden',
  ],
  ['with a binding to an absent policy', 'ValidatingAdmissionPolicy', [binding(own, own)], `spec.policyName: there is no policy "${own}"`],
  [
    'with parameters in a binding',
    'ValidatingAdmissionPolicy',
    [policy(own), binding(own, own, { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } })],
    'spec.paramRef: Forbidden',
  ],
  [
    'with a Service',
    'MutatingAdmissionWebhook',
    [webhooks(own, { service: { namespace: 'n', name: 's' } })],
    'webhooks[0].clientConfig.service: Forbidden: not supported in manifests; use url',
  ],
])('manifests %s are refused', async (_what, plugin, objects, message) => {
  await expect(read(plugin, ...objects)).rejects.toThrow(message)
})

test.each(['\n--- # binding\n', '\n--- ', '\n...\n---\n'])('documents may be separated by %j', async (separator) => {
  const text = [policy(own), binding(own, own)].map((object) => JSON.stringify(object)).join(separator)
  expect(await readManifests([{ path: '/m/a.yaml', text }], 'ValidatingAdmissionPolicy', catalogue)).toHaveLength(2)
})

test('a manifest with a repeated key is refused, with the name of its file', async () => {
  const files = [{ path: '/m/b.yaml', text: 'kind: A\nkind: B' }]
  await expect(readManifests(files, 'MutatingAdmissionPolicy', catalogue)).rejects.toThrow(
    '/m/b.yaml: yaml: line 2: key "kind" already set',
  )
})

const hundred = Array.from({ length: 100 }, (_, index) => policy(`p${index}.static.k8s.io`))

test.each([
  ['documents', hundred],
  ['a list', [{ apiVersion: 'v1', kind: 'List', items: hundred }]],
])('many manifests in %s are read over several turns of the event loop', async (_, objects) => {
  let turns = 0
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  expect(await read('ValidatingAdmissionPolicy', ...objects)).toHaveLength(100)
  clearImmediate(next)
  expect(turns).toBeGreaterThan(1)
})
