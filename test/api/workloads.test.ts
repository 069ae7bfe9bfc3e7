import { describe, expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi()

const template = (restartPolicy: string) => ({
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy, containers: [{ name: 'c', image: 'i:1' }] },
})

describe('Jobs and their selectors', () => {
  const jobs = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/jobs`
  const job = (spec: object) => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: aName('job') }, spec })

  test('select their Pods by the uid of the Job', async () => {
    const path = jobs(await aNamespace(server.api))
    const { metadata, spec } = await created(server.api, path, job({ template: template('Never') }))
    const own = { 'batch.orch.io/controller-uid': metadata['uid'], 'batch.orch.io/job-name': metadata['name'] }
    const labels = { app: 'a', 'controller-uid': metadata['uid'], 'job-name': metadata['name'], ...own }
    const matchLabels = { 'batch.orch.io/controller-uid': metadata['uid'] }
    expect(spec).toMatchObject({ selector: { matchLabels }, template: { metadata: { labels } } })
  })

  test('keep a manual selector', async () => {
    const path = jobs(await aNamespace(server.api))
    const selector = { matchLabels: { app: 'a' } }
    const { spec } = await created(server.api, path, job({ manualSelector: true, selector, template: template('Never') }))
    expect(spec).toMatchObject({ selector, template: { metadata: { labels: { app: 'a' } } } })
  })

  test('may not select Pods of another Job', async () => {
    const path = jobs(await aNamespace(server.api))
    const spec = { selector: { matchLabels: { 'controller-uid': 'x' } }, template: template('Never') }
    const { status, body } = await server.api.post(path, job(spec))
    expect(status).toBe(422)
    expect(body['message']).toMatch(
      /spec\.selector: Invalid value: \{"matchLabels":\{"batch\.orch\.io\/controller-uid":"[^"]+","controller-uid":"x"\}\}: `selector` not auto-generated/,
    )
  })
})

test('the spec of an existing Pod is immutable except for images, the deadline and tolerations', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
  const pod = await created(server.api, path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: template('Always').spec })
  const spec = pod['spec'] as { containers: object[] }
  const newImage = { ...pod, spec: { ...spec, containers: [{ ...spec.containers[0], image: 'i:2' }] } }
  expect((await server.api.put(`${path}/p`, newImage)).status).toBe(200)
  const { metadata: _metadata, ...rest } = newImage
  const { status, body } = await server.api.put(`${path}/p`, {
    ...rest,
    metadata: { name: 'p' },
    spec: { ...newImage.spec, hostname: 'h' },
  })
  expect(status).toBe(422)
  expect(body['message']).toMatch(/^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than/)
})

test('the selector of a Deployment is immutable', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
  const deployment = (key: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchExpressions: [{ key, operator: 'DoesNotExist' }] }, template: template('Always') },
  })
  await created(server.api, path, deployment('x'))
  const { status, body } = await server.api.put(`${path}/d`, deployment('y'))
  expect(status).toBe(422)
  expect(body['message']).toBe(
    'Deployment.apps "d" is invalid: spec.selector: Invalid value: {"matchExpressions":[{"key":"y","operator":"DoesNotExist"}]}: field is immutable',
  )
})
