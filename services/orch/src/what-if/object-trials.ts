import { type Client, type DiscoveredResource, type Manifest, readText, resourcePath, withoutServerState } from '@orch/client'
import type { ApiObject, Status } from '@orch/core/meta'
import { nameOf } from '../load/dumped-object.ts'
import { isDefinition } from '../load/store-objects.ts'
import { isOfPolicy, type KnownPolicies, policyKinds, specOf } from '../validate/policies.ts'
import { type Answer, readWarnings } from '../validate/trial.ts'
import { itemsOf, type ObjectFinding, type Unchecked } from './findings.ts'

/** Two servers with the same objects, one of which also has the changed files. */
export interface TwoServers {
  readonly before: Client
  readonly after: Client
}

/** The requests that are tried on one resource. */
interface Tried {
  readonly resource: DiscoveredResource
  readonly operations: readonly Operation[]
}

const operations = ['create', 'update', 'delete'] as const
type Operation = (typeof operations)[number]

/** Requests in progress at a time. */
const atOnce = 8

/** Sends dry runs for all stored objects that the files concern. A finding is an answer that differs from the server without the files. */
export class ObjectTrials {
  readonly #servers: TwoServers
  readonly #policies: KnownPolicies
  readonly #isStored: (object: ObjectName) => boolean
  readonly findings: ObjectFinding[] = []
  readonly #unchecked = new Map<string, Unchecked>()
  tried = 0

  constructor(servers: TwoServers, policies: KnownPolicies, isStored: (object: ObjectName) => boolean) {
    this.#servers = servers
    this.#policies = policies
    this.#isStored = isStored
  }

  get unchecked(): readonly Unchecked[] {
    return [...this.#unchecked.values()]
  }

  async run(manifests: readonly Manifest[]): Promise<void> {
    const { resources } = await this.#servers.before.discoverAll()
    const served = new Set((await this.#servers.after.discoverVersions()).resources.map(addressText))
    for (const resource of resources) {
      const wanted = operationsOn(resource, manifests)
      if (wanted.length === 0 || !resource.verbs.includes('list')) continue
      const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
      const items = (await itemsOf(this.#servers.before, resource))
        .map((item): ApiObject => ({ ...item, apiVersion, kind: resource.kind }))
        .filter((object) => this.#isStored(namesOf(object)))
      this.tried += items.length
      const isServed = served.has(addressText(resource))
      for (let at = 0; at < items.length; at += atOnce) {
        const some = items.slice(at, at + atOnce)
        const found = await Promise.all(
          some.map((object) => (isServed ? this.#tryOne({ resource, operations: wanted }, object) : [notServed(object)])),
        )
        this.findings.push(...found.flat())
      }
    }
  }

  async #tryOne({ resource, operations }: Tried, object: ApiObject): Promise<ObjectFinding[]> {
    const found = new Map<string, ObjectFinding>()
    const add = (operation: Operation, verdict: ObjectFinding['verdict'], message: string) => {
      const key = `${verdict} ${message}`
      const known = found.get(key)?.operations ?? []
      found.set(key, { object: objectName(object), operations: [...known, operation], verdict, message })
    }
    for (const operation of operations) {
      const after = await tryOn(this.#servers.after, { resource, operation, object })
      const warnings = after.warnings.filter((text) => isOfPolicy(text) || text.startsWith('unknown field '))
      if (after.refusal === undefined && warnings.length === 0) continue
      const before = await tryOn(this.#servers.before, { resource, operation, object })
      for (const message of warnings.filter((text) => !before.warnings.includes(text)))
        add(operation, this.#policies.severityOf(message) === 'audit' ? 'audited' : 'warned', message)
      if (after.refusal === undefined) continue
      if (before.refusal === undefined) add(operation, 'refused', after.refusal.message ?? '')
      else this.#countUnchecked(object.kind, operation, before.refusal.message ?? '')
    }
    return [...found.values()]
  }

  #countUnchecked(kind: string, operation: Operation, message: string): void {
    const key = `${operation} ${kind}`
    const known = this.#unchecked.get(key)
    this.#unchecked.set(key, { kind, operation, message: known?.message ?? message, count: (known?.count ?? 0) + 1 })
  }
}

type ObjectName = Parameters<typeof nameOf>[0]

function namesOf({ apiVersion, kind, metadata: { namespace, name = '' } }: ApiObject): ObjectName {
  return { apiVersion, kind, namespace, name }
}

function objectName(object: ApiObject): string {
  return nameOf(namesOf(object))
}

function addressText({ group, version, plural }: DiscoveredResource): string {
  return `${group}/${version}/${plural}`
}

function notServed(object: ApiObject): ObjectFinding {
  const message = `${object.apiVersion} would no longer be served`
  return { object: objectName(object), operations: [], verdict: 'refused', message }
}

/** The requests that definitions and policies of the files concern. */
function operationsOn(resource: DiscoveredResource, manifests: readonly Manifest[]): Operation[] {
  const wanted = new Set<string>()
  for (const { object } of manifests) {
    if (isDefinition(object) && object.metadata.name === `${resource.plural}.${resource.group}`) wanted.add('create')
    if (!policyKinds.includes(object.kind)) continue
    for (const { apiGroups = [], resources = [], operations = [] } of specOf(object).matchConstraints?.resourceRules ?? []) {
      const matches =
        (apiGroups.includes('*') || apiGroups.includes(resource.group)) &&
        ['*', '*/*', resource.plural].some((word) => resources.includes(word))
      if (matches) for (const operation of operations) wanted.add(operation.toLowerCase())
    }
  }
  return operations.filter((operation) => wanted.has('*') || wanted.has(operation))
}

/** One dry run. */
interface Try {
  readonly resource: DiscoveredResource
  readonly operation: Operation
  readonly object: ApiObject
}

const methods = { create: 'POST', update: 'PUT', delete: 'DELETE' }

async function tryOn(client: Client, { resource, operation, object }: Try): Promise<Answer> {
  const { namespace, name = '' } = object.metadata
  const collection = resourcePath(resource, resource.namespaced ? namespace : undefined)
  const body = operation === 'delete' ? undefined : JSON.stringify(operation === 'create' ? withoutServerState(object).object : object)
  const response = await client.transport.send({
    method: methods[operation],
    path: `${collection}${operation === 'create' ? '' : `/${encodeURIComponent(name)}`}?dryRun=All&fieldValidation=Warn`,
    headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
  })
  const text = await readText(response)
  const warnings = readWarnings(response.headers['warning'])
  if (response.status < 400) return { warnings }
  const refusal: Status = JSON.parse(text)
  // The object is stored, so it has passed all previous checks when the last one runs.
  return refusal.reason === 'AlreadyExists' ? { warnings } : { refusal, warnings }
}
