import { expect, test } from 'vitest'
import { aNamespace, sharedApi } from './api.ts'

const server = sharedApi({ version: '1.25', controllers: ['bootstrap'] })

test('a valid object with a deprecated field is written with a warning, and an invalid object is refused without one', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
  const volumes = [{ name: 'v', gitRepo: { repository: 'r' } }]
  const template = { metadata: { labels: { a: 'b' } }, spec: { volumes, containers: [{ name: 'c', image: 'i' }] } }
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
  const warning = '299 - "spec.template.spec.volumes[0].gitRepo: deprecated in v1.11"'

  const answerTo = ({ status, headers }: { status: number; headers: Record<string, unknown> }) => ({ status, warning: headers['warning'] })
  const refused = { ...deployment, spec: { ...deployment.spec, replicas: -1 } }
  expect(answerTo(await server.api.post(path, refused))).toEqual({ status: 422, warning: undefined })
  expect(answerTo(await server.api.post(`${path}?dryRun=All`, deployment))).toEqual({ status: 201, warning })
  expect(answerTo(await server.api.post(path, deployment))).toEqual({ status: 201, warning })

  const patched = async (at: string, change: unknown) => answerTo(await server.api.patch(`${path}/${at}`, change))
  expect(await patched('d', { metadata: { labels: { x: 'y' } } })).toEqual({ status: 200, warning: undefined })
  expect(await patched('d', { spec: { replicas: 2 } })).toEqual({ status: 200, warning })
  expect(await patched('d/status', { status: { replicas: 1 } })).toEqual({ status: 200, warning: undefined })
  expect(await patched('d/scale', { spec: { replicas: 3 } })).toEqual({ status: 200, warning })
})
