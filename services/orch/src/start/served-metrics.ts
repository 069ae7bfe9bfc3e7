import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Client, isRefusal, type ObjectName, unlessRefused } from '@orch/client'
import { type ApiObject, notFound, parseQuantity, printTime, StatusError, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { matchesLabels, parseLabelSelector } from '@orch/core/selectors'
import type { ContainerSample, Measurements } from '@orch/nodes'
import type { Clock } from '@orch/platform'
import { untilServed } from '../load/store-objects.ts'
import type { ObjectMatcher } from './eventually.ts'
import { type OpenEndpoint, serveHttps } from './webhook-endpoint.ts'

/** Quantities by the name of their metric. */
export type MetricValues = Readonly<Record<string, string | number>>

/** Labels of values. The selector of an autoscaler's metric matches them. */
export type MetricLabels = Readonly<Record<string, string>>

/** The object that values describe. External metrics have only a namespace. */
interface Measured {
  /** `pods`, `deployments.apps`; '' for external metrics. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

interface Sample extends Measured {
  readonly metric: string
  readonly labels: MetricLabels
  readonly value: string
  readonly timestamp: string
}

export interface AutoscalerMetricsParts {
  readonly client: Client
  readonly names: Names
  readonly clock: Clock
  /** Resolves when the object matches. */
  eventually(reference: ObjectName, matcher: ObjectMatcher<ApiService>): Promise<unknown>
  /** Keeps the endpoint, to close it with the server. */
  readonly keep: (endpoint: OpenEndpoint) => void
}

interface ObjectList {
  readonly apiVersion: string
  readonly kind: string
  readonly items: readonly ApiObject[]
}

interface ApiService extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly status: string }[] }
}

const versions = { custom: 'v1beta2', external: 'v1beta1' } as const
type Api = keyof typeof versions

/**
 * The values that a test sets for custom.metrics.k8s.io and external.metrics.k8s.io (NODE-MET-08). The first value of each
 * group creates an APIService whose server is in this process; a reset removes the values and the APIServices.
 */
export class AutoscalerMetrics {
  readonly #parts: AutoscalerMetricsParts
  readonly #samples = new Map<string, Sample>()
  #endpoint: Promise<OpenEndpoint> | undefined

  constructor(parts: AutoscalerMetricsParts) {
    this.#parts = parts
  }

  /** Drops all values. */
  clear(): void {
    this.#samples.clear()
  }

  /** Stores values. Resolves when they are served. */
  async set(measured: Measured, values: MetricValues, labels: MetricLabels = {}): Promise<void> {
    const timestamp = printTime(toInstant(this.#parts.clock.now()))
    const samples = Object.entries(values).map(([metric, given]): Sample => {
      const value = String(given)
      if (parseQuantity(value) === undefined) throw new Error(`metric ${metric}: ${JSON.stringify(given)} is no quantity such as 7 or 500m`)
      return { ...measured, metric, labels, value, timestamp }
    })
    for (const sample of samples) this.#samples.set(JSON.stringify([measured, sample.metric, Object.entries(labels).sort()]), sample)
    await this.#register(measured.resource === '' ? 'external' : 'custom')
  }

  async #register(api: Api): Promise<void> {
    const { client, names, eventually } = this.#parts
    const { systemNamespace: namespace } = names
    const name = 'metrics-of-tests'
    this.#endpoint ??= this.#serve(`${name}.${namespace}.svc`)
    const { host: externalName, port, certificateAuthority } = await this.#endpoint
    const [group, version] = [domainGroup(names, `${api}.metrics`), versions[api]]
    const apply = async ({ apiVersion, kind, ...metadata }: ObjectName, spec: object) =>
      client.objects.patch(
        { apiVersion, kind, ...metadata },
        { apiVersion, kind, metadata, spec },
        { type: 'apply', force: true, fieldManager: 'metrics' },
      )
    await apply({ apiVersion: 'v1', kind: 'Service', name, namespace }, { type: 'ExternalName', externalName })
    const caBundle = Buffer.from(certificateAuthority).toString('base64')
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 }
    const registration = { apiVersion: `${domainGroup(names, 'apiregistration')}/v1`, kind: 'APIService', name: `${version}.${group}` }
    await apply(registration, { group, version, ...priorities, service: { namespace, name, port }, caBundle })
    await eventually(registration, (api) => api?.status?.conditions?.some(({ status }) => status === 'True'))
  }

  async #serve(host: string): Promise<OpenEndpoint> {
    const endpoint = await serveHttps([host], (request, response) => this.#answer(request, response))
    this.#parts.keep(endpoint)
    return endpoint
  }

