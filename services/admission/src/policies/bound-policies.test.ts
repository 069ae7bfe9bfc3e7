import type { ApiObject } from '@orch/core/meta'
import type { PolicySpec } from '@orch/core/policies'
import { createFakeClock, createTinyStorage, someAttributes } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { equivalentsOf } from '../matching/equivalents.ts'
import { pluginNeeds } from '../plugin-testing.ts'
import { BoundPolicies, type PolicyKind } from './bound-policies.ts'

const group = 'admissionregistration.orch.io'
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
const request = someAttributes()

const specOf = ({ spec = {} }: ApiObject & { readonly spec?: object }) => spec

const meta = { apiVersion: `${group}/v1`, kind: 'Any' }

/** Policies of a storage, with the number of compilations. */
async function policies() {
  const storage = createTinyStorage()
  const compiled: string[] = []
  const kind: PolicyKind<PolicySpec & { readonly text?: string }, string> = {
    plugin: 'ValidatingAdmissionPolicy',
    policies: 'validatingadmissionpolicies',
    bindings: 'validatingadmissionpolicybindings',
    phase: 'validate',
    specOf,
    bindingOf: specOf,
    compile: ({ text = '' }) => {
      compiled.push(text)
      return text
    },
  }
  const needs = pluginNeeds({ storage, clock: createFakeClock() })
  const bound = new BoundPolicies(kind, needs, equivalentsOf(needs.catalogue))
  onTestFinished(() => bound.close())
  await bound.ready
  const put = (name: string, text: string, rest: object = {}) => {
    const spec = { matchConstraints: { resourceRules: [rule] }, text }
    storage.put({ resource: `${group}/validatingadmissionpolicies`, name, object: { ...meta, spec, ...rest } })
  }
  const bind = (name: string, policyName: string, rest: object = {}) => {
    const object = { ...meta, spec: { policyName, validationActions: ['Deny'], ...rest } }
    storage.put({ resource: `${group}/validatingadmissionpolicybindings`, name, object })
  }
  const seen = async () => {
    // Changes arrive in a separate turn.
    await new Promise((resolve) => setImmediate(resolve))
    return bound
      .about(request)
      .map(({ policy, bindings }) => `${policy.name} ${policy.compiled} ${bindings.map(({ name }) => name).join(',')}`)
  }
  return { put, bind, seen, compiled }
}

test('VAP-29: a policy is compiled when a request first needs it, and once for each generation', async () => {
  const { put, bind, seen, compiled } = await policies()
  put('p', 'one')
  await seen()
  expect(compiled).toEqual([])
  bind('b', 'p')
  expect([await seen(), await seen()]).toEqual([['p one b'], ['p one b']])
  expect(compiled).toEqual(['one'])
  put('p', 'one', { status: { observedGeneration: 1 } })
  bind('c', 'p')
  expect(await seen()).toEqual(['p one b,c'])
  expect(compiled).toEqual(['one'])
  put('p', 'two')
  expect([await seen(), await seen()]).toEqual([['p two b,c'], ['p two b,c']])
  expect(compiled).toEqual(['one', 'two'])
})

test('VAP-14, VAP-15: policies are found by their match rules, in the order of their names', async () => {
  const { put, bind, seen } = await policies()
  put('b', '')
  put('a', '')
  put('other', '', { spec: { matchConstraints: { resourceRules: [{ ...rule, resources: ['secrets'] }] } } })
  put('unbound', '')
  for (const name of ['b', 'a', 'other']) bind(name, name)
  expect(await seen()).toEqual(['a  a', 'b  b'])
})
