import { expect, test } from 'vitest'
import { aNamespace, type Body, created, sharedApi } from './api.ts'

const server = sharedApi({ version: '1.25', controllers: ['bootstrap'] })

const countAnnotation = 'deprecated.daemonset.template.generation'
const daemonSet = {
  metadata: { name: 'd', annotations: { mine: 'x' } },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
  },
}

/** The fields that each manager owns in a part of the object. */
function owned({ metadata }: Body, part: string): Record<string, unknown> {
  const entries = (metadata.managedFields ?? []) as { manager: string; fieldsV1: Record<string, unknown> }[]
  return Object.fromEntries(entries.flatMap(({ manager, fieldsV1 }) => (part in fieldsV1 ? [[manager, fieldsV1[part]]] : [])))
}

test('the template generation of a DaemonSet is part of the whole object, and not of PartialObjectMetadata', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/daemonsets`
  const made = await created(server.api, path, daemonSet)
  expect(made.metadata.annotations).toEqual({ mine: 'x', [countAnnotation]: '1' })
  const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'
  const one = await server.api.get(`${path}/d`, { accept: partial })
  expect(one.body.metadata).toEqual({ ...made.metadata, annotations: { mine: 'x' } })
  const list = await server.api.get(path, { accept: partial.replace('Metadata;', 'MetadataList;') })
  expect(list.body.items).toMatchObject([{ metadata: { annotations: { mine: 'x' } } }])
  expect(list.text).not.toContain(`"${countAnnotation}"`)
  const table = await server.api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })
  expect(table.text).toContain('"annotations":{"mine":"x"}')
  expect(table.text).not.toContain(`"${countAnnotation}"`)
})

test('another kind keeps the annotation with that name in its metadata', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/configmaps`
  await created(server.api, path, { metadata: { name: 'c', annotations: { [countAnnotation]: '1' } } })
  const { body } = await server.api.get(`${path}/c`, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io' })
  expect(body.metadata.annotations).toEqual({ [countAnnotation]: '1' })
})

test('a PUT of a DaemonSet without the template generation owns it, and its value stays', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/daemonsets`
  await created(server.api, `${path}?fieldManager=first`, daemonSet)
  const { body } = await server.api.put(`${path}/d?fieldManager=second`, daemonSet)
  expect(body.metadata.annotations).toEqual({ mine: 'x', [countAnnotation]: '1' })
  expect(owned(body, 'f:metadata')).toEqual({
    first: { 'f:annotations': { '.': {}, 'f:mine': {} } },
    second: { 'f:annotations': { [`f:${countAnnotation}`]: {} } },
  })
})

const target = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const share = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }
const pods = { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '1' } } }

test('metrics are stored with CPU utilization last, and a writer of another order owns them', async () => {
  const path = `/apis/autoscaling/v2/namespaces/${await aNamespace(server.api)}/horizontalpodautoscalers`
  const autoscaler = { metadata: { name: 'h' }, spec: { scaleTargetRef: target, maxReplicas: 5, metrics: [share, pods] } }
  expect((await created(server.api, `${path}?fieldManager=first`, autoscaler)).spec).toMatchObject({ metrics: [pods, share] })
  const { body } = await server.api.put(`${path}/h?fieldManager=second`, autoscaler)
  expect(body.spec).toMatchObject({ metrics: [pods, share] })
  expect(owned(body, 'f:spec')).toMatchObject({ second: { 'f:metrics': {} } })
  expect(owned(body, 'f:spec')['first']).not.toHaveProperty('f:metrics')
  const first = `/apis/autoscaling/v1${path.slice('/apis/autoscaling/v2'.length)}/h`
  await server.api.patch(first, { spec: { maxReplicas: 6 } })
  expect((await server.api.get(`${path}/h`)).body.spec).toMatchObject({ maxReplicas: 6, metrics: [pods, share] })
})

test('a writer of a v1 autoscaler owns the fields that the conversion sets', async () => {
  const path = `/apis/autoscaling/v1/namespaces/${await aNamespace(server.api)}/horizontalpodautoscalers`
  const body = await created(server.api, `${path}?fieldManager=m`, {
    metadata: { name: 'h' },
    spec: { scaleTargetRef: target, maxReplicas: 5 },
  })
  expect(body.spec).toMatchObject({ targetCPUUtilizationPercentage: 80 })
  expect(owned(body, 'f:spec')).toMatchObject({ m: { 'f:targetCPUUtilizationPercentage': {} } })
})

test('a status of v2beta2 has fields that v2 omits when they are empty', async () => {
  const path = `/apis/autoscaling/v2/namespaces/${await aNamespace(server.api)}/horizontalpodautoscalers`
  const { status } = await created(server.api, path, { metadata: { name: 'h' }, spec: { scaleTargetRef: target, maxReplicas: 5 } })
  expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null })
  const { body } = await server.api.get(`${path.replace('/v2/', '/v2beta2/')}/h`)
  expect(body.status).toEqual({ currentReplicas: 0, desiredReplicas: 0, currentMetrics: null, conditions: null })
})

test('removed fields of a Service’s former type still have their owner', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
  await created(server.api, `${path}?fieldManager=first`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  await server.api.patch(`${path}/s?fieldManager=second`, { spec: { type: 'NodePort' } })
  const change = { spec: { type: 'ExternalName', externalName: 'x.example.com' } }
  const { body } = await server.api.patch(`${path}/s?fieldManager=third`, change)
  expect(body.spec).not.toHaveProperty('externalTrafficPolicy')
  expect(body.spec).not.toHaveProperty('clusterIP')
  expect(owned(body, 'f:spec')).toMatchObject({
    first: { 'f:internalTrafficPolicy': {} },
    second: { 'f:externalTrafficPolicy': {} },
    third: { 'f:externalName': {}, 'f:type': {} },
  })
})
