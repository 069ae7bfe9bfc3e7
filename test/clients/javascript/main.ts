/** The JavaScript client against the server of KUBECONFIG: prints a line for each successful step. LEVEL is the server's minor version. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiException,
  ApiextensionsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  Watch,
} from '@kubernetes/client-node'

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly size: number }
}

const namespace = 'default'
const level = Number(process.env['LEVEL'])
const config = new KubeConfig()
config.loadFromDefault()
const core = config.makeApiClient(CoreV1Api)

/** The status code of a refused request. */
async function refusal(request: Promise<unknown>): Promise<number | undefined> {
  return request.then(
    () => undefined,
    (error) => (error instanceof ApiException ? error.code : Promise.reject(error)),
  )
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let rest = 1200; !(await holds()); rest--) {
    assert.ok(rest > 0, 'the expected state has not come')
    await sleep(50)
  }
}

async function typed(): Promise<void> {
  const made = await core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name: 'today' },
      spec: {
        hostnameOverride: 'web.example.com',
        initContainers: [{ name: 'sidecar', image: 'sidecar:1', restartPolicy: 'Always' }],
        containers: [{ name: 'main', image: 'main:1' }],
      },
    },
  })
  assert.equal(made.spec?.initContainers?.[0]?.restartPolicy, 'Always')
  assert.equal(made.spec?.hostnameOverride !== undefined, level >= 35)
  const service = await core.createNamespacedService({
    namespace,
    body: { metadata: { name: 'today' }, spec: { ports: [{ port: 80 }], trafficDistribution: 'PreferClose' } },
  })
  assert.equal(service.spec?.trafficDistribution, 'PreferClose')
  const labelled = { ...made, metadata: { ...made.metadata, labels: { changed: 'yes' } } }
  const changed = await core.replaceNamespacedPod({ namespace, name: 'today', body: labelled })
  assert.deepEqual(changed.metadata?.labels, { changed: 'yes' })
  assert.equal(await refusal(core.replaceNamespacedPod({ namespace, name: 'today', body: labelled })), 409)
  await core.deleteNamespacedPod({ namespace, name: 'today', gracePeriodSeconds: 0 })
  assert.deepEqual((await core.listNamespacedPod({ namespace })).items, [])
}

/** A watch whose requests end every second loses no change. */
async function watched(): Promise<void> {
  let version = (await core.listNamespacedConfigMap({ namespace })).metadata?.resourceVersion
  const names = Array.from({ length: 6 }, (_, index) => `watched-${index}`)
  const creating = (async () => {
    for (const name of names) {
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } })
      await sleep(400)
    }
  })()
  const seen: string[] = []
  while (seen.length < names.length) {
    await new Promise<void>((resolve, reject) => {
      const options = { resourceVersion: version, timeoutSeconds: 1 }
      const see = (type: string, { metadata }: KubernetesObject) => {
        version = metadata?.resourceVersion
        if (type === 'ADDED' && metadata?.name?.startsWith('watched-')) seen.push(metadata.name)
      }
      const opened = new Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, options, see, () => resolve())
      opened.catch(reject)
    })
  }
  await creating
  assert.deepEqual(seen, names)
}

async function applied(): Promise<void> {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const apply = (text: string, manager: string, force = false) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace }, data: { a: text } }
    return objects.patch(body, undefined, undefined, manager, force, PatchStrategy.ServerSideApply)
  }
  await apply('1', 'first')
  assert.equal(await refusal(apply('2', 'second')), 409)
  assert.deepEqual((await apply('2', 'second', true)).data, { a: '2' })
}

/** Takes a Lease that is absent, free or expired, or renews the Lease that it holds. */
async function acquire(holder: string): Promise<boolean> {
  const leases = config.makeApiClient(CoordinationV1Api)
  const spec = { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: new V1MicroTime() }
  const found = await leases.readNamespacedLease({ namespace, name: 'elected' }).catch((error) => {
    if (error instanceof ApiException && error.code === 404) return undefined
    throw error
  })
  if (found === undefined) {
    return (await refusal(leases.createNamespacedLease({ namespace, body: { metadata: { name: 'elected' }, spec } }))) === undefined
  }
  const { holderIdentity: held, renewTime } = found.spec ?? {}
  // The client returns this time as a string although its type is Date.
  const isFresh = renewTime !== undefined && Date.now() - Date.parse(`${renewTime}`) < 15_000
  if (held && held !== holder && isFresh) return false
  return (await refusal(leases.replaceNamespacedLease({ namespace, name: 'elected', body: { ...found, spec } }))) === undefined
}

/** Exactly one of several concurrent candidates leads. */
async function elected(): Promise<void> {
  const won = await Promise.all(['one', 'two', 'three'].map(acquire))
  assert.equal(won.filter((one) => one).length, 1)
  const leader = ['one', 'two', 'three'][won.indexOf(true)] ?? ''
  assert.deepEqual([await acquire(leader), await acquire('other')], [true, false])
}

async function operated(): Promise<void> {
  const place = { group: 'clients.example.com', version: 'v1', namespace, plural: 'widgets' }
  const schema = { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } }
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      metadata: { name: 'widgets.clients.example.com' },
      spec: {
        group: place.group,
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
      },
    },
  })
  const objects = config.makeApiClient(CustomObjectsApi)
  await until(async () => (await refusal(objects.listNamespacedCustomObject(place))) === undefined)
  const path = `/apis/${place.group}/v1/namespaces/${namespace}/widgets`
  const informer = makeInformer<Widget>(config, path, () => objects.listNamespacedCustomObject(place))
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
  const reconcile = async ({ metadata, spec, status }: Widget) => {
    if (status?.size === spec.size) return
    await objects.patchNamespacedCustomObjectStatus({ ...place, name: metadata?.name ?? '', body: { status: { size: spec.size } } }, merge)
  }
  for (const verb of ['add', 'update'] as const) informer.on(verb, reconcile)
  await informer.start()
  const one = { ...place, name: 'one' }
  const hasSize = (size: number) => async () => ((await objects.getNamespacedCustomObject(one)) as Widget).status?.size === size
  const widget = { apiVersion: 'clients.example.com/v1', kind: 'Widget', metadata: { name: 'one' }, spec: { size: 3 } }
  await objects.createNamespacedCustomObject({ ...place, body: widget })
  await until(hasSize(3))
  await objects.patchNamespacedCustomObject({ ...one, body: { spec: { size: 5 } } }, merge)
  await until(hasSize(5))
  await objects.deleteNamespacedCustomObject(one)
  assert.equal(await refusal(objects.getNamespacedCustomObject(one)), 404)
  await informer.stop()
}

for (const [name, step] of Object.entries({ typed, watch: watched, apply: applied, leader: elected, operator: operated })) {
  await step()
  process.stdout.write(`ok ${name}\n`)
}
process.exit()
