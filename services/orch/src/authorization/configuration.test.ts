import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namesOf } from '@orch/core/names'
import { afterAll, describe, expect, test } from 'vitest'
import { parseAuthorizationConfiguration } from './configuration.ts'

const folder = mkdtempSync(join(tmpdir(), 'authorization-'))
afterAll(() => rmSync(folder, { recursive: true }))
const kubeConfigFile = join(folder, 'webhook.conf')
writeFileSync(kubeConfigFile, '')

const good = {
  timeout: '3s',
  authorizedTTL: '5m',
  unauthorizedTTL: '30s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
}

function parse(fields: object, profile: 'kubernetes' | 'orch' = 'kubernetes') {
  const group = profile === 'kubernetes' ? 'apiserver.config.k8s.io' : 'apiserver.config.orch.io'
  const root = { apiVersion: `${group}/v1`, kind: 'AuthorizationConfiguration', ...fields }
  return parseAuthorizationConfiguration(root, namesOf(profile))
}

function problems(fields: object): readonly string[] {
  const reading = parse(fields)
  return reading.kind === 'refused' ? reading.problems : []
}

const chain = (...authorizers: readonly object[]) => problems({ authorizers })
const rbac = { type: 'RBAC', name: 'rbac' }
const withWebhook = (fields: object) => chain({ type: 'Webhook', name: 'hook', webhook: { ...good, ...fields } })

describe('AZC-01: kind and versions', () => {
  test.each([['v1'], ['v1beta1'], ['v1alpha1']])('%s is read', (version) => {
    expect(problems({ apiVersion: `apiserver.config.k8s.io/${version}`, authorizers: [rbac] })).toEqual([])
  })

  test('the group is that of the profile', () => {
    expect(parse({ authorizers: [rbac] }, 'orch').kind).toBe('configuration')
  })

  test.each([
    [{ apiVersion: 'apiserver.config.k8s.io/v2' }, 'apiVersion: Invalid value'],
    [{ kind: 'Other' }, 'kind: Invalid value: "Other": must be AuthorizationConfiguration'],
    [{ modes: [] }, 'unknown field "modes"'],
    [{ authorizers: [{ ...rbac, mode: 'RBAC' }] }, 'unknown field "authorizers[0].mode"'],
  ])('%j is refused', (fields, text) => {
    expect(problems({ authorizers: [rbac], ...fields })).toEqual([expect.stringContaining(text)])
  })
})

describe('AZC-02: types', () => {
  test.each([
    [[], 'authorizers: Required value: at least one authorization mode must be defined'],
    [[{ name: 'a' }], 'authorizers[0].type: Required value'],
    [[{ type: 'Rbac', name: 'a' }], 'authorizers[0].type: Unsupported value: "Rbac": supported values: "ABAC", "AlwaysAllow"'],
    [[rbac, { ...rbac, name: 'b' }], 'authorizers[1].type: Duplicate value: "RBAC"'],
    [[{ type: 'AlwaysAllow', name: 'a' }], 'is for --authorization-mode alone'],
  ])('%j is refused', (authorizers, text) => {
    expect(chain(...authorizers)).toEqual([expect.stringContaining(text)])
  })

  test('webhooks may be several, and all keep their order', () => {
    const hook = (name: string) => ({ type: 'Webhook', name, webhook: good })
    const authorizers = [
      hook('a'),
      { type: 'Node', name: 'node' },
      rbac,
      hook('b'),
      { type: 'AlwaysDeny', name: 'no' },
      { type: 'ABAC', name: 'p' },
    ]
    expect(parse({ authorizers })).toMatchObject({ authorizers: authorizers.map(({ type, name }) => ({ mode: type, name })) })
  })
})

test.each([
  [[{ type: 'RBAC' }], 'authorizers[0].name: Required value'],
  [[rbac, { type: 'Node', name: 'rbac' }], 'authorizers[1].name: Duplicate value: "rbac"'],
  [
    [{ type: 'RBAC', name: 'A_b' }],
    'authorizers[0].name: Invalid value: "A_b": authorizer name is invalid: a lowercase RFC 1123 subdomain',
  ],
])('AZC-03: %j is refused by its name', (authorizers, text) => {
  expect(chain(...authorizers)).toEqual([expect.stringContaining(text)])
})

test('AZC-04: the type Webhook has a webhook, and no other has', () => {
  expect(chain({ type: 'Webhook', name: 'a' })).toEqual(['authorizers[0].webhook: Required value: required when type=Webhook'])
  expect(chain({ ...rbac, webhook: good })).toEqual([expect.stringContaining('may only be specified when type=Webhook')])
})

