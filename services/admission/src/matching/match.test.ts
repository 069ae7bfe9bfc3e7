import { createCatalogue, parseRuntimeConfigOf } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { someAttributes } from '@orch/testkit'
import { expect, test } from 'vitest'
import { admissionRulesReader } from '../webhooks/configurations.ts'
import { readWebhooks, type Webhook } from '../webhooks/webhook.ts'
import type { WebhookRule } from './criteria.ts'
import { equivalentsOf } from './equivalents.ts'
import { matchesRule, type RuleSubject, versionFor } from './match.ts'

const everything: WebhookRule = { operations: ['*'], groups: ['*'], versions: ['*'], resources: ['*/*'], scope: '*' }
const pods: RuleSubject = { operation: 'CREATE', group: '', version: 'v1', resource: 'pods', subresource: '', isNamespaced: true }
const status: RuleSubject = { ...pods, operation: 'UPDATE', subresource: 'status' }
const nodes: RuleSubject = { ...pods, resource: 'nodes', isNamespaced: false }

test.each<readonly [string, Partial<WebhookRule>, RuleSubject, boolean]>([
  ['ADM-WH-24: an operation', { operations: ['CREATE'] }, pods, true],
  ['ADM-WH-24: another operation', { operations: ['UPDATE', 'DELETE'] }, pods, false],
  ['ADM-WH-24: all operations', { operations: ['*'] }, pods, true],
  ['ADM-WH-25: the core group', { groups: [''] }, pods, true],
  ['ADM-WH-25: another group', { groups: ['apps'] }, pods, false],
  ['ADM-WH-26: a version', { versions: ['v1'] }, pods, true],
  ['ADM-WH-26: another version', { versions: ['v2'] }, pods, false],
  ['ADM-WH-27: * is about resources', { resources: ['*'] }, pods, true],
  ['ADM-WH-27: * is not about their parts', { resources: ['*'] }, status, false],
  ['ADM-WH-28: */* is about resources', { resources: ['*/*'] }, pods, true],
  ['ADM-WH-28: */* is about their parts', { resources: ['*/*'] }, status, true],
  ['ADM-WH-29: pods/* is about parts of pods', { resources: ['pods/*'] }, status, true],
  ['ADM-WH-29: pods/* is about no other parts', { resources: ['pods/*'] }, { ...status, resource: 'services' }, false],
  ['ADM-WH-30: */status is about every status', { resources: ['*/status'] }, status, true],
  ['ADM-WH-30: */status is about nothing else', { resources: ['*/status'] }, pods, false],
  ['ADM-WH-31: Namespaced', { scope: 'Namespaced' }, pods, true],
  ['ADM-WH-31: not Namespaced', { scope: 'Namespaced' }, nodes, false],
  ['ADM-WH-31: Cluster', { scope: 'Cluster' }, nodes, true],
  ['ADM-WH-31: not Cluster', { scope: 'Cluster' }, pods, false],
  ['ADM-WH-32: a part lies where its parent does', { scope: 'Cluster' }, { ...nodes, subresource: 'status' }, true],
])('%s', (_what, rule, subject, isMatched) => {
  expect(matchesRule({ ...everything, ...rule }, subject)).toBe(isMatched)
})

const attributes = (more: Partial<Attributes>) => someAttributes({ kind: '', resource: 'pods', object: undefined, ...more })

function aWebhook(rule: object, more: object = {}): Webhook {
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], ...rule }]
  const webhooks = [{ name: 'a.example.com', rules, ...more }]
  return readWebhooks({
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.orch.io/v1',
    metadata: { name: 'c' },
    webhooks,
  })[0] as Webhook
}

const autoscalers = { apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['horizontalpodautoscalers'] }
const throughV1 = attributes({ group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' })

test('ADM-FLOW-16: a rule for another version matches with that version, and a rule for the requested version comes first', () => {
  const equivalents = equivalentsOf(createCatalogue('orch'))
  expect(versionFor(aWebhook(autoscalers), throughV1, equivalents)).toMatchObject({ version: 'v2', kind: { version: 'v2' } })
  expect(versionFor(aWebhook({ ...autoscalers, apiVersions: ['v2', 'v1'] }), throughV1, equivalents)).toMatchObject({ version: 'v1' })
  expect(versionFor(aWebhook(autoscalers, { matchPolicy: 'Exact' }), throughV1, equivalents)).toBeUndefined()
})

test('ADM-FLOW-18: a version that is not served is not equivalent', () => {
  const reading = parseRuntimeConfigOf('orch', 'autoscaling/v2=false')
  if (reading.kind !== 'config') throw new Error('the configuration is good')
  const equivalents = equivalentsOf(createCatalogue('orch', { runtimeConfig: reading.config }))
  expect(versionFor(aWebhook(autoscalers), throughV1, equivalents)).toBeUndefined()
})

test('ADM-FLOW-18: a version that the calling gateway does not serve is not used', () => {
  const equivalents = equivalentsOf(createCatalogue('orch'))
  const closed = { ...throughV1, unserved: ['autoscaling/v2/horizontalpodautoscalers'] }
  expect(versionFor(aWebhook(autoscalers), closed, equivalents)).toBeUndefined()
})

test('a request for a Namespace, or for a subresource of a Namespace, has no namespace', () => {
  const equivalents = equivalentsOf(createCatalogue('orch'))
  const webhook = aWebhook({ scope: 'Cluster', resources: ['namespaces/*'] })
  const subject = attributes({ resource: 'namespaces', namespace: 'a', subresource: 'finalize' })
  expect(versionFor(webhook, subject, equivalents)).toBeDefined()
})

test('admission rules consist of the rules of webhooks and the groups that serve the same objects', () => {
  const catalogue = createCatalogue('orch')
  const needs = { catalogue, equivalents: equivalentsOf(catalogue) }
  const webhook = aWebhook({ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['events', 'pods/*'] })
  expect(admissionRulesReader('mutate', needs)(webhook)).toEqual([
    { phase: 'mutate', operations: ['CREATE'], groups: ['', 'events.orch.io'], resources: ['events', 'pods', 'pods/*'], namespaces: [] },
  ])
  expect(admissionRulesReader('mutate', needs)({ ...webhook, isEquivalentMatched: false })).toMatchObject([{ groups: [''] }])
})

test('the admission rules of a webhook are made once, as finding the groups with the same objects searches all resources', () => {
  const catalogue = createCatalogue('orch')
  const rulesOf = admissionRulesReader('mutate', { catalogue, equivalents: equivalentsOf(catalogue) })
  const webhook = aWebhook({ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['pods'] })
  expect(rulesOf(webhook)).toBe(rulesOf(webhook))
  expect(rulesOf({ ...webhook })).toEqual(rulesOf(webhook))
})
