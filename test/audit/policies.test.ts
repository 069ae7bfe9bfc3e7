import { expect, test } from 'vitest'
import { configMap, configMapsIn, created } from '../api/api.ts'
import { anAuditedApi, aPolicy } from './audited.ts'

const group = '/apis/admissionregistration.orch.io/v1'
const apiVersion = 'admissionregistration.orch.io/v1'
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], resourceNames: ['audited'] }
const condition = { name: 'by-administrator', expression: "request.userInfo.groups.exists(g, g == 'system:masters')" }

test('VAP-20, VAP-21: failures and annotations of policies are in the audit event', async () => {
  const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }]))
  const { api } = audited
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [condition],
    validations: [
      { expression: 'true', message: 'never said' },
      { expression: 'false', message: 'always said' },
    ],
    auditAnnotations: [
      { key: 'name', valueExpression: "'the name is ' + object.metadata.name" },
      { key: 'none', valueExpression: 'null' },
      { key: 'long', valueExpression: "object.data.long + 'x'" },
    ],
  }
  await created(api, `${group}/validatingadmissionpolicies`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec,
  })
  for (const [name, actions] of [
    ['a', ['Audit', 'Warn']],
    ['b', ['Audit']],
  ] as const) {
    const binding = { policyName: 'p', validationActions: actions }
    const object = { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec: binding }
    await created(api, `${group}/validatingadmissionpolicybindings`, object)
  }
  const path = configMapsIn('default')
  await created(api, path, { ...configMap({ name: 'audited' }), data: { long: 'é'.repeat(5_120) } })
  const events = await audited.events()
  const event = events.find(
    ({ stage, verb, objectRef }) => stage === 'ResponseComplete' && verb === 'create' && objectRef?.['name'] === 'audited',
  )
  const annotations = event?.annotations ?? {}
  expect(JSON.parse(annotations['validation.policy.admission.orch.io/validation_failure'] ?? '')).toEqual([
    { message: 'always said', policy: 'p', binding: 'a', expressionIndex: 1, validationActions: ['Audit', 'Warn'] },
    { message: 'always said', policy: 'p', binding: 'b', expressionIndex: 1, validationActions: ['Audit'] },
  ])
  expect(annotations['p/name']).toBe('the name is audited')
  expect(annotations['p/none']).toBeUndefined()
  expect(annotations['p/long']).toBe('é'.repeat(5_120))
})
