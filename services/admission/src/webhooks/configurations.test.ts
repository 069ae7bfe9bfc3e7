import type { ListPart } from '@orch/core/contracts'
import { PushStream } from '@orch/platform'
import { createFakeClock, createTinyStorage, someAttributes } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { Inquiry } from '../plugin.ts'
import { pluginNeeds, inquiry as usualInquiry } from '../plugin-testing.ts'
import { validatingAdmissionWebhook } from './validating.ts'

const resource = 'admissionregistration.orch.io/validatingwebhookconfigurations'
const everything = [{ phase: 'validate', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [] }]

/** The plugin over a storage that may never answer. */
function open({ answers }: { readonly answers: boolean }) {
  const tiny = createTinyStorage()
  const silent = { ...tiny, list: () => new PushStream<ListPart>() }
  const clock = createFakeClock()
  const plugin = validatingAdmissionWebhook(pluginNeeds({ storage: answers ? tiny : silent, clock }))
  onTestFinished(() => plugin.close?.())
  let changes = 0
  plugin.followed?.onChange(() => {
    changes += 1
  })
  return { tiny, clock, plugin, changes: () => changes }
}

const attributes = someAttributes()

const inquiry: Inquiry = { ...usualInquiry, context: { timeoutMs: 1_000 } }

test('every request waits for the list of webhooks until its own deadline', async () => {
  const { plugin, clock } = open({ answers: false })
  expect(plugin.admissionRules).toEqual(everything)
  const verdict = plugin.validate?.(attributes, inquiry)
  clock.advance(1_000)
  expect(await verdict).toMatchObject({
    kind: 'denied',
    error: { status: { code: 403, message: 'configmaps "a" is forbidden: not yet ready to handle request' } },
  })
})

test('the admission rules change with the configurations, and have their revision', async () => {
  const { plugin, tiny, changes } = open({ answers: true })
  await expect.poll(() => plugin.admissionRules).toEqual([])
  expect(await plugin.validate?.(attributes, inquiry)).toEqual({ kind: 'allowed' })
  const before = changes()
  const revision = tiny.put({
    resource,
    name: 'a',
    object: { kind: 'ValidatingWebhookConfiguration', apiVersion: 'admissionregistration.orch.io/v1', webhooks: [] },
  })
  await expect.poll(() => changes()).toBeGreaterThan(before)
  expect(plugin.followed?.sources).toEqual([{ resource, revision }])
})

test('requests for webhook configurations pass without waiting', () => {
  const { plugin } = open({ answers: false })
  const own = { ...attributes, group: 'admissionregistration.orch.io', resource: 'mutatingwebhookconfigurations' }
  expect(plugin.validate?.(own, inquiry)).toEqual({ kind: 'allowed' })
})

test('other work runs between the conditions of webhooks', async () => {
  const { plugin, tiny } = open({ answers: true })
  await expect.poll(() => plugin.admissionRules).toEqual([])
  const costly = (index: number) => ({
    name: `c${index}`,
    expression: `lists.range(400).map(i, lists.range(400).filter(j, i + j == ${index})).size() == 400`,
  })
  const matchConditions = [...[1, 2].map(costly), { name: 'never', expression: 'false' }]
  const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: '*' }]
  const webhook = { name: 'a.example.com', clientConfig: { url: 'https://127.0.0.1:1/' }, rules, matchConditions, failurePolicy: 'Ignore' }
  tiny.put({ resource: 'core/namespaces', name: 'team', object: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'team' } } })
  const object = { kind: 'ValidatingWebhookConfiguration', apiVersion: 'admissionregistration.orch.io/v1', webhooks: [webhook] }
  tiny.put({ resource, name: 'a', object })
  await expect.poll(() => plugin.admissionRules).not.toEqual([])
  let turns = 0
  setImmediate(() => {
    turns += 1
  })
  expect(await plugin.validate?.(attributes, inquiry)).toMatchObject({ kind: 'allowed' })
  expect(turns).toBe(1)
})
