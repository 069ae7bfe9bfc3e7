import { readFileSync } from 'node:fs'
import { createCatalogue } from '@orch/core/catalogue'
import type { AdmissionAnswer, Attributes } from '@orch/core/contracts'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAdmission } from '../admission.ts'
import { pluginNeeds } from '../plugin-testing.ts'
import { pluginsAt } from '../registry.ts'

interface Rule {
  readonly ruleWithOperations: { readonly rule: object; readonly operations: readonly string[] }
}

type Named<T> = T & { readonly metadata: { readonly name: string; readonly namespace?: string } }

interface PolicySpec {
  readonly matchConstraints: { readonly resourceRules: readonly Rule[] }
  readonly [member: string]: unknown
}

interface DispatchCase {
  readonly name: string
  readonly gvk: { readonly kind: string }
  readonly gvr: { readonly group: string; readonly version: string; readonly resource: string }
  readonly object: Named<object>
  readonly params?: readonly Named<Record<string, unknown>>[]
  readonly policyHooks: readonly { readonly policy: Named<{ readonly spec: PolicySpec }>; readonly bindings: readonly Named<object>[] }[]
  readonly expect: Named<object> & { readonly metadata: { readonly labels?: object } }
}

const cases = readFileSync(new URL('./cases/dispatch.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as DispatchCase)

const group = 'admissionregistration.k8s.io'

/** Admission with only mutating policies, over a storage with the given objects. */
function open() {
  const storage = createTinyStorage()
  const catalogue = createCatalogue('kubernetes', { minor: 37 })
  const options = pluginNeeds({ storage, catalogue, clock: createFakeClock() })
  const disabled = pluginsAt(catalogue.level).filter((name) => name !== 'MutatingAdmissionPolicy')
  const admission = createAdmission({ ...options, plugins: { enabled: [], disabled } })
  onTestFinished(() => admission.close())
  const put = (resource: string, { metadata, ...object }: Named<object>) =>
    storage.put({
      resource,
      name: metadata.name,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      object: { ...object },
    })
  const putPolicy = ({ metadata, spec }: Named<{ readonly spec: PolicySpec }>) => {
    const resourceRules = spec.matchConstraints.resourceRules.map(({ ruleWithOperations: { rule, operations } }) => ({
      ...rule,
      operations,
    }))
    put(`${group}/mutatingadmissionpolicies`, {
      ...{ apiVersion: `${group}/v1`, kind: 'MutatingAdmissionPolicy', metadata },
      spec: { failurePolicy: 'Fail', reinvocationPolicy: 'Never', ...spec, matchConstraints: { ...spec.matchConstraints, resourceRules } },
    } as Named<object>)
  }
  const putBinding = (binding: Named<object>) =>
    put(`${group}/mutatingadmissionpolicybindings`, {
      apiVersion: `${group}/v1`,
      kind: 'MutatingAdmissionPolicyBinding',
      ...binding,
    } as Named<object>)
  const mutate = (attributes: Attributes): Promise<AdmissionAnswer> =>
    admission.admit({ phase: 'mutate', attributes, decisions: [], resumeAt: '', explain: false })
  return { put, putPolicy, putBinding, mutate }
}

const aRequest = {
  operation: 'CREATE',
  subresource: '',
  oldObject: undefined,
  options: {},
  user: { name: 'ann', uid: '', groups: [], extra: {} },
  dryRun: false,
  requestId: '1',
  writeId: 'w1',
}

describe('VAP-41: cases of dispatch', () => {
  test.each(cases.map((one) => [one.name, one] as const))(
    'end as recorded from kube-apiserver: %s',
    async (_name, { gvk, gvr, object, params = [], policyHooks, expect: expected }) => {
      const { put, putPolicy, putBinding, mutate } = open()
      for (const param of params) put('core/configmaps', param)
      for (const { policy, bindings } of policyHooks) {
        putPolicy(policy)
        for (const binding of bindings) putBinding({ ...binding, metadata: { name: `${policy.metadata.name}-${binding.metadata.name}` } })
      }
      const { name, namespace = '' } = object.metadata
      const answer = await mutate({ ...aRequest, ...gvr, kind: gvk.kind, name, namespace, object })
      const changed = answer.kind === 'allowed' ? (answer.object ?? object) : undefined
      expect(changed).toMatchObject(expected)
      expect((changed as typeof expected).metadata.labels).toEqual(expected.metadata.labels)
    },
  )
})

describe('a kind whose definition is absent', () => {
  const rule = { ruleWithOperations: { rule: { apiGroups: ['trees.io'], apiVersions: ['v1'], resources: ['oaks'] }, operations: ['*'] } }
  const policy = (failurePolicy: string) => ({
    metadata: { name: 'p' },
    spec: {
      failurePolicy,
      matchConstraints: { resourceRules: [rule] },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{size: 2}}' } }],
    },
  })
  const oak = { apiVersion: 'trees.io/v1', kind: 'Oak', metadata: { name: 'o' }, spec: { size: 1 } }
  const request = { ...aRequest, group: 'trees.io', version: 'v1', resource: 'oaks', kind: 'Oak', name: 'o', namespace: '', object: oak }

  test('VAP-42: a mutation is refused with a 503 that names the likely cause', async () => {
    const { putPolicy, putBinding, mutate } = open()
    putPolicy(policy('Fail'))
    putBinding({ metadata: { name: 'b' }, spec: { policyName: 'p' } } as Named<object>)
    expect(await mutate(request)).toMatchObject({
      kind: 'denied',
      status: {
        code: 503,
        reason: 'ServiceUnavailable',
        message:
          'Resource kind trees.io/v1, Kind=Oak not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.',
      },
    })
  })

  test('VAP-42: a policy that ignores failures leaves the object unchanged', async () => {
    const { putPolicy, putBinding, mutate } = open()
    putPolicy(policy('Ignore'))
    putBinding({ metadata: { name: 'b' }, spec: { policyName: 'p' } } as Named<object>)
    const answer = await mutate(request)
    expect(answer).toMatchObject({ kind: 'allowed' })
    expect(answer.kind === 'allowed' && answer.object).toBeUndefined()
  })
})
