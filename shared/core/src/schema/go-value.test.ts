import { expect, test } from 'vitest'
import type { Node } from '../description/node.ts'
import { string } from '../description/texts.ts'
import { bytes, int32, int64, intOrString, list, map, quantity, ref } from '../description/values.ts'
import { goValue } from './go-value.ts'

const somewhere = '0xc000000000'
const noTerms = 'MatchExpressions:[]v1.LabelSelectorRequirement(nil)'

test.each<readonly [title: string, type: Node, value: unknown, printed: string]>([
  ['labels, by their keys', map(string()), { b: '2', a: 'x"y' }, 'map[string]string{"a":"x\\"y", "b":"2"}'],
  ['an absent map', map(string()), undefined, 'map[string]string(nil)'],
  ['a map without members', map(string()), {}, 'map[string]string{}'],
  ['an absent list', list(int32()), null, '[]int32(nil)'],
  ['a list without items', list(int32()), [], '[]int32{}'],
  ['numbers', list(int64()), [2, 9007199254740993n], '[]int64{2, 9007199254740993}'],
  ['texts of a type of their own', list(ref('core/v1.ResourceQuotaScope')), ['X'], '[]core.ResourceQuotaScope{"X"}'],
  ['bytes', bytes(), 'YQ==', '[]byte{0x61}'],
  ['a count', intOrString(), 3, 'intstr.IntOrString{Type:0, IntVal:3, StrVal:""}'],
  ['a share', intOrString(), '25%', 'intstr.IntOrString{Type:1, IntVal:0, StrVal:"25%"}'],
  ['no count', intOrString(), undefined, 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}'],
  ['a struct', ref('rbac/v1.RoleRef'), { name: 'n' }, 'rbac.RoleRef{APIGroup:"", Kind:"", Name:"n"}'],
  ['an absent time behind a pointer', ref('core/v1.Taint'), { key: 'b' }, 'core.Taint{Key:"b", Value:"", Effect:"", TimeAdded:<nil>}'],
  [
    'a time behind a pointer',
    ref('core/v1.Taint'),
    { timeAdded: '2026-02-03T04:05:06Z' },
    'core.Taint{Key:"", Value:"", Effect:"", TimeAdded:time.Date(2026, time.February, 3, 4, 5, 6, 0, time.Local)}',
  ],
  [
    'pointers to scalars',
    ref('meta/v1.OwnerReference'),
    { uid: '1', controller: false },
    `v1.OwnerReference{APIVersion:"", Kind:"", Name:"", UID:"1", Controller:(*bool)(${somewhere}), BlockOwnerDeletion:(*bool)(nil)}`,
  ],
  [
    'pointers to structs',
    ref('apps/v1.DaemonSetUpdateStrategy'),
    { type: 'X', rollingUpdate: {} },
    `apps.DaemonSetUpdateStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDaemonSet)(${somewhere})}`,
  ],
  [
    'structs within structs',
    ref('core/v1.ServicePort'),
    { port: 1, protocol: 'TCP' },
    'core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:1, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
  ],
  [
    'an embedded struct',
    ref('core/v1.ConfigMapKeySelector'),
    { name: 'n', key: 'k' },
    'core.ConfigMapKeySelector{LocalObjectReference:core.LocalObjectReference{Name:"n"}, Key:"k", Optional:(*bool)(nil)}',
  ],
  [
    'a selector of labels',
    ref('meta/v1.LabelSelector'),
    { matchLabels: { a: 'b' } },
    `v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, ${noTerms}}`,
  ],
  [
    'a selector of terms',
    ref('meta/v1.LabelSelector'),
    { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] },
    'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"a", Operator:"In", Values:[]string{"b", "c"}}}}',
  ],
  [
    'amounts',
    map(quantity()),
    { storage: '1Gi', cpu: '1' },
    'core.ResourceList{"cpu":resource.Quantity{i:resource.int64Amount{value:1, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1", Format:"DecimalSI"}, "storage":resource.Quantity{i:resource.int64Amount{value:1073741824, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1Gi", Format:"BinarySI"}}',
  ],
])('a value is printed as Go prints it: %s', (_title, type, value, printed) => {
  expect(goValue(type, value).textAt(33)).toBe(printed)
})

test('a template has the fields of the internal type, in its order', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { hostNetwork: true, containers: [], priority: 1 } }
  const printed = goValue(ref('core/v1.PodTemplateSpec'), template).textAt(25)
  expect(printed).toMatch(/^core\.PodTemplateSpec\{ObjectMeta:v1\.ObjectMeta\{Name:"", .*, Labels:map\[string\]string\{"a":"b"\}, /)
  expect(printed).toContain('CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), DeletionTimestamp:<nil>')
  expect(printed).toContain('Hostname:"", Subdomain:"", SetHostnameAsFQDN:(*bool)(nil), Affinity:(*core.Affinity)(nil)')
  expect(printed).not.toContain('HostNetwork')
})

test.each<readonly [title: string, type: Node, value: unknown, printed: string]>([
  ['labels, by their keys', map(string()), { b: '2', a: 'x"y<' }, '{"a":"x\\"y\\u003c","b":"2"}'],
  ['an absent map', map(string()), undefined, 'null'],
  ['a map without members', map(string()), {}, '{}'],
  ['an absent list', list(int32()), null, 'null'],
  ['a list without items', list(int32()), [], '[]'],
  ['numbers', list(int64()), [2, 9007199254740993n], '[2,9007199254740993]'],
  ['texts of a type of their own', list(ref('core/v1.ResourceQuotaScope')), ['X'], '["X"]'],
  ['bytes', bytes(), 'YQ==', '"YQ=="'],
  ['a count', intOrString(), 3, '3'],
  ['a share', intOrString(), '25%', '"25%"'],
  ['no count', intOrString(), undefined, '0'],
  ['a struct', ref('rbac/v1.RoleRef'), { name: 'n' }, '{"APIGroup":"","Kind":"","Name":"n"}'],
  ['an absent time', ref('core/v1.Taint'), { key: 'b' }, '{"Key":"b","Value":"","Effect":"","TimeAdded":null}'],
  ['pointers to structs', ref('apps/v1.DaemonSetUpdateStrategy'), { type: 'X' }, '{"Type":"X","RollingUpdate":null}'],
  [
    'structs within structs',
    ref('core/v1.ServicePort'),
    { port: 1, protocol: 'TCP' },
    '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
  ],
  ['an embedded struct', ref('core/v1.ConfigMapKeySelector'), { name: 'n', key: 'k' }, '{"Name":"n","Key":"k","Optional":null}'],
  ['a selector of labels', ref('meta/v1.LabelSelector'), { matchLabels: { a: 'b' } }, '{"matchLabels":{"a":"b"}}'],
  ['an empty selector', ref('meta/v1.LabelSelector'), {}, '{}'],
  [
    'owners',
    list(ref('meta/v1.OwnerReference')),
    [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: '1', controller: true }],
    '[{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true}]',
  ],
  ['amounts', map(quantity()), { storage: '1Gi', cpu: '1500m' }, '{"cpu":"1500m","storage":"1Gi"}'],
  ['an amount', quantity(), '1500m', '"1500m"'],
])('TODAY-ALL-02: since 1.34 messages show %s as JSON', (_title, type, value, printed) => {
  expect(goValue(type, value).textAt(34)).toBe(printed)
})

test('TODAY-ALL-02: metadata is inlined in the JSON of a template', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } }
  expect(goValue(ref('core/v1.PodTemplateSpec'), template).textAt(34)).toMatch(/^\{"labels":\{"a":"b"\},"Spec":\{"Volumes":null,/)
})
