import { type ApiObject, StatusError } from '@orch/core/meta'
import { type StartOptions, start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'

const address = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })

/** Controllers take milliseconds, on a busy machine seconds. */
const within = { timeout: 90_000 }

async function aNamespace(options: StartOptions = { controllers: ['*'] }) {
  const server = await start(options)
  onTestFinished(() => server.stop())
  const { client } = server
  await client.resource(address('namespaces', false)).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
  const create = (plural: string, object: object) => client.resource(address(plural)).create(object as ApiObject, { namespace: 'team' })
  return { server, client, create }
}

const aPod = (name: string, spec: object = {}, metadata: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

const anAccount = (name: string, more: object = {}, annotations: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, annotations } },
  ...more,
})

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof StatusError)) throw error ?? new Error('it was not refused')
  return `${error.code} ${error.status.message}`
}

test('CTRL-05: every namespace has its default account and the root certificate, and they are restored', async () => {
  const { server, client } = await aNamespace()
  const accounts = client.resource(address('serviceaccounts'))
  const maps = client.resource<ApiObject & { data?: Record<string, string> }>(address('configmaps'))
  for (const namespace of ['team', 'default', 'orch-system']) {
    await vi.waitFor(async () => expect((await accounts.get('default', { namespace })).kind).toBe('ServiceAccount'), within)
    await vi.waitFor(async () => {
      const { data } = await maps.get('orch-root-ca.crt', { namespace })
      expect(server.kubeconfig).toContain(Buffer.from(data?.['ca.crt'] ?? 'none').toString('base64'))
    }, within)
  }
  await accounts.delete('default', { namespace: 'team' })
  await maps.patch('orch-root-ca.crt', { data: { 'ca.crt': 'other' } }, { type: 'merge', namespace: 'team' })
  await vi.waitFor(async () => expect((await accounts.get('default', { namespace: 'team' })).kind).toBe('ServiceAccount'), within)
  await vi.waitFor(
    async () => expect((await maps.get('orch-root-ca.crt', { namespace: 'team' })).data?.['ca.crt']).toContain('BEGIN'),
    within,
  )
})

test('ADM-BI-09, CTRL-06, AUTHN-SA-12: a pod gets the default account and a token for it', async () => {
  const { create } = await aNamespace()
  const pod = (await create('pods', aPod('a', { initContainers: [{ name: 'i', image: 'i' }] }))) as ApiObject & {
    spec: Record<string, unknown>
  }
  const mount = {
    name: expect.stringMatching(/^orch-api-access-[a-z0-9]{5}$/),
    readOnly: true,
    mountPath: '/var/run/secrets/orch.io/serviceaccount',
  }
  expect(pod.spec).toMatchObject({
    serviceAccountName: 'default',
    serviceAccount: 'default',
    containers: [{ volumeMounts: [mount] }],
    initContainers: [{ volumeMounts: [mount] }],
    volumes: [
      {
        name: mount.name,
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
          ],
        },
      },
    ],
  })
})

test('ADM-BI-09: names follow the profile', async () => {
  const { create } = await aNamespace({ controllers: ['*'], profile: 'kubernetes' })
  const { spec } = (await create('pods', aPod('a'))) as ApiObject & { spec: { volumes: { name: string }[] } }
  expect(spec.volumes[0]?.name).toMatch(/^kube-api-access-/)
})

test.each([
  ['the pod says so', {}, { automountServiceAccountToken: false }],
  ['the account says so', { automountServiceAccountToken: false }, {}],
  [
    'the container has a mount of its own',
    {},
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/var/run/secrets/orch.io/serviceaccount' }] }],
    },
  ],
])('ADM-BI-09: no token is mounted if %s', async (_, account, spec) => {
  const { create } = await aNamespace()
  await create('serviceaccounts', anAccount('bot', account))
  const pod = (await create('pods', aPod('a', { serviceAccountName: 'bot', ...spec }))) as ApiObject & {
    spec: { volumes?: { projected?: object }[] }
  }
  expect(pod.spec).toMatchObject({ serviceAccountName: 'bot' })
  expect((pod.spec.volumes ?? []).filter(({ projected }) => projected !== undefined)).toEqual([])
})

test('ADM-BI-09: image pull secrets come from the account, unless the pod has some', async () => {
  const { create } = await aNamespace()
  await create('serviceaccounts', anAccount('bot', { imagePullSecrets: [{ name: 'registry' }] }))
  expect(await create('pods', aPod('a', { serviceAccountName: 'bot' }))).toMatchObject({
    spec: { imagePullSecrets: [{ name: 'registry' }] },
  })
  const own = { serviceAccountName: 'bot', imagePullSecrets: [{ name: 'own' }] }
  expect(await create('pods', aPod('b', own))).toMatchObject({ spec: { imagePullSecrets: [{ name: 'own' }] } })
})

test('ADM-BI-09: an absent account is refused', async () => {
  const { create } = await aNamespace()
  expect(await refusal(create('pods', aPod('a', { serviceAccountName: 'nobody' })))).toBe(
    '403 pods "a" is forbidden: error looking up service account team/nobody: serviceaccount "nobody" not found',
  )
})