describe('AZC-05: times', () => {
  test.each([
    [{ timeout: undefined }, 'timeout: Required value'],
    [{ timeout: '0s' }, 'timeout: Required value'],
    [{ timeout: '31s' }, 'timeout: Invalid value: "31s": must be > 0s and <= 30s'],
    [{ timeout: '-1s' }, 'timeout: Invalid value: "-1s": must be > 0s and <= 30s'],
    [{ timeout: 'soon' }, 'timeout: Invalid value: "soon": must be a duration'],
    [{ authorizedTTL: '-1s' }, 'authorizedTTL: Invalid value: "-1s": must be > 0s'],
    [{ unauthorizedTTL: '-1s' }, 'unauthorizedTTL: Invalid value: "-1s": must be > 0s'],
    [{ cacheAuthorizedRequests: 1 }, 'cacheAuthorizedRequests: Invalid value: 1: must be true or false'],
  ])('%j is refused', (fields, text) => {
    expect(withWebhook(fields)).toEqual([expect.stringContaining(`webhook.${text}`)])
  })

  test('set how long answers are cached, or disable the cache', () => {
    const ttlOf = (fields: object) => parse({ authorizers: [{ type: 'Webhook', name: 'a', webhook: { ...good, ...fields } }] })
    expect(ttlOf({ timeout: '30s' })).toMatchObject({
      authorizers: [{ timeoutMs: 30_000, authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000 }],
    })
    for (const absent of [undefined, '', '0s']) {
      const times = ttlOf({ authorizedTTL: absent, unauthorizedTTL: absent })
      expect(times).toMatchObject({ authorizers: [{ authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000 }] })
    }
    const off = { cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false }
    expect(ttlOf(off)).toMatchObject({ authorizers: [{ authorizedTtlMs: 0, unauthorizedTtlMs: 0 }] })
  })
})

test.each([
  [{ subjectAccessReviewVersion: '' }, 'subjectAccessReviewVersion: Required value'],
  [{ subjectAccessReviewVersion: 'v2' }, 'subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"'],
  [{ matchConditionSubjectAccessReviewVersion: 'v1beta1' }, 'matchConditionSubjectAccessReviewVersion: Unsupported value'],
  [
    { matchConditions: [{ expression: 'true' }] },
    'matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
  ],
])('AZC-06: %j is refused', (fields, text) => {
  expect(withWebhook(fields)).toEqual([expect.stringContaining(`webhook.${text}`)])
})

test.each([
  [undefined, 'failurePolicy: Required value'],
  ['Ignore', 'failurePolicy: Unsupported value: "Ignore": supported values: "Deny", "NoOpinion"'],
])('AZC-07: the failure policy %s is refused', (failurePolicy, text) => {
  expect(withWebhook({ failurePolicy })).toEqual([expect.stringContaining(`webhook.${text}`)])
})

test.each([
  [{}, 'connectionInfo.type: Required value'],
  [{ type: 'InClusterConfig' }, 'connectionInfo.type: Unsupported value: "InClusterConfig": supported values: "KubeConfigFile"'],
  [{ type: 'KubeConfigFile' }, 'connectionInfo.kubeConfigFile: Required value'],
  [{ type: 'KubeConfigFile', kubeConfigFile: 'a.conf' }, 'must be an absolute path'],
  [{ type: 'KubeConfigFile', kubeConfigFile: '/no/such/file' }, 'error loading file: '],
  [{ type: 'KubeConfigFile', kubeConfigFile: folder }, 'must be a regular file'],
])('AZC-08: the connection %j is refused', (connectionInfo, text) => {
  expect(withWebhook({ connectionInfo })).toEqual([expect.stringContaining(text)])
})

describe('AZC-09: conditions', () => {
  const withConditions = (...expressions: readonly string[]) =>
    withWebhook({ matchConditionSubjectAccessReviewVersion: 'v1', matchConditions: expressions.map((expression) => ({ expression })) })

  test.each([
    [['  '], 'matchConditions[0].expression: Required value'],
    [['true', 'true'], 'matchConditions[1].expression: Duplicate value: "true"'],
    [['request.user'], 'must evaluate to bool'],
    [['request.name == "a"'], "undefined field 'name'"],
    [['object == null'], 'undeclared reference'],
  ])('%j is refused', (expressions, text) => {
    expect(withConditions(...expressions)).toEqual([expect.stringContaining(text)])
  })

  test('64 are accepted, and 65 are not', () => {
    const many = (count: number) => withConditions(...Array.from({ length: count }, (_, index) => `request.user != 'a${index}'`))
    expect(many(64)).toEqual([])
    expect(many(65)).toEqual([expect.stringContaining('matchConditions: Too many: 65: must have at most 64 items')])
  })
})
