import { type RunningServer, refuse, start } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes', seed: 7, controllers: ['*', 'workloads', 'tokencleaner'] })
})
afterAll(() => base.stop())

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'i' }] } }
const spec = { replicas: 0, selector: { matchLabels: template.metadata.labels }, template }
const revision = 'deployment.kubernetes.io/revision'
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }

interface Case {
  readonly what: string
  /** The request of the controller that is refused once. */
  readonly on: object
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: { readonly name: string; readonly namespace?: string }
  }
  /** The state before the fault; without it, the fault precedes the object. */
  readonly before?: Readonly<Record<string, unknown>>
  readonly change?: object
  /** Undefined for an object that is deleted. */
  readonly after?: Readonly<Record<string, unknown>>
}

const cases: readonly Case[] = [
  {
    what: 'the status of a StatefulSet',
    on: { resource: 'statefulsets', subresource: 'status' },
    object: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a', namespace: 'default' }, ...{ spec } },
    before: { status: { observedGeneration: 1 } },
    change: { spec: { revisionHistoryLimit: 5 } },
    after: { status: { observedGeneration: 2 } },
  },
  {
    what: 'the revision of a Deployment',
    on: { resource: 'deployments', subresource: 'status' },
    object: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', namespace: 'default' }, ...{ spec } },
    before: {
      metadata: { annotations: { [revision]: '1' } },
      status: { observedGeneration: 1, conditions: [{ type: 'Available' }, { type: 'Progressing' }] },
    },
    change: { metadata: { annotations: { [revision]: null } } },
    after: { metadata: { annotations: { [revision]: '1' } } },
  },
  {
    what: 'the condition of a FlowSchema',
    on: { resource: 'flowschemas', subresource: 'status' },
    object: {
      ...{ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name: 'a' } },
      ...{ spec: { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'absent' } } },
    },
    after: { status: { conditions: [{ type: 'Dangling', status: 'True' }] } },
  },
  {
    what: 'the status of a ValidatingAdmissionPolicy',
    on: { resource: 'validatingadmissionpolicies', subresource: 'status' },
    object: {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'a' } },
      ...{ spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } },
    },
    after: { status: { observedGeneration: 1 } },
  },
  {
    what: 'the deletion of an expired bootstrap token',
    on: { resource: 'secrets', verb: 'delete' },
    object: {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' } },
      ...{ type: 'bootstrap.kubernetes.io/token' },
      ...{ stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', expiration: '2020-01-01T00:00:00Z' } },
    },
  },
]

describe('WL-COMMON-07: a controller of the server repeats a write that met a conflict, without an event', () => {
  test.each(cases)('$what', async ({ on, object, before, change, after }) => {
    await using server = await base.fork()
    const { apiVersion, kind, metadata } = object
    const reference = { apiVersion, kind, ...metadata }
    if (before !== undefined) {
      await server.client.objects.create(object)
      await server.eventually(reference, before, { within: '60s' })
    }
    using fault = server.faults.add({ on: { user: /^system:/, ...on }, times: 1, effect: refuse(409, { always: true }) })
    if (before === undefined) await server.client.objects.create(object)
    else await server.client.objects.patch(object, change, { type: 'merge' })
    await fault.hit()
    const found = await server.eventually(reference, after ?? ((present: unknown) => present === undefined), { within: '60s' })
    expect(found === undefined).toBe(after === undefined)
  })
})
