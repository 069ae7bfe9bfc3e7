import { type Client, type DiscoveredResource, type Manifest, readText, resourcePath, unlessRefused } from '@orch/client'
import { isJsonObject, memberIn } from '@orch/core/json'
import type { ApiObject, Status } from '@orch/core/meta'
import { untilServed } from '../load/store-objects.ts'

/** A server's answer to an object. */
export interface Answer {
  /** Undefined if the server accepted the object. */
  readonly refusal?: Status
  readonly warnings: readonly string[]
}

/** The treatment of unknown fields. */
type FieldValidation = 'Strict' | 'Ignore'

interface PostOptions {
  readonly isDryRun: boolean
  readonly fieldValidation: FieldValidation
}

/** Kinds that are only checked, because their objects would affect later objects or need another server. */
const actingKinds = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration', 'APIService']

/** Kinds in creation order; other kinds come after them. */
const firstKinds = [
  'Namespace',
  'CustomResourceDefinition',
  'ResourceQuota',
  'LimitRange',
  'PriorityClass',
  'ServiceAccount',
  'StorageClass',
]

/** The place of a kind in the order of creation. */
export function turnOf({ kind }: ApiObject): number {
  const turn = firstKinds.indexOf(kind)
  return turn < 0 ? firstKinds.length : turn
}

/** The namespaces that exist from the start. */
const startNamespaces = ['default']

/** Creates objects on a server like a user; returns its answers. */
export class Trial {
  readonly #client: Client
  readonly #discovered = new Map<string, readonly DiscoveredResource[]>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Creates an object in its namespace; creates the namespace if it is absent. */
  async create({ object }: Pick<Manifest, 'object'>, fieldValidation: FieldValidation = 'Strict'): Promise<Answer> {
    const resource = await this.#resourceOf(object)
    if (resource === undefined) return { refusal: notServed(object), warnings: [] }
    const namespace = resource.namespaced ? (object.metadata.namespace ?? 'default') : undefined
    if (namespace !== undefined) await this.#makeNamespace(namespace)
    const isDryRun = actingKinds.includes(object.kind)
    const answer = await this.#post(resourcePath(resource, namespace), object, { isDryRun, fieldValidation })
    if (answer.refusal !== undefined) return answer
    if (object.kind === 'CustomResourceDefinition') await this.#settle(object)
    if (object.kind === 'ResourceQuota') await this.#untilCounted(resource, object, namespace)
    return answer
  }

  /** Like `create`; replaces an object that exists from the start. */
  async put(manifest: Pick<Manifest, 'object'>): Promise<Answer> {
    const answer = await this.create(manifest)
    if (answer.refusal?.reason !== 'AlreadyExists') return answer
    const { apiVersion, kind, metadata } = manifest.object
    const { name = '', namespace } = metadata
    const reference = { apiVersion, kind, name, namespace: namespace ?? 'default' }
    await this.#client.objects.patch(reference, manifest.object, { type: 'apply', force: true, fieldManager: 'orch-validate' })
    return { warnings: answer.warnings }
  }

