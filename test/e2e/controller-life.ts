import {
  ApiextensionsV1Api,
  CustomObjectsApi,
  type KubeConfig,
  type KubernetesObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node'
import { sleep, systemClock } from '@orch/platform'
import { type Reply, type WebhookServer, withBody } from '../admission/webhook-server.ts'

/** An object that the controller reconciles. */
interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number; readonly amount?: number; readonly color?: string }
  readonly status?: { readonly observed?: number }
}

const group = 'example.com'
const plural = 'widgets'
const namespace = 'default'
const finalizer = 'example.com/widget'
const workers = 8
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
const place = { group, plural, namespace }

interface Form {
  readonly isStored: boolean
  /** The name of the size field. */
  readonly size?: 'size' | 'amount'
  readonly color?: object
}

function version(name: string, { isStored, size = 'size', color = {} }: Form) {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { [size]: { type: 'integer' }, color: { type: 'string', ...color } } },
      status: { type: 'object', properties: { observed: { type: 'integer' } } },
    },
  }
  return { name, served: true, storage: isStored, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }
}

/** The changes of the definition during the run: a version, a webhook, another stored version, a default. */
function changesOf({ url, caBundle }: Pick<WebhookServer, 'url' | 'caBundle'>) {
  const webhook = { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] }
  const blue = { default: 'blue' }
  return [
    { versions: [version('v1', { isStored: true }), version('v2', { isStored: false })] },
    {
      conversion: { strategy: 'Webhook', webhook },
      versions: [version('v1', { isStored: true }), version('v2', { isStored: false, size: 'amount' })],
    },
    { versions: [version('v1', { isStored: false }), version('v2', { isStored: true, size: 'amount' })] },
    {
      versions: [version('v1', { isStored: false, color: blue }), version('v2', { isStored: true, size: 'amount', color: blue })],
    },
  ]
}

/** The size in v1 is the amount in v2. */
export const convertingSizes: Reply = withBody(({ review, request }) => {
  const convertedObjects = request.objects.map((object: Widget) => {
    const { size, amount, ...rest } = object.spec ?? {}
    const value = size ?? amount
    const name = request.desiredAPIVersion.endsWith('/v2') ? 'amount' : 'size'
    return { ...object, apiVersion: request.desiredAPIVersion, spec: { ...rest, ...(value === undefined ? {} : { [name]: value }) } }
  })
  const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects }
  return { apiVersion: review.apiVersion, kind: 'ConversionReview', response }
})

/** Runs a controller with an informer. The controller reconciles objects while the test changes and deletes their definition. */
export async function runController(config: KubeConfig, { count, hook }: { readonly count: number; readonly hook: WebhookServer }) {
  const changes = changesOf(hook)
  const objects = config.makeApiClient(CustomObjectsApi)
  const definitions = config.makeApiClient(ApiextensionsV1Api)
  const errors: string[] = []
  await definitions.createCustomResourceDefinition({
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind: 'Widget' }, versions: [version('v1', { isStored: true })] },
    },
  })

  const queue = new Set<string>()
  const known = new Map<string, Widget>()
  const done = new Set<string>()
  let [deleted, isOver] = [0, false]
  const informer = makeInformer<Widget>(config, `/apis/${group}/v1/namespaces/${namespace}/${plural}`, () =>
    objects.listNamespacedCustomObject({ ...place, version: 'v1' }),
  )
  const take = (object: Widget) => {
    known.set(object.metadata?.name ?? '', object)
    queue.add(object.metadata?.name ?? '')
  }
  informer.on('add', take)
  informer.on('update', take)
  informer.on('delete', ({ metadata }) => {
    known.delete(metadata?.name ?? '')
    deleted += 1
  })
  informer.on('error', (error) => {
    if (!isOver) errors.push(`watch: ${textOf(error)}`)
    if (!isOver) void informer.start().catch(() => {})
  })
  await informer.start()

  const reconcile = async (name: string) => {
    const object = known.get(name)
    if (object === undefined) return
    const { finalizers = [], deletionTimestamp } = object.metadata ?? {}
    const at = { ...place, version: 'v1', name }
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(finalizer))
        await objects.patchNamespacedCustomObject({ ...at, body: { metadata: { finalizers: null } } }, merge)
    } else if (!finalizers.includes(finalizer)) {
      await objects.patchNamespacedCustomObject({ ...at, body: { metadata: { finalizers: [finalizer] } } }, merge)
    } else if (object.status?.observed !== object.spec.size) {
      await objects.patchNamespacedCustomObjectStatus({ ...at, body: { status: { observed: object.spec.size } } }, merge)
    } else done.add(name)
  }
  const work = async () => {
    while (!isOver) {
      const [name] = queue
      if (name === undefined) {
        await sleep(systemClock, 5)
        continue
      }
      queue.delete(name)
      await reconcile(name).catch((error: { code?: number }) => {
        // A deleted object needs no further work. The controller repeats a request if the server asks for it.
        if (error.code === 404) return
        if (error.code !== 409 && error.code !== 503) errors.push(`reconcile: ${textOf(error)}`)
        queue.add(name)
      })
    }
  }
  const working = Array.from({ length: workers }, work)

  const create = async (index: number): Promise<void> => {
    const body = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: `w${index}` }, spec: { size: index } }
    for (;;) {
      const code = await objects.createNamespacedCustomObject({ ...place, version: 'v1', body }).then(
        () => 201,
        (error: { code?: number }) => error.code ?? 0,
      )
      if (code === 201 || code === 409) return
      if (code !== 503) errors.push(`create: ${code}`)
    }
  }
  let next = 0
  const creating = Array.from({ length: workers }, async () => {
    while (next < count) await create(next++)
  })
  for (const [index, change] of changes.entries()) {
    await until(() => done.size >= (count * (index + 1)) / (changes.length + 2))
    await definitions.patchCustomResourceDefinition({ name: `${plural}.${group}`, body: { spec: change } }, merge)
  }
  await Promise.all(creating)
  await until(() => done.size === count)

  const listed = await Promise.all(
    ['v1', 'v2'].map(async (name) => {
      const { items } = (await objects.listNamespacedCustomObject({ ...place, version: name })) as { items: Widget[] }
      const colors = [...new Set(items.map(({ spec }) => spec.color ?? ''))]
      return {
        version: name,
        count: items.length,
        colors,
        observed: items.every(({ spec, status }) => status?.observed === (name === 'v1' ? spec.size : spec.amount)),
      }
    }),
  )
  await definitions.deleteCustomResourceDefinition({ name: `${plural}.${group}` })
  await until(() => deleted === count)
  isOver = true
  await informer.stop()
  await Promise.all(working)
  const codeOfList = () =>
    objects.listNamespacedCustomObject({ ...place, version: 'v2' }).then(
      () => 200,
      ({ code }: { code: number }) => code,
    )
  await until(async () => (await codeOfList()) === 404)
  return {
    /** Errors that ended a watch or a request, except conflicts and deleted objects. */
    errors,
    /** The number of objects that had the right status before the deletion of the definition. */
    reconciled: done.size,
    /** The list at that time in each version: the count, and the sets of colors and statuses. */
    listed,
    /** The number of objects whose deletion the informer saw. */
    deleted,
    /** The status code of a list after the deletion of the definition. */
    after: await codeOfList(),
  }
}

/** Repeats a check; a busy machine makes as many checks as an idle machine. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isTrue()); looks += 1) {
    if (looks === 20_000) throw new Error(`it was not so at any of ${looks} looks: ${isTrue}`)
    await sleep(systemClock, 5)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.message}`.slice(0, 300) : JSON.stringify(error)
}