  async #answer({ url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'https://localhost')
    const [, , group = '', version = '', ...path] = pathname.split('/').map(decodeURIComponent)
    const api = group === domainGroup(this.#parts.names, 'external.metrics') ? 'external' : 'custom'
    const apiVersion = `${group}/${version}`
    try {
      respond(
        response,
        200,
        path.length === 0 ? this.#resources(api, apiVersion) : await this.#list(api, { apiVersion, path, query: searchParams }),
      )
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      respond(response, error.code, error.status)
    }
  }

  /** The discovery document: a resource for each metric. */
  #resources(api: Api, groupVersion: string): object {
    const kind = api === 'custom' ? 'MetricValueList' : 'ExternalMetricValueList'
    const own = [...this.#samples.values()].filter(({ resource }) => (resource === '') === (api === 'external'))
    const places = new Map(
      own.map(({ resource, metric, namespace }) => [resource === '' ? metric : `${resource}/${metric}`, namespace !== '']),
    )
    const resources = [...places].map(([name, namespaced]) => ({ name, singularName: '', namespaced, kind, verbs: ['get'] }))
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
  }

  async #list(
    api: Api,
    asked: { readonly apiVersion: string; readonly path: readonly string[]; readonly query: URLSearchParams },
  ): Promise<object> {
    const { apiVersion, path, query } = asked
    const [namespace = '', ...rest] = path[0] === 'namespaces' ? path.slice(1) : ['', ...path]
    if (api === 'external') {
      const items = this.#find({ resource: '', namespace, metric: rest[0] ?? '' }, query.get('labelSelector'))
      const values = items.map(({ metric: metricName, labels: metricLabels, timestamp, value }) => ({
        metricName,
        metricLabels,
        timestamp,
        value,
      }))
      return { kind: 'ExternalMetricValueList', apiVersion, metadata: {}, items: values }
    }
    // A metric of a namespace itself has no resource in its path.
    const [resource = '', name = '', metric = ''] = rest.length === 2 ? ['namespaces', namespace, rest[1]] : rest
    const place = resource === 'namespaces' ? '' : namespace
    const samples = this.#find({ resource, namespace: place, metric }, query.get('metricLabelSelector'))
    const objects = samples.length === 0 ? undefined : await this.#objects({ resource, namespace: place, name }, query.get('labelSelector'))
    const items = (objects?.items ?? []).flatMap(({ metadata }) => {
      const { name: own, namespace: ofObject } = metadata
      const describedObject = { kind: objects?.kind, namespace: ofObject, name: own, apiVersion: objects?.apiVersion }
      const found = samples.filter((sample) => sample.name === own)
      return found.map(({ timestamp, value }) => ({ describedObject, metric: { name: metric, selector: null }, timestamp, value }))
    })
    if (items.length > 0) return { kind: 'MetricValueList', apiVersion, metadata: {}, items }
    const what = name === '*' ? resource : `${resource} ${name}`
    throw new StatusError({
      ...notFound({ group: '', resource }, name).status,
      message: `the server could not find the metric ${metric} for ${what}`,
    })
  }

  #find({ resource, namespace, metric }: Pick<Sample, 'resource' | 'namespace' | 'metric'>, selector: string | null): Sample[] {
    const reading = parseLabelSelector(selector ?? '')
    const requirements = reading.kind === 'selector' ? reading.requirements : []
    return [...this.#samples.values()].filter(
      (sample) =>
        sample.resource === resource &&
        sample.namespace === namespace &&
        sample.metric === metric &&
        matchesLabels(requirements, sample.labels),
    )
  }

  /** The object of this name; for `*` all objects that match the selector. */
  async #objects({ resource, namespace, name }: Measured, labelSelector: string | null): Promise<ObjectList> {
    const { client } = this.#parts
    const [plural = '', ...domain] = resource.split('.')
    const group = domain.join('.')
    const root = group === '' ? '/api/v1' : await rootOf(client, group)
    const path = `${root}/${namespace === '' ? '' : `namespaces/${namespace}/`}${plural}`
    const fieldSelector = name === '*' ? undefined : `metadata.name=${name}`
    const query = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) }
    const list = await client.request<ObjectList>({ method: 'GET', path, query })
    return { ...list, kind: list.kind.replace(/List$/, '') }
  }
}

async function rootOf(client: Client, group: string): Promise<string> {
  const { preferredVersion } = await client.request<{ readonly preferredVersion: { readonly groupVersion: string } }>({
    method: 'GET',
    path: `/apis/${group}`,
  })
  return `/apis/${preferredVersion.groupVersion}`
}

function respond(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

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
