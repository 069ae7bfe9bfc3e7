import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

type Row = readonly [title: string, path: string, value: unknown, problems: readonly string[]]

const base64 = (text: string): string => btoa(text)
const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const configMap: Body = { metadata: { name: 'a' }, data: { 'a.b': '1' }, binaryData: { c: base64('2') }, immutable: true }

test('a ConfigMap with everything set is valid', () => {
  expect(problemsOf('core/v1.ConfigMap', configMap)).toEqual([])
})

test.each<Row>([
  ['a key with a slash', 'data', { 'a/b': '' }, [`data[a/b]: Invalid value: "a/b": ${keyRule}`]],
  ['a key that climbs', 'data', { '..x': '' }, [`data[..x]: Invalid value: "..x": must not start with '..'`]],
  ['a key that is the parent', 'binaryData', { '..': '' }, [`binaryData[..]: Invalid value: "..": must not be '..'`]],
  ['a hidden file is fine', 'data', { '.x': '' }, []],
  ['a key in both maps', 'data', { c: '' }, ['data[c]: Invalid value: "c": duplicate of key present in binaryData']],
  [
    'a long key',
    'data',
    { ['k'.repeat(254)]: '' },
    [`data[${'k'.repeat(254)}]: Invalid value: "${'k'.repeat(254)}": must be no more than 253 characters`],
  ],
  ['too much of it', 'data', { a: 'é'.repeat(524_288) }, ['[]: Too long: must have at most 1048576 bytes']],
  ['all that fits', 'data', { a: 'é'.repeat(524_287) }, []],
])('a ConfigMap has the expected errors: %s', (_, path, value, problems) => {
  expect(problemsOf('core/v1.ConfigMap', withChange(configMap, path, value))).toEqual(problems)
})

const frozen = 'Forbidden: field is immutable when `immutable` is set'

test.each<Row>([
  ['its texts', 'data', { 'a.b': '2' }, [`data: ${frozen}`]],
  ['its bytes', 'binaryData', {}, [`binaryData: ${frozen}`]],
  ['its being immutable', 'immutable', false, [`immutable: ${frozen}`]],
  ['not its labels', 'metadata', { name: 'a', labels: { a: 'b' } }, []],
])('an immutable ConfigMap keeps %s', (_, path, value, problems) => {
  expect(problemsOf('core/v1.ConfigMap', withChange(configMap, path, value), { live: configMap })).toEqual(problems)
})

const secret = (type: string, data: Body, annotations: Body = {}): Body => ({ metadata: { name: 'a', annotations }, type, data })

test.each<readonly [string, Body, readonly string[]]>([
  ['any type with any data', secret('example.com/x', { a: base64('1') }), []],
  ['a key with a blank', secret('Opaque', { 'a b': '' }), [`data[a b]: Invalid value: "a b": ${keyRule}`]],
  ['too much of it', secret('Opaque', { a: btoa('a'.repeat(1_048_577)) }), ['data: Too long: must have at most 1048576 bytes']],
  [
    'a token without its account',
    secret('orch.io/service-account-token', {}),
    ['metadata.annotations[orch.io/service-account.name]: Required value'],
  ],
  ['a token with its account', secret('orch.io/service-account-token', {}, { 'orch.io/service-account.name': 'x' }), []],
  ['docker configuration that is missing', secret('orch.io/dockercfg', {}), ['data[.dockercfg]: Required value']],
  ['docker configuration', secret('orch.io/dockerconfigjson', { '.dockerconfigjson': base64('{"auths":{}}') }), []],
  [
    'docker configuration that is empty',
    secret('orch.io/dockerconfigjson', { '.dockerconfigjson': '' }),
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  ],
  [
    'docker configuration that is a list',
    secret('orch.io/dockerconfigjson', { '.dockerconfigjson': base64('[]') }),
    [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ],
  [
    'a user without name and password',
    secret('orch.io/basic-auth', {}),
    ['data[username]: Required value', 'data[password]: Required value'],
  ],
  ['a password alone', secret('orch.io/basic-auth', { password: base64('p') }), []],
  ['an empty private key', secret('orch.io/ssh-auth', { 'ssh-privatekey': '' }), ['data[ssh-privatekey]: Required value']],
  ['a certificate without its key', secret('orch.io/tls', { 'tls.crt': base64('c') }), ['data[tls.key]: Required value']],
])('a Secret has the expected errors: %s', (_, body, problems) => {
  expect(problemsOf('core/v1.Secret', body)).toEqual(problems)
})

test('a Secret keeps its type, and when immutable its data', () => {
  const live = { ...secret('example.com/x', { a: base64('1') }), immutable: true }
  expect(problemsOf('core/v1.Secret', { ...live, type: 'Opaque' }, { live })).toEqual(['type: Invalid value: "Opaque": field is immutable'])
  expect(problemsOf('core/v1.Secret', { ...live, data: {}, immutable: false }, { live })).toEqual([
    `immutable: ${frozen}`,
    `data: ${frozen}`,
  ])
})

test('finalizers of a Namespace have a domain or a known name', () => {
  const namespace = (finalizers: string[]): Body => ({ metadata: { name: 'a' }, spec: { finalizers } })
  expect(problemsOf('core/v1.Namespace', namespace(['orch', 'example.com/x', 'orphan']))).toEqual([])
  expect(problemsOf('core/v1.Namespace', namespace(['bare', 'orch']))).toEqual([
    'spec.finalizers: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
  ])
})

test('the phase of a Namespace matches its deletion timestamp', () => {
  const namespace = (phase: string, deletionTimestamp?: string): Body => ({ metadata: { name: 'a', deletionTimestamp }, status: { phase } })
  const going = '2024-01-01T00:00:00Z'
  expect(problemsOf('core/v1.Namespace', namespace('Active'), { part: 'status' })).toEqual([])
  expect(problemsOf('core/v1.Namespace', namespace('Terminating'), { part: 'status' })).toEqual([
    'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
  ])
  expect(problemsOf('core/v1.Namespace', namespace('Active', going), { part: 'status' })).toEqual([
    'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
  ])
})
