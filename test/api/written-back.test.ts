import { expect, test } from 'vitest'
import { aNamespace, created, sharedApi } from './api.ts'
import { sampleFields } from './sample-objects.ts'

const server = sharedApi()

/** Ports of the host have a default in templates at levels before 1.27. */
const before = sharedApi({ version: '1.25' })

const podSpec = { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' }

test('META-15: an object written back with another creation time and generation is accepted, and both stay', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
  const { metadata } = await created(server.api, path, {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: podSpec.containers } },
    },
  })
  const stale = { name: 'd', creationTimestamp: '2001-01-01T00:00:00Z', generation: 0 }
  const main = await server.api.patch(`${path}/d`, { metadata: { ...stale, labels: { x: 'y' } } })
  expect(main.body).toMatchObject({ metadata: { creationTimestamp: metadata.creationTimestamp, generation: 1, labels: { x: 'y' } } })
  const part = await server.api.put(`${path}/d/status`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: stale,
    status: { observedGeneration: 1 },
  })
  expect(part.body).toMatchObject({
    metadata: { creationTimestamp: metadata.creationTimestamp, generation: 1 },
    status: { observedGeneration: 1 },
  })
})

test('META-12: a Job written back unchanged is not stored again, and without labels it gets the labels of its Pods', async () => {
  const path = `/apis/batch/v1/namespaces/${await aNamespace(server.api)}/jobs`
  const made = await created(server.api, path, { metadata: { name: 'j' }, spec: { template: { spec: podSpec } } })
  const { uid } = made.metadata
  const own = { 'batch.orch.io/controller-uid': uid, 'batch.orch.io/job-name': 'j' }
  expect(made.metadata.labels).toEqual({ 'controller-uid': uid, 'job-name': 'j', ...own })
  const { body } = await server.api.put(`${path}/j`, made)
  expect(body).toEqual(made)
})

test('META-12: a certificate signing request written back unchanged is not stored again, for any writer', async () => {
  const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const headers = {
    'impersonate-user': 'orch-admin',
    'impersonate-group': 'system:masters',
    'impersonate-extra-zeta': 'z',
    'impersonate-extra-alpha': 'a',
  }
  const kind = 'CertificateSigningRequest'
  const apiVersion = 'certificates.orch.io/v1'
  const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace: '' })
  const body = { apiVersion, kind, metadata: { name: 'c' }, ...fields }
  const { body: made } = await server.api.send('POST', path, { headers, body })
  expect(made).toMatchObject({ spec: { extra: { alpha: ['a'], zeta: ['z'] } } })
  expect((await server.api.put(`${path}/c`, made)).body).toEqual(made)
})

test('META-09, META-12: a Namespace written back unchanged is not stored again, with a generated name too', async () => {
  for (const metadata of [{ generateName: 'made-' }, { generateName: 'made-', labels: { zz: 'b', a: 'b' } }]) {
    const made = await created(server.api, '/api/v1/namespaces', { metadata })
    expect(Object.keys(made.metadata)).toEqual([
      'name',
      'generateName',
      'uid',
      'resourceVersion',
      'creationTimestamp',
      'labels',
      'managedFields',
    ])
    expect((await server.api.put(`/api/v1/namespaces/${made.metadata.name}`, made)).body).toEqual(made)
  }
})

test.each(['merge patch', 'apply', 'put'])(
  'VAL-08: a default inside a part that a %s leaves unchanged is set only in this write',
  async (way) => {
    const { api } = before
    const path = `/apis/apps/v1/namespaces/${await aNamespace(api)}/deployments`
    const { containers } = podSpec
    const withPort = containers.map((container) => ({ ...container, ports: [{ containerPort: 80 }] }))
    await created(api, path, {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: withPort } } },
    })
    // A value that one change has set stays for the next change.
    const { body: changed } = await api.patch(`${path}/d`, { metadata: { labels: { x: 'y' } } })
    const onHost = { spec: { template: { spec: { hostNetwork: true } } } }
    const { template, ...spec } = changed.spec as { template: { spec: object } }
    const write = async (query: string) => {
      if (way === 'merge patch') return api.patch(`${path}/d${query}`, onHost)
      if (way === 'put') {
        const body = { ...changed, spec: { ...spec, template: { ...template, spec: { ...template.spec, hostNetwork: true } } } }
        return api.put(`${path}/d${query}`, body)
      }
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, ...onHost }
      return api.send('PATCH', `${path}/d?fieldManager=m${query.replace('?', '&')}`, { headers, body })
    }
    const ports = (hostPort: object) => ({
      spec: { template: { spec: { containers: [{ ports: [{ containerPort: 80, protocol: 'TCP', ...hostPort }] }] } } },
    })
    expect((await write('?dryRun=All')).body).toMatchObject(ports({ hostPort: 80 }))
    const { body: again } = await api.patch(`${path}/d`, { metadata: { labels: { x: 'z' } } })
    expect(again).toMatchObject(ports({}))
    expect(JSON.stringify(again)).not.toContain('hostPort')
    const { body: written } = way === 'put' ? await api.patch(`${path}/d`, onHost) : await write('')
    expect(written).toMatchObject(ports({ hostPort: 80 }))
    expect((await api.get(`${path}/d`)).body).toEqual(written)
  },
)
