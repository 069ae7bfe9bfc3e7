import { type Client, isRefusal, unlessRefused } from '@orch/client'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import type { ContainerSample, Measurements } from '@orch/nodes'
import type { Clock } from '@orch/platform'
import { untilServed } from '../load/until-served.ts'

/** Amounts by resource, such as `{ cpu: '80m', memory: '20Mi' }`. */
type ResourceUsage = Readonly<Record<string, string>>

/** The usage of a Pod, or of each container by name. */
export type Usage = ResourceUsage | Readonly<Record<string, ResourceUsage>>

type Pod = BuiltIn<'core/v1.Pod'>

interface Parts {
  readonly client: Client
  readonly names: Names
  readonly clock: Clock
  /** Undefined if the server measures no usage itself. */
  readonly measurements: Measurements | undefined
}

const version = 'v1beta1'

/** Stores a sample. Rejects if the Pod does not exist. */
export async function setPodMetrics(pod: string, usage: Usage, parts: Parts): Promise<void> {
  const { client, names, clock, measurements } = parts
  const [namespace = '', name = '', ...rest] = pod.split('/')
  if (name === '' || rest.length > 0) throw new Error(`metrics of ${JSON.stringify(pod)}: expected NAMESPACE/POD`)
  const { metadata, spec } = await client.objects.get<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace, name })
  const { uid = '', labels } = metadata
  const containers = containersOf(spec.containers ?? [], usage)
  if (measurements !== undefined) {
    if (!spec.nodeName) throw new Error(`metrics of ${JSON.stringify(pod)}: the Pod is on no node`)
    return measurements.set(uid, containers)
  }
  const group = domainGroup(names, 'metrics')
  const sample = {
    apiVersion: `${group}/${version}`,
    kind: 'PodMetrics',
    metadata: { name, namespace, labels, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] },
    timestamp: printTime(toInstant(clock.now())),
    window: '0s',
    containers,
  }
  const apply = () =>
    client
      .resource({ group, version, plural: 'pods', namespaced: true })
      .patch(name, sample, { type: 'apply', fieldManager: 'metrics', force: true, namespace })
  try {
    await apply()
  } catch (error) {
    if (!isRefusal(error, [404])) throw error
    const object = definition(group, names)
    // Two first samples may be set concurrently.
    await untilServed(client, (await unlessRefused(['AlreadyExists'], () => client.objects.create(object))) ?? object)
    await apply()
  }
}

function containersOf(containers: NonNullable<Pod['spec']['containers']>, usage: Usage): ContainerSample[] {
  if (isByContainer(usage)) return containers.flatMap(({ name }) => (usage[name] === undefined ? [] : [{ name, usage: usage[name] }]))
  const nothing = Object.fromEntries(Object.keys(usage).map((resource) => [resource, '0']))
  return containers.map(({ name }, index) => ({ name, usage: index === 0 ? usage : nothing }))
}

function isByContainer(usage: Usage): usage is Readonly<Record<string, ResourceUsage>> {
  return Object.values(usage).some((value) => typeof value === 'object')
}

function definition(group: string, names: Names): ApiObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: `${domainGroup(names, 'apiextensions')}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `pods.${group}`, annotations: { [`api-approved.${names.labelDomain}`]: 'unapproved, for tests' } },
    ...{
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'pods', singular: 'podmetrics', kind: 'PodMetrics', listKind: 'PodMetricsList' },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    },
  }
}
