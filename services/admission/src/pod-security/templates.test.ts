import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import type { PodView } from './pod.ts'
import { isSignificantUpdate, podView, templateView } from './templates.ts'

const names = namesOf('orch')
const template = { metadata: { annotations: { a: 'b' } }, spec: { hostPID: true } }

test.each([
  ['podtemplates', { kind: 'PodTemplate', apiVersion: 'v1', template }],
  ['daemonsets', { kind: 'DaemonSet', apiVersion: 'apps/v1', spec: { template } }],
  ['deployments', { kind: 'Deployment', apiVersion: 'apps/v1', spec: { template } }],
  ['replicasets', { kind: 'ReplicaSet', apiVersion: 'apps/v1', spec: { template } }],
  ['statefulsets', { kind: 'StatefulSet', apiVersion: 'apps/v1', spec: { template } }],
  ['replicationcontrollers', { kind: 'ReplicationController', apiVersion: 'v1', spec: { template } }],
  ['jobs', { kind: 'Job', apiVersion: 'batch/v1', spec: { template } }],
  ['cronjobs', { kind: 'CronJob', apiVersion: 'batch/v1', spec: { jobTemplate: { spec: { template } } } }],
])('%s have a template', (resource, object) => {
  expect(templateView(resource, object)).toEqual({ annotations: { a: 'b' }, spec: { hostPID: true } })
})

test('a controller may lack a template', () => {
  expect(templateView('replicationcontrollers', { kind: 'ReplicationController', apiVersion: 'v1', spec: {} })).toBeUndefined()
})

const before: PodView = {
  annotations: { x: 'y' },
  spec: { containers: [{ name: 'a', image: 'i:1' }], initContainers: [{ name: 'i', image: 'i:1' }] },
}

test.each<readonly [string, boolean, PodView]>([
  ['nothing', false, before],
  ['an annotation of somebody', false, { ...before, annotations: { x: 'z' } }],
  ['what else is in the spec', false, { ...before, spec: { ...before.spec, hostPID: true } }],
  ['an image', true, { ...before, spec: { ...before.spec, containers: [{ name: 'a', image: 'i:2' }] } }],
  [
    'an image of a container that is run first',
    true,
    { ...before, spec: { ...before.spec, initContainers: [{ name: 'i', image: 'i:2' }] } },
  ],
  ['a container more', true, { ...before, spec: { ...before.spec, ephemeralContainers: [{ name: 'd', image: 'i:1' }] } }],
  ['a container instead of another', true, { ...before, spec: { ...before.spec, containers: [{ name: 'b', image: 'i:1' }] } }],
  ['a seccomp profile', true, { ...before, annotations: { x: 'y', 'seccomp.security.alpha.orch.io/pod': 'unconfined' } }],
  ['a seccomp profile of a container', true, { ...before, annotations: { x: 'y', 'container.seccomp.security.alpha.orch.io/a': 'z' } }],
  ['an AppArmor profile', true, { ...before, annotations: { x: 'y', 'container.apparmor.security.beta.orch.io/a': 'unconfined' } }],
])('a change of %s is significant: %s', (_title, expected, after) => {
  expect(isSignificantUpdate(after, before, names)).toBe(expected)
})

test('a pod without annotations is read with empty annotations', () => {
  expect(podView({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: {} })).toEqual({ annotations: {}, spec: {} })
})
