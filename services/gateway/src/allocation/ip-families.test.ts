import { textAt } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { type FamilySpec, familiesOf } from './ip-families.ts'

const selector = { app: 'a' }
const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }

test.each<[string, FamilySpec, FamilySpec, object]>([
  ['without a word: the own family', { selector }, {}, single],
  ['headless with a selector', { clusterIP: 'None', clusterIPs: ['None'], selector }, {}, single],
  [
    'headless without a selector: both families',
    { clusterIP: 'None', selector: {} },
    {},
    { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'headless without a selector: a given family is the first',
    { clusterIP: 'None', ipFamilies: ['IPv6'] },
    {},
    { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
  ],
  ['headless without a selector: one family where the policy says so', { clusterIP: 'None', ipFamilyPolicy: 'SingleStack' }, {}, single],
  [
    'two families where they can be had',
    { selector, ipFamilyPolicy: 'PreferDualStack' },
    {},
    { ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
  ],
  ['an update without a policy keeps it', { selector }, { ipFamilyPolicy: 'PreferDualStack' }, { ipFamilyPolicy: 'PreferDualStack' }],
])('the families of a Service are as expected: %s', (_title, spec, before, expected) => {
  const { errors, ...families } = familiesOf(spec, before, ['IPv4'])
  expect(errors).toEqual([])
  expect(families).toMatchObject(expected)
})

test.each<[string, FamilySpec, string[]]>([
  [
    'both families',
    { selector, ipFamilyPolicy: 'RequireDualStack' },
    ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
  ],
  ['another family', { selector, ipFamilies: ['IPv6'] }, ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster']],
  [
    'another family as the second',
    { selector, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' },
    ['spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster'],
  ],
  [
    'two families under the policy of one',
    { selector, ipFamilies: ['IPv4', 'IPv6'] },
    [
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
  ],
  [
    'an address of another family',
    { selector, clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] },
    ['spec.clusterIPs[0]: Invalid value: []string{"fd00::1"}: IPv6 is not configured on this cluster'],
  ],
  [
    'two addresses',
    { selector, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] },
    [
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
      'spec.clusterIPs[1]: Invalid value: []string{"10.0.0.1", "fd00::1"}: IPv6 is not configured on this cluster',
    ],
  ],
])('%s: refused on a server with one family', (_title, spec, expected) => {
  expect(familiesOf(spec, {}, ['IPv4']).errors.map(({ field, message }) => `${field}: ${textAt(message, 25)}`)).toEqual(expected)
})

const dual = ['IPv6', 'IPv4']
const both = { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'], ipFamilies: dual }

test.each<[string, FamilySpec, FamilySpec, object]>([
  ['without a word: the first', { selector }, {}, { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }],
  ['a policy for two', { selector, ipFamilyPolicy: 'PreferDualStack' }, {}, { ipFamilies: dual }],
  [
    'a given family is the first',
    { selector, ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    {},
    { ipFamilies: ['IPv4', 'IPv6'] },
  ],
  [
    'an update to one releases the second',
    { ...both, ipFamilyPolicy: 'SingleStack' },
    both,
    { clusterIPs: ['fd00::1'], ipFamilies: ['IPv6'] },
  ],
])('the families of a Service on a server with two are as expected: %s', (_title, spec, before, expected) => {
  expect(familiesOf(spec, before, dual)).toMatchObject({ errors: [], ...expected })
})

test('fewer addresses and families without a policy of one family are refused', () => {
  const before = { ...both, ipFamilyPolicy: 'PreferDualStack' }
  const { errors } = familiesOf({ clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv6'] }, before, dual)
  expect(errors.map(({ message }) => textAt(message, 37))).toEqual([
    'Invalid value: "PreferDualStack": must be \'SingleStack\' to release the secondary cluster IP',
    'Invalid value: "PreferDualStack": must be \'SingleStack\' to release the secondary IP family',
  ])
})
