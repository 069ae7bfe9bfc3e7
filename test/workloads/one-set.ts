import type { ApiObject } from '@orch/core/meta'
import type { RunningServer, VirtualClock } from 'orch'

export const labels = { app: 'x' }
export const image = (tag: number) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: `registry.example/app:${tag}` }] },
})
export const resource = (group: string, plural: string) => ({ group, version: 'v1', plural, namespaced: true })

interface Workload extends ApiObject {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] }
  readonly status?: Readonly<Record<string, unknown>>
}

interface Revision extends ApiObject {
  readonly revision: number
  readonly data: { readonly spec: { readonly template: { readonly metadata: object } } }
}

interface Event extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
}

interface SetKind {
  readonly kind: string
  readonly plural: string
  readonly name: string
  /** Members of each set's spec, besides the selector and the template. */
  readonly spec?: object
}

/** A new namespace for one set of Pods, whose controller and kubelet the test plays by moving the clock. */
export async function oneSet(
  namespace: string,
  { client }: RunningServer,
  clock: VirtualClock,
  { kind, plural, name, spec: usual }: SetKind,
) {
  await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const of = (group: string, ofPlural: string) => client.resource<Workload>(resource(group, ofPlural))
  const [pods, sets] = [of('', 'pods'), of('apps', plural)]
  const revisions = client.resource<Revision>(resource('apps', 'controllerrevisions'))
  const create = (apiVersion: string, ofKind: string, metadata: object, rest: object) =>
    client.objects.create({ apiVersion, kind: ofKind, metadata: { ...metadata, namespace }, ...rest } as ApiObject)
  const patchPod = (pod: string, status: object) => pods.patch(pod, { status }, { type: 'merge', subresource: 'status', namespace })
  const namesOf = async (collection: typeof pods) =>
    (await collection.list({ namespace })).items.map(({ metadata }) => metadata.name ?? '').sort()
  return {
    of,
    namesOf,
    create,
    createSet: (spec: object = {}) =>
      create('apps/v1', kind, { name }, { spec: { selector: { matchLabels: labels }, template: image(1), ...usual, ...spec } }),
    settle: (duration: '100ms' | '2s' | '1m' = '2s') => clock.advance(duration),
    patchSet: (spec: object) => sets.patch(name, { spec }, { type: 'merge', namespace }),
    deleteSet: (propagationPolicy: 'Foreground') => sets.delete(name, { namespace }, { propagationPolicy }),
    deletePod: (pod: string) => pods.delete(pod, { namespace }, { gracePeriodSeconds: 0 }),
    bind: (pod: string) =>
      client.request({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods/${pod}/binding`,
        body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod }, target: { kind: 'Node', name: 'n' } },
      }),
    end: (pod: string, phase: 'Failed' | 'Succeeded') => patchPod(pod, { phase }),
    makeReady: (pod: string) =>
      patchPod(pod, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(clock.now()).toISOString() }],
      }),
    pods: async () => (await pods.list({ namespace })).items,
    podNames: () => namesOf(pods),
    revisions: async () => (await revisions.list({ namespace })).items,
    status: async () => (await sets.get(name, { namespace })).status,
    setNames: () => namesOf(sets),
    events: async () =>
      (await client.resource<Event>(resource('', 'events')).list({ namespace })).items
        .filter(({ metadata }) => metadata.name?.startsWith(`${name}.`) === true)
        .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
        .sort(),
  }
}
