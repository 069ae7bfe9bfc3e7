import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { readPodSecurityConfiguration } from './configuration.ts'
import { fullyPrivileged, printPolicy } from './policy.ts'

const names = namesOf('orch')
const head = { apiVersion: 'pod-security.admission.config.orch.io/v1', kind: 'PodSecurityConfiguration' }
const read = (value: unknown) => readPodSecurityConfiguration({ value, file: 'a.yaml' }, names)

test('without a configuration every pod is allowed, and no user is exempt', () => {
  const { defaults, exemptions } = readPodSecurityConfiguration(undefined, names)
  expect(defaults).toEqual(fullyPrivileged)
  expect([...exemptions.namespaces, ...exemptions.usernames, ...exemptions.runtimeClasses]).toEqual([])
})

test.each(['v1', 'v1beta1', 'v1alpha1'])('the version %s is read', (version) => {
  const { defaults, exemptions } = read({
    apiVersion: `pod-security.admission.config.orch.io/${version}`,
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.22', warn: 'restricted', 'audit-version': '' },
    exemptions: { usernames: ['ann'], namespaces: ['tools'], runtimeClasses: ['vm'] },
  })
  expect(printPolicy(defaults)).toBe('enforce=baseline:v1.22, warn=restricted:latest')
  expect([...exemptions.usernames, ...exemptions.namespaces, ...exemptions.runtimeClasses]).toEqual(['ann', 'tools', 'vm'])
})

test.each([
  [
    { ...head, kind: 'Other' },
    /^a\.yaml: expected PodSecurityConfiguration of pod-security\.admission\.config\.orch\.io\/v1 or .*, got Other/,
  ],
  [{ ...head, extra: 1 }, /^a\.yaml: PodSecurity: unknown field "extra"; expected some of defaults, exemptions$/],
  [
    { ...head, defaults: { enforce: 'strict' } },
    /defaults\.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted$/,
  ],
  [{ ...head, defaults: { 'warn-version': '1.2' } }, /defaults\.warn-version: Invalid value: "1\.2": must be "latest" or "v1\.x"$/],
  [{ ...head, defaults: { deny: 'baseline' } }, /defaults: unknown field "deny"/],
  [{ ...head, exemptions: { usernames: 'ann' } }, /exemptions\.usernames: expected a list of names, got "ann"$/],
  [{ ...head, exemptions: { usernames: [''] } }, /exemptions\.usernames\[0\]: Invalid value: "": must not be empty$/],
  [{ ...head, exemptions: { namespaces: ['a', 'a'] } }, /exemptions\.namespaces\[1\]: Duplicate value: "a"$/],
  [{ ...head, exemptions: { namespaces: ['A'] } }, /exemptions\.namespaces\[0\]: Invalid value: "A": /],
  [{ ...head, exemptions: { runtimeClasses: [3] } }, /exemptions\.runtimeClasses\[0\]: expected a name, got 3$/],
])('%j is refused with its path and the expected value', (value, message) => {
  expect(() => read(value)).toThrow(message)
})
