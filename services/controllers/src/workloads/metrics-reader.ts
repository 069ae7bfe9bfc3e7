import type { Client } from '@orch/client'
import { parseApiVersion, StatusError } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type LabelSelector, printLabelSelector, toLabelRequirements } from '@orch/core/selectors'
import type { MetricAnswer, MetricSpec, MetricValue, PodMetrics } from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import { noMatchMessage, resourceOfKind, rootOf, versionsOf } from './kind-resources.ts'

/** The Pods that a metric is about. */
export interface MetricScope {
  readonly namespace: string
  /** The selector of the Pods, as text. */
  readonly selector: string
}

interface Items<T> {
  readonly items?: readonly T[] | null
}

/** Readable versions of custom metrics, the preferred one first. */
const customVersions = ['v1beta2', 'v1beta1']

/** Reads the metrics APIs of the server, which are aggregated or served from definitions. */
export class MetricsReader {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #groups: Readonly<Record<'resource' | 'custom' | 'external', string>>

  constructor(client: Client, names: Names, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    this.#groups = {
      resource: domainGroup(names, 'metrics'),
      custom: domainGroup(names, 'custom.metrics'),
      external: domainGroup(names, 'external.metrics'),
    }
  }

  /** The answer for a metric. Does not reject for an error of the server. */
  async read({ pods, object, external }: MetricSpec, scope: MetricScope): Promise<MetricAnswer> {
    if (external != null) return this.#readExternal(external, scope)
    if (pods != null) return this.#attemptRead('custom', () => this.#readCustom(`pods/*/${pods.metric.name}`, pods.metric.selector, scope))
    if (object != null) return this.#attemptRead('custom', () => this.#readObject(object, scope))
    return this.#readResource(scope)
  }

  #readResource({ namespace, selector: labelSelector }: MetricScope): Promise<MetricAnswer> {
    const group = this.#groups.resource
    return this.#attemptRead('resource', async () => {
      const path = `${rootOf({ group, version: 'v1beta1' })}/namespaces/${namespace}/pods`
      return { kind: 'pods', items: await this.#itemsAt<PodMetrics>(path, { labelSelector }, `pods.${group}`) }
    })
  }

  async #readExternal(
    { metric: { name, selector } }: NonNullable<MetricSpec['external']>,
    { namespace }: MetricScope,
  ): Promise<MetricAnswer> {
    const group = this.#groups.external
    const answer = await this.#attemptRead('external', async () => {
      const path = `${rootOf({ group, version: 'v1beta1' })}/namespaces/${namespace}/${encodeURIComponent(name)}`
      return { kind: 'external', items: await this.#itemsAt(path, { labelSelector: textOf(selector) }, `${name}.${group}`) }
    })
    const isEmpty = answer.kind === 'read' && answer.value.items.length === 0
    return isEmpty ? { kind: 'failed', message: 'no metrics returned from external metrics API' } : answer
  }

  async #readObject({ describedObject, metric }: NonNullable<MetricSpec['object']>, scope: MetricScope): Promise<AnswerOf<'custom'>> {
    const { kind, name, apiVersion = '' } = describedObject
    const { group } = parseApiVersion(apiVersion) ?? { group: '' }
    const at = `${encodeURIComponent(name)}/${metric.name}`
    const path = kind === 'Namespace' && group === '' ? `metrics/${metric.name}` : `${await this.#resourceOf({ group, kind })}/${at}`
    const answer = await this.#readCustom(path, metric.selector, { ...scope, selector: '' })
    const { length } = answer.items
    if (length !== 1) throw new Error(`the custom metrics API server returned ${length} results when we asked for exactly one`)
    return answer
  }

  async #resourceOf(wanted: { readonly group: string; readonly kind: string }): Promise<string> {
    const { group, kind } = wanted
    const resource = await resourceOfKind(this.#client, wanted, this.#signal)
    if (resource === undefined)
      throw new Error(`unable to map kind ${group === '' ? kind : `${kind}.${group}`} to resource: ${noMatchMessage(wanted)}`)
    return group === '' ? resource.plural : `${resource.plural}.${group}`
  }

  async #readCustom(path: string, selector: Selector, { namespace, selector: labelSelector }: MetricScope): Promise<AnswerOf<'custom'>> {
    const group = this.#groups.custom
    const served = await versionsOf(this.#client, group, this.#signal)
    if (served.length === 0) throw new Error(`no custom metrics API (${group}) registered`)
    const version = served.find((one) => customVersions.includes(one))
    if (version === undefined) throw new Error('no known available metric versions found')
    const query = { labelSelector, metricLabelSelector: textOf(selector) }
    const resource = `${path.split('/')[0]}.${group}`
    const items = await this.#itemsAt<MetricValue>(`${rootOf({ group, version })}/namespaces/${namespace}/${path}`, query, resource)
    return { kind: 'custom', items }
  }

  async #itemsAt<T>(path: string, query: Readonly<Record<string, string>>, resource: string): Promise<readonly T[]> {
    try {
      const given = Object.fromEntries(Object.entries(query).filter(([, text]) => text !== ''))
      const { items } = await this.#client.request<Items<T>>({ method: 'GET', path, query: given, signal: this.#signal })
      return items ?? []
    } catch (error) {
      throw error instanceof StatusError ? new Error(generic(error, resource)) : error
    }
  }

  async #attemptRead(api: 'resource' | 'custom' | 'external', read: () => Promise<Answer>): Promise<MetricAnswer> {
    try {
      return { kind: 'read', value: await read() }
    } catch (error) {
      if (this.#signal.aborted) throw error
      return { kind: 'failed', message: `unable to fetch metrics from ${api} metrics API: ${messageOf(error)}` }
    }
  }
}

type Answer = Extract<MetricAnswer, { readonly kind: 'read' }>['value']
type AnswerOf<Kind extends Answer['kind']> = Extract<Answer, { readonly kind: Kind }>
type Selector = LabelSelector | null | undefined

function textOf(selector: Selector): string {
  const reading = toLabelRequirements(selector ?? {})
  return reading.kind === 'selector' ? printLabelSelector(reading.requirements) : ''
}

/** Messages of Go clients for answers without a Status. */
const genericTexts: Readonly<Record<number, string>> = {
  404: 'the server could not find the requested resource',
  503: 'the server is currently unable to handle the request',
}

function generic({ code, reason, message }: StatusError, resource: string): string {
  const text = genericTexts[code]
  return text === undefined || reason !== '' ? message : `${text} (get ${resource})`
}