test('ADM-BI-09: an account may limit its pods to its secrets', async () => {
  const { create } = await aNamespace()
  const annotations = { 'orch.io/enforce-mountable-secrets': 'true' }
  await create('serviceaccounts', anAccount('bot', { secrets: [{ name: 'good' }] }, annotations))
  const spec = { serviceAccountName: 'bot' }
  await create('pods', aPod('a', { ...spec, volumes: [{ name: 'v', secret: { secretName: 'good' } }] }))
  expect(await refusal(create('pods', aPod('b', { ...spec, volumes: [{ name: 'v', secret: { secretName: 'bad' } }] })))).toBe(
    '403 pods "b" is forbidden: volume with secret.secretName="bad" is not allowed because service account bot does not reference that secret',
  )
  const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 'bad', key: 'k' } } }]
  expect(await refusal(create('pods', aPod('c', { ...spec, containers: [{ name: 'c', image: 'i', env }] })))).toBe(
    '403 pods "c" is forbidden: container c with envVar E referencing secret.secretName="bad" is not allowed because service account bot does not reference that secret',
  )
  expect(await refusal(create('pods', aPod('d', { ...spec, imagePullSecrets: [{ name: 'bad' }] })))).toBe(
    '403 pods "d" is forbidden: imagePullSecrets[0].name="bad" is not allowed because service account bot does not reference that imagePullSecret',
  )
})

const claimOf = (name: string, owner?: ApiObject) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    ...(owner && {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: owner.metadata.name, uid: owner.metadata.uid, controller: true }],
    }),
  },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})
const withClaim = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })

test('ADM-BI-12, CTRL-07: a deleted claim stays while a scheduled pod uses it, even a finished one', async () => {
  const { client, create } = await aNamespace()
  const claims = client.resource(address('persistentvolumeclaims'))
  await create('persistentvolumeclaims', claimOf('data'))
  await create('pods', aPod('a', { ...withClaim('data'), nodeName: 'n' }))
  await create('pods', aPod('b', { ...withClaim('data'), nodeName: 'n' }))
  await create('pods', aPod('waiting', withClaim('data')))
  const pods = client.resource(address('pods'))
  await pods.patch('b', { status: { phase: 'Succeeded' } }, { namespace: 'team', type: 'merge', subresource: 'status' })
  await claims.delete('data', { namespace: 'team' })
  await pods.delete('a', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  expect((await claims.get('data', { namespace: 'team' })).metadata.deletionTimestamp).toBeDefined()
  await pods.delete('b', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  await vi.waitFor(async () => expect(await refusal(claims.get('data', { namespace: 'team' }))).toMatch(/^404/), within)
})

test('CTRL-07: the claim of an ephemeral volume stays while its pod exists', async () => {
  const { client, create } = await aNamespace()
  const claims = client.resource(address('persistentvolumeclaims'))
  const ephemeral = { volumeClaimTemplate: { spec: claimOf('').spec } }
  const pod = await create(
    'pods',
    aPod('p', {
      nodeName: 'n',
      volumes: [
        { name: 'scratch', ephemeral },
        { name: 'other', ephemeral },
      ],
    }),
  )
  await create('persistentvolumeclaims', claimOf('p-scratch', pod))
  await create('persistentvolumeclaims', claimOf('p-other'))
  const isGone = async (name: string) => expect(await refusal(claims.get(name, { namespace: 'team' }))).toMatch(/^404/)
  for (const name of ['p-scratch', 'p-other']) await claims.delete(name, { namespace: 'team' })
  await vi.waitFor(() => isGone('p-other'), within)
  expect((await claims.get('p-scratch', { namespace: 'team' })).metadata.deletionTimestamp).toBeDefined()
  await client.resource(address('pods')).delete('p', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  await vi.waitFor(() => isGone('p-scratch'), within)
})

test('ADM-BI-12, CTRL-08: a deleted volume stays while it is bound', async () => {
  const { client } = await aNamespace()
  const volumes = client.resource(address('persistentvolumes', false))
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } }
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'disk', finalizers: ['orch.io/pv-protection'] }, spec }
  await volumes.create(volume)
  await volumes.patch('disk', { status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
  await volumes.delete('disk')
  expect((await volumes.get('disk')).metadata.deletionTimestamp).toBeDefined()
  await volumes.patch('disk', { status: { phase: 'Released' } }, { type: 'merge', subresource: 'status' })
  await vi.waitFor(async () => expect(await refusal(volumes.get('disk'))).toMatch(/^404/), within)
})

test('a deleted class of volume attributes goes once no claim and no volume names it', async () => {
  const { client, create } = await aNamespace()
  const classes = client.resource({ group: 'storage.orch.io', version: 'v1', plural: 'volumeattributesclasses', namespaced: false })
  const aClass = (name: string) =>
    classes.create({
      apiVersion: 'storage.orch.io/v1',
      kind: 'VolumeAttributesClass',
      metadata: { name },
      driverName: 'd',
      parameters: { tier: name },
    } as ApiObject)
  for (const name of ['free', 'claimed', 'used']) {
    expect((await aClass(name)).metadata.finalizers).toEqual(['orch.io/vac-protection'])
  }
  const claim = claimOf('data')
  await create('persistentvolumeclaims', { ...claim, spec: { ...claim.spec, volumeAttributesClassName: 'claimed' } })
  const volumes = client.resource(address('persistentvolumes', false))
  const csi = { driver: 'd', volumeHandle: 'h' }
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi, volumeAttributesClassName: 'used' }
  await volumes.create({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'disk' }, spec } as ApiObject)
  const isGone = async (name: string) => expect(await refusal(classes.get(name))).toMatch(/^404/)
  for (const name of ['claimed', 'used', 'free']) await classes.delete(name)
  await vi.waitFor(() => isGone('free'), within)
  for (const name of ['claimed', 'used']) expect((await classes.get(name)).metadata.deletionTimestamp).toBeDefined()
  await client.resource(address('persistentvolumeclaims')).delete('data', { namespace: 'team' })
  await volumes.delete('disk')
  for (const name of ['claimed', 'used']) await vi.waitFor(() => isGone(name), within)
})
