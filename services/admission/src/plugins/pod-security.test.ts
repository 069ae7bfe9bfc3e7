import { type Attributes, objectKey } from '@orch/core/contracts'
import { createFakeClock, createTinyStorage, someAttributes } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { inquiry, pluginNeeds } from '../plugin-testing.ts'
import { podSecurity } from './pod-security.ts'

const prefix = 'core/namespaces'

const aPod = someAttributes({
  kind: 'Pod',
  resource: 'pods',
  object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: { hostPID: true, containers: [{ name: 'a' }] } },
})

/** The plugin over a storage with an optional labelled namespace. */
function open() {
  const storage = createTinyStorage()
  const plugin = podSecurity(pluginNeeds({ storage, clock: createFakeClock() }))
  onTestFinished(() => plugin.close?.())
  return {
    label: (labels: Record<string, string>) => storage.put({ resource: prefix, name: 'team', labels }),
    ask: async (attributes: Partial<Attributes> = {}) => await plugin.validate?.({ ...aPod, ...attributes }, inquiry),
  }
}

const key = objectKey(prefix, undefined, 'team')

test('a pod is admitted on condition that its namespace is unchanged', async () => {
  const { label, ask } = open()
  const first = label({})
  expect(await ask()).toMatchObject({ kind: 'allowed', conditions: [{ key, revision: first }] })
  const second = label({ 'pod-security.orch.io/warn': 'baseline' })
  expect(await ask()).toMatchObject({ kind: 'allowed', conditions: [{ key, revision: second }] })
})

test('the latest level of the namespace decides, and not an older level in memory', async () => {
  const { label, ask } = open()
  label({ 'pod-security.orch.io/enforce': 'baseline' })
  expect(await ask()).toMatchObject({ kind: 'denied' })
  label({})
  expect(await ask()).toMatchObject({ kind: 'allowed' })
})

test('a deleted namespace has no pods, so that a template there causes no warnings', async () => {
  const { ask } = open()
  expect(await ask()).toMatchObject({ kind: 'denied', error: { status: { code: 404, message: 'namespaces "team" not found' } } })
  const template = { metadata: {}, spec: { hostPID: true, containers: [] } }
  const job = await ask({
    group: 'batch',
    kind: 'Job',
    resource: 'jobs',
    object: { kind: 'Job', apiVersion: 'batch/v1', spec: { template } },
  })
  expect(job).toMatchObject({ kind: 'allowed' })
})

test('unreadable labels enforce the strictest level, and the audit log records it', async () => {
  const { label, ask } = open()
  label({ 'pod-security.orch.io/enforce': 'x' })
  const verdict = await ask()
  expect(verdict).toMatchObject({
    kind: 'denied',
    auditAnnotations: [
      {
        key: 'pod-security.orch.io/error',
        value:
          'Failed to parse policy: metadata.labels[pod-security.orch.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
      },
      { key: 'pod-security.orch.io/enforce-policy', value: 'restricted:latest' },
    ],
    counts: [
      { name: 'pod_security_errors_total', labels: { fatal: 'false', resource: 'pod' } },
      {
        name: 'pod_security_evaluations_total',
        labels: { decision: 'deny', policy_level: 'restricted', policy_version: 'latest', mode: 'enforce' },
      },
    ],
  })
})

test('invalid labels that exist already may stay while something else changes', async () => {
  const { ask } = open()
  const namespace = (labels: Record<string, string>) => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'team', labels } })
  const wrong = { 'pod-security.orch.io/enforce': 'x' }
  const update = {
    operation: 'UPDATE',
    kind: 'Namespace',
    resource: 'namespaces',
    namespace: '',
    name: 'team',
    oldObject: namespace(wrong),
  }
  expect(await ask({ ...update, object: namespace({ ...wrong, other: 'y' }) })).toMatchObject({ kind: 'allowed' })
  const another = await ask({ ...update, object: namespace({ 'pod-security.orch.io/enforce': 'z' }) })
  expect(another).toMatchObject({ kind: 'denied', error: { status: { code: 422, reason: 'Invalid' } } })
})
