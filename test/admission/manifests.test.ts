import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aName, aNamespace, sharedApi } from '../api/api.ts'

const config = 'apiserver.config.orch.io/v1'
const group = 'admissionregistration.orch.io/v1'
const folder = mkdtempSync(join(tmpdir(), 'manifests-'))
const kinds = {
  ValidatingAdmissionPolicy: 'ValidatingAdmissionPolicyConfiguration',
  ValidatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
}

/** The file that gives each plugin the folder of its name. */
function aConfiguration(): string {
  const plugins = Object.entries(kinds).map(([name, kind]) => {
    const staticManifestsDir = join(folder, name)
    mkdirSync(staticManifestsDir, { recursive: true })
    return { name, configuration: { apiVersion: config, kind, staticManifestsDir } }
  })
  const file = join(folder, 'admission.json')
  writeFileSync(file, JSON.stringify({ apiVersion: config, kind: 'AdmissionConfiguration', plugins }))
  return file
}

const flags = [`--admission-control-config-file=${aConfiguration()}`]
const named = 'a.static.orch.io'
const rules = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  { apiGroups: ['admissionregistration.orch.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] },
]
const policy = (name: string, expression: string) => ({
  apiVersion: group,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression, message: 'no' }] },
})
const binding = {
  apiVersion: group,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: named },
  spec: { policyName: named, validationActions: ['Deny'] },
}
const isAsked = { name: 'asked', expression: "object.metadata.name.startsWith('asked')" }
const webhook = { name: 'w.example.com', rules, sideEffects: 'None', admissionReviewVersions: ['v1'], matchConditions: [isAsked] }
const webhooks = (name: string) => ({
  apiVersion: group,
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [{ ...webhook, clientConfig: { url: 'https://127.0.0.1:1/x' } }],
})
const write = (plugin: keyof typeof kinds, ...objects: readonly object[]) =>
  writeFileSync(join(folder, plugin, 'a.yaml'), objects.map((object) => JSON.stringify(object)).join('\n---\n'))

describe('manifests of admission', () => {
  beforeAll(() => {
    write('ValidatingAdmissionPolicy', policy(named, "!object.metadata.name.startsWith('bad')"), binding)
    write('ValidatingAdmissionWebhook', webhooks(named))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const server = sharedApi({ flags })
  const made = async (collection: string, object: object) => {
    const { status, body } = await server.api.post(collection, object)
    return [status, status === 201 ? '' : body['message']]
  }
  const aMap = async (name: string) =>
    made(`/api/v1/namespaces/${await aNamespace(server.api)}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  const policies = `/apis/${group}/validatingadmissionpolicies`
  const configurations = `/apis/${group}/validatingwebhookconfigurations`
  const refused = [422, expect.stringContaining(`ValidatingAdmissionPolicy '${named}' with binding '${named}' denied request: no`)]
  const failed = [500, expect.stringContaining('failed calling webhook "w.example.com"')]

  test('decide about writes', async () => {
    expect([await aMap('good'), await aMap('bad'), await aMap('asked')]).toEqual([[201, ''], refused, failed])
  })

  test('decide about policies and webhook configurations, as no objects of the API do', async () => {
    expect(await made(policies, policy('bad', 'false'))).toEqual(refused)
    expect(await made(configurations, webhooks('asked'))).toEqual(failed)
    const name = aName('stored')
    expect(await made(policies, policy(name, 'false'))).toEqual([201, ''])
    expect(
      await made(`/apis/${group}/validatingadmissionpolicybindings`, {
        ...binding,
        metadata: { name },
        spec: { ...binding.spec, policyName: name },
      }),
    ).toEqual([201, ''])
    expect(await made(policies, policy(aName('other'), 'true'))).toEqual([201, ''])
  })

  test('are no objects of the API, whose names they reserve', async () => {
    expect((await server.api.get(`${policies}/${named}`)).status).toBe(404)
    expect(await made(policies, policy(named, 'true'))).toEqual([
      422,
      expect.stringContaining('names ending with ".static.orch.io" are reserved'),
    ])
  })

  test('need the gate ManifestBasedAdmissionControlConfig', async () => {
    const off = '--feature-gates=ManifestBasedAdmissionControlConfig=false'
    await expect(start({ flags: [...flags, off] })).rejects.toThrow('the feature gate ManifestBasedAdmissionControlConfig is off')
  })
})
