import { domainGroup, namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { parseEncryptionConfiguration } from './open.ts'

const names = namesOf('kubernetes')
const secret = (length: number) => Buffer.alloc(length, 1).toString('base64')
const keys = (length = 32) => ({ keys: [{ name: 'a', secret: secret(length) }] })

function parse(...resources: readonly unknown[]) {
  return parseEncryptionConfiguration({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }, names)
}

const problems = (...resources: readonly unknown[]) => {
  const reading = parse(...resources)
  return reading.kind === 'refused' ? reading.problems : []
}
const withProviders = (...providers: readonly unknown[]) => problems({ resources: ['secrets'], providers })
const withResources = (...resources: readonly string[]) => problems({ resources, providers: [{ identity: {} }] })
const kms = { apiVersion: 'v2', name: 'k', endpoint: 'unix:///run/kms.sock' }

test('ENC-09: a whole configuration, in the order of the file', () => {
  const providers = [
    { aescbc: keys(16) },
    { aesgcm: keys(24) },
    { secretbox: keys() },
    { kms: { ...kms, timeout: '5s' } },
    { identity: {} },
  ]
  const bytes = (length: number) => [{ name: 'a', secret: Buffer.alloc(length, 1) }]
  expect(parse({ resources: ['secrets', '*.apps'], providers })).toEqual({
    kind: 'configuration',
    elements: [
      {
        resources: ['secrets', '*.apps'],
        providers: [
          { kind: 'local', cipher: 'aescbc', keys: bytes(16) },
          { kind: 'local', cipher: 'aesgcm', keys: bytes(24) },
          { kind: 'local', cipher: 'secretbox', keys: bytes(32) },
          { kind: 'kms', name: 'k', endpoint: 'unix:///run/kms.sock', timeoutMs: 5_000 },
          { kind: 'identity' },
        ],
      },
    ],
  })
})

test('ENC-09: the group is that of the profile', () => {
  const orch = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [] }
  expect(parseEncryptionConfiguration(orch, namesOf('orch'))).toMatchObject({
    problems: [
      `apiVersion: Invalid value: "apiserver.config.k8s.io/v1": must be ${domainGroup(namesOf('orch'), 'apiserver.config')}/v1`,
      'resources: Required value: at least one resources is required',
    ],
  })
})

const resourceCases: readonly (readonly [string[], string])[] = [
  [['Secrets'], 'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters'],
  [
    ['*'],
    'resources[0].resources[0]: Invalid value: "*": use \'*.\' to encrypt all the resources from core API group or *.* to encrypt all resources',
  ],
  [
    ['serviceipallocations'],
    'resources[0].resources[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted',
  ],
  [
    ['events.events.k8s.io'],
    "resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
  ],
  [
    ['*.extensions'],
    'resources[0].resources[0]: Invalid value: "*.extensions": \'extensions\' group has been removed and cannot be used for encryption',
  ],
  [['secrets.*'], 'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported'],
  [
    ['secrets', 'secrets'],
    'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
  ],
  [
    ['secrets', '*.'],
    'resources[0].resources: Invalid value: ["secrets","*."]: using overlapping resources such as \'secrets\' and \'*.\' in the same resource list is not allowed as they will be masked',
  ],
  [
    ['deployments.apps', '*.*'],
    'resources[0].resources: Invalid value: ["deployments.apps","*.*"]: using overlapping resources such as \'secrets\' and \'*.\' in the same resource list is not allowed as they will be masked',
  ],
]

test.each(resourceCases)('ENC-10: the resources %j are refused', (resources, problem) => {
  expect(withResources(...resources)).toEqual([problem])
})

test.each([[['secrets', 'configmaps', '*.apps', 'pandas.awesome.bears.example']], [['*.*']], [['*.', '*.apps']]])(
  'ENC-10: the resources %j are taken',
  (resources) => {
    expect(withResources(...resources)).toEqual([])
  },
)

const path = 'resources[0].providers'
const providerCases: readonly (readonly [unknown, string])[] = [
  [{}, `${path}[0]: Invalid value: {}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`],
  [
    { identity: {}, aescbc: keys() },
    `${path}[0]: Invalid value: ["aescbc","identity"]: more than one provider specified in a single element, should split into different list elements`,
  ],
  [{ aescbc: {} }, `${path}[0].aescbc.keys: Required value: at least one keys is required`],
  [
    { aescbc: keys(15) },
    `${path}[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 15, expected one of [16 24 32]`,
  ],
  [
    { secretbox: keys(16) },
    `${path}[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]`,
  ],
  [
    { aesgcm: { keys: [{ name: 'a', secret: '%%%' }] } },
    `${path}[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [{ aesgcm: { keys: [{ name: 'a' }] } }, `${path}[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key`],
  [{ aesgcm: { keys: [{ secret: secret(16) }] } }, `${path}[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key`],
  [
    { aesgcm: { keys: [{ name: 'a:b', secret: secret(16) }] } },
    `${path}[0].aesgcm.keys[0].name: Invalid value: "a:b": must not contain ':'`,
  ],
  [
    { aesgcm: { keys: [...keys(16).keys, ...keys(24).keys] } },
    `${path}[0].aesgcm.keys[1].name: Invalid value: "a": names of keys must be unique in a provider`,
  ],
  [
    { kms: { ...kms, apiVersion: 'v1' } },
    `${path}[0].kms.apiVersion: Invalid value: "v1": unsupported apiVersion v1 for KMS provider, only v2 is supported`,
  ],
  [
    { kms: { ...kms, apiVersion: undefined } },
    `${path}[0].kms.apiVersion: Invalid value: "v1": unsupported apiVersion v1 for KMS provider, only v2 is supported`,
  ],
  [{ kms: { ...kms, cachesize: 5 } }, `${path}[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2`],
  [
    { kms: { ...kms, endpoint: 'http://a' } },
    `${path}[0].kms.endpoint: Invalid value: "http://a": unsupported scheme "http" for KMS provider, only unix is supported`,
  ],
  [{ kms: { ...kms, endpoint: undefined } }, `${path}[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms`],
  [{ kms: { ...kms, timeout: '-1s' } }, `${path}[0].kms.timeout: Invalid value: "-1s": timeout should be a positive value`],
  [{ kms: { ...kms, name: 'a:b' } }, `${path}[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`],
  [{ kms: { ...kms, name: undefined } }, `${path}[0].kms.name: Required value: name is a mandatory field for a provider`],
  [{ aesGCM: {}, identity: {} }, `unknown field "${path}[0].aesGCM"`],
]

test.each(providerCases)('ENC-11: the provider %j is refused', (provider, problem) => {
  expect(withProviders(provider)).toEqual([problem])
})

test('ENC-11: two KMS providers of one name are refused, at any places', () => {
  const element = { resources: ['secrets'], providers: [{ kms }] }
  expect(problems(element, { ...element, resources: ['configmaps'] })).toEqual([
    'resources[1].providers[0].kms.name: Invalid value: "k": duplicate KMS provider name k, names must be unique',
  ])
})