  /** Checks that pod security, limit ranges and quotas would admit the Pods of an object. Undefined if the object has no Pod template. */
  async createPod({ object }: Pick<Manifest, 'object'>): Promise<Answer | undefined> {
    const template = podTemplate(object)
    if (template === undefined) return undefined
    const namespace = object.metadata.namespace ?? 'default'
    const metadata = {
      ...(isJsonObject(template['metadata']) ? template['metadata'] : {}),
      namespace,
      generateName: `${object.metadata.name}-`,
    }
    const pod = { ...template, spec: withClaims(object, template['spec']), apiVersion: 'v1', kind: 'Pod', metadata }
    return this.#post(resourcePath({ group: '', version: 'v1', plural: 'pods', namespaced: true }, namespace), pod, {
      isDryRun: true,
      fieldValidation: 'Strict',
    })
  }

  async #post(path: string, object: ApiObject, { isDryRun, fieldValidation }: PostOptions): Promise<Answer> {
    const response = await this.#client.transport.send({
      method: 'POST',
      path: `${path}?fieldValidation=${fieldValidation}&fieldManager=orch-validate${isDryRun ? '&dryRun=All' : ''}`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(object),
    })
    const text = await readText(response)
    const warnings = readWarnings(response.headers['warning'])
    if (response.status < 400) return { warnings }
    const refusal: Status = JSON.parse(text)
    return { refusal, warnings }
  }

  async #resourceOf({ apiVersion, kind }: ApiObject): Promise<DiscoveredResource | undefined> {
    const resources = this.#discovered.get(apiVersion) ?? (await this.#discover(apiVersion))
    return resources.find((resource) => resource.kind === kind)
  }

  async #discover(apiVersion: string): Promise<readonly DiscoveredResource[]> {
    const cut = apiVersion.indexOf('/')
    const group = cut < 0 ? '' : apiVersion.slice(0, cut)
    const found = await unlessRefused([404], () => this.#client.discover(group, apiVersion.slice(cut + 1)))
    if (found !== undefined) this.#discovered.set(apiVersion, found)
    return found ?? []
  }

  /** Creates the namespaces that objects use and no file defines, and returns their names. Policies do not evaluate them. */
  async makeNamespaces(objects: readonly ApiObject[], declared: readonly ApiObject[]): Promise<readonly string[]> {
    const made = new Set([...startNamespaces, ...declared.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)])
    const missing = new Set(objects.map(({ metadata }) => metadata.namespace ?? ''))
    const names = [...missing].filter((name) => name !== '' && !made.has(name))
    for (const name of names) await this.#makeNamespace(name)
    return names
  }

  async #makeNamespace(name: string): Promise<void> {
    await this.#post(
      '/api/v1/namespaces',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { isDryRun: false, fieldValidation: 'Strict' },
    )
  }

  async #settle(definition: ApiObject): Promise<void> {
    const { apiVersion, kind, metadata } = definition
    await untilServed(this.#client, await this.#client.objects.get({ apiVersion, kind, name: metadata.name ?? '' }))
    this.#discovered.clear()
  }

  /** A quota has no effect until its controller has counted the existing objects. */
  async #untilCounted(resource: DiscoveredResource, { metadata }: ApiObject, namespace: string | undefined): Promise<void> {
    const quotas = this.#client.resource<ApiObject & { readonly status?: { readonly hard?: object } }>(resource)
    const select = { namespace, fieldSelector: `metadata.name=${metadata.name}` }
    const { items, metadata: list } = await quotas.list(select)
    if (items[0]?.status?.hard !== undefined) return
    const events = await quotas.watch({ ...select, resourceVersion: list.resourceVersion })
    for await (const { object } of events) if (object.status?.hard !== undefined) return
  }
}

function podTemplate({ kind, spec }: ApiObject & { readonly spec?: unknown }): Record<string, unknown> | undefined {
  const job = kind === 'CronJob' ? memberIn(memberIn(spec, 'jobTemplate'), 'spec') : spec
  const template = memberIn(job, 'template')
  return isJsonObject(template) && isJsonObject(template['spec']) && workloadKinds.includes(kind) ? template : undefined
}

/** Adds a volume for each claim template of a StatefulSet, replacing a volume with the same name. */
function withClaims({ kind, metadata, spec }: ApiObject & { readonly spec?: unknown }, podSpec: unknown): unknown {
  const claims = memberIn(spec, 'volumeClaimTemplates')
  if (kind !== 'StatefulSet' || !Array.isArray(claims) || !isJsonObject(podSpec)) return podSpec
  const names = claims.map((claim) => memberIn(memberIn(claim, 'metadata'), 'name'))
  const own: unknown[] = Array.isArray(podSpec['volumes']) ? podSpec['volumes'] : []
  const claimed = names.map((name) => ({ name, persistentVolumeClaim: { claimName: `${name}-${metadata.name}-0` } }))
  return { ...podSpec, volumes: [...own.filter((volume) => !names.includes(memberIn(volume, 'name'))), ...claimed] }
}

const workloadKinds = ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']

function notServed({ apiVersion, kind }: ApiObject): Status {
  const message = `no kind ${kind} in ${apiVersion}: it is not served, and its definition is not among the files or those of --given`
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 404 }
}

/** The texts of `299 - "…"` fields, joined by commas. */
export function readWarnings(header: string | undefined): string[] {
  return [...(header ?? '').matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
