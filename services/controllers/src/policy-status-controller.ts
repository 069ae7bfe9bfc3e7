import { setImmediate } from 'node:timers/promises'
import { type Client, type DiscoveredResource, type InformerEvent, type ResourceClient, unlessGone, unlessRefused } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  type CheckedKind,
  checkPolicyTypes,
  type ExpressionWarning,
  type KindName,
  type KindSchema,
  kindsToCheck,
  type OpenApiSchema,
  type ValidatingPolicySpec,
} from '@orch/core/policies'
import type { BuiltIn } from '@orch/core/schema'
import { sleep } from '@orch/platform'
import { type Caches, type ControllerContext, done, mapped, own, reconciler, requeueAfter } from './reconciler/index.ts'

type Policy = BuiltIn<'admissionregistration/v1.ValidatingAdmissionPolicy'>

const fieldManager = 'validatingadmissionpolicy-status'
/** A policy about a changed definition is checked at once, and again after these delays, as the gateway that publishes the schema may not have it yet. */
const publishedMs = [1_000, 10_000]

/** Checks the types of the expressions of ValidatingAdmissionPolicies, once for each generation and when a definition that they name changes, and writes the findings into their status. */
export const policyStatusController = reconciler<Policy>('validatingadmissionpolicy-status', (context) => {
  const { names } = context
  const schemas = new PublishedSchemas(context)
  /** Policies about changed definitions, with the delays of further checks. */
  const pauses = new Map<string, readonly number[]>()
  const policies = own<Policy>(`${domainGroup(names, 'admissionregistration')}/v1`, 'validatingadmissionpolicies')
  const toPolicies = ({ object }: InformerEvent<ApiObject>, caches: Caches) => {
    const about = [...caches.read(policies).values()].filter((policy) => isAbout(policy, object.metadata.name ?? ''))
    const found = about.map(({ metadata }) => metadata.name ?? '')
    for (const name of found) pauses.set(name, publishedMs)
    return found
  }
  // Servers without policies need not watch definitions.
  const options = { isMetadataOnly: true, isLazy: true }
  const definitions = mapped(`${domainGroup(names, 'apiextensions')}/v1`, 'customresourcedefinitions', toPolicies, options)
  return {
    watches: [policies, definitions],
    workersMax: 1,
    reconcile: async ({ key, object: policy, world }) => {
      if (policy.metadata.deletionTimestamp != null) return done
      const due = pauses.get(key)
      if (due === undefined && isObserved(policy)) return done
      if (due !== undefined) schemas.forget()
      await checkPolicy(policy, { schemas, collection: world.collection(policies), signal: context.signal })
      // A definition that has changed meanwhile has set other delays.
      if (due === undefined || pauses.get(key) !== due) return done
      const [pause, ...rest] = due
      if (pause === undefined) {
        pauses.delete(key)
        return done
      }
      pauses.set(key, rest)
      return requeueAfter(pause)
    },
    absent: async ({ key }) => {
      pauses.delete(key)
      return done
    },
  }
})

function isObserved({ metadata: { generation = 0 }, status }: Policy): boolean {
  return generation <= (status?.observedGeneration ?? 0)
}

/** True if the policy may match the kind of a definition, `oaks.trees.io`. */
function isAbout({ spec }: Policy, definition: string): boolean {
  const group = definition.slice(definition.indexOf('.') + 1)
  if (parseApiVersion(spec?.paramKind?.apiVersion ?? '')?.group === group) return true
  return (spec?.matchConstraints?.resourceRules ?? []).some(
    ({ apiGroups = [], resources = [] }) =>
      apiGroups.includes(group) && resources.some((resource) => `${resource}.${group}` === definition),
  )
}

interface PolicyCheck {
  readonly schemas: PublishedSchemas
  readonly collection: ResourceClient<Policy>
  readonly signal: AbortSignal
}

async function checkPolicy(policy: Policy, { schemas, collection, signal }: PolicyCheck): Promise<void> {
  const { apiVersion, kind, metadata, spec = {}, status } = policy
  const warnings = await findWarnings(spec, schemas)
  const checked: Policy['status'] = {
    observedGeneration: metadata.generation ?? 0,
    typeChecking: warnings.length === 0 ? {} : { expressionWarnings: warnings },
  }
  if (jsonEqual(status, checked)) return
  const { name = '', uid } = metadata
  const options = { type: 'apply', subresource: 'status', fieldManager, force: true, signal } as const
  await unlessGone(() => collection.patch(name, { apiVersion, kind, metadata: { name, uid }, status: checked }, options))
}

async function findWarnings(spec: ValidatingPolicySpec, schemas: PublishedSchemas): Promise<readonly ExpressionWarning[]> {
  const kinds: CheckedKind[] = []
  for (const name of await kindsToCheck(spec, (resource) => schemas.kindOf(resource))) {
    const found = await schemas.schemaOf(name)
    if (found !== undefined) kinds.push({ ...found, name })
  }
  const { apiVersion = '', kind = '' } = spec.paramKind ?? {}
  const version = parseApiVersion(apiVersion)
  const params = version === undefined || kind === '' ? undefined : await schemas.schemaOf({ ...version, kind })
  const steps = checkPolicyTypes(spec, { kinds, params })
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await setImmediate()
  }
}

/** Lifetime of cached documents, as policies that arrive together often share kinds. */
const keptMs = 10_000

const references = '#/components/schemas/'

interface PublishedSchema extends OpenApiSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly KindName[]
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, PublishedSchema>> }
}

/** The served kinds and their schemas, as discovery and OpenAPI publish them. */
class PublishedSchemas {
  readonly #client: Client
  readonly #context: Pick<ControllerContext, 'clock' | 'signal'>
  readonly #resources = new Map<string, Promise<readonly DiscoveredResource[]>>()
  readonly #documents = new Map<string, Promise<OpenApiDocument>>()
  #isForgetting = false

  constructor({ client, clock, signal }: Pick<ControllerContext, 'client' | 'clock' | 'signal'>) {
    this.#client = client
    this.#context = { clock, signal }
  }

  /** The kind of a resource; undefined if it is unknown, or its server is unreachable. */
  async kindOf({ group, version, resource }: Omit<KindName, 'kind'> & { readonly resource: string }): Promise<string | undefined> {
    const found = await this.#keptOnce(
      this.#resources,
      `${group}/${version}`,
      async () => (await unlessUnserved(() => this.#client.discover(group, version))) ?? [],
    )
    return found.find(({ plural }) => plural === resource)?.kind
  }

  /** The schema of a kind; undefined if unpublished. */
  async schemaOf({ group, version, kind }: KindName): Promise<KindSchema | undefined> {
    const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`
    const load = async () => (await unlessUnserved(() => this.#client.request<OpenApiDocument>({ method: 'GET', path }))) ?? {}
    const { components: { schemas = {} } = {} } = await this.#keptOnce(this.#documents, path, load)
    const isIt = (name: KindName) => name.group === group && name.version === version && name.kind === kind
    const schema = Object.values(schemas).find((one) => one['x-kubernetes-group-version-kind']?.some(isIt))
    return schema && { schema, find: (reference) => schemas[reference.replace(references, '')] }
  }

  /** Drops all cached documents. */
  forget(): void {
    this.#resources.clear()
    this.#documents.clear()
  }

  #keptOnce<T>(kept: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    if (known !== undefined) return known
    const loading = load()
    kept.set(key, loading)
    loading.catch(() => kept.delete(key))
    void this.#forgetLater()
    return loading
  }

  async #forgetLater(): Promise<void> {
    if (this.#isForgetting) return
    this.#isForgetting = true
    const { clock, signal } = this.#context
    await sleep(clock, keptMs, signal, { background: true })
    this.#isForgetting = false
    this.forget()
  }
}

/** The response; undefined if no reachable server serves the path. An unserved path has no reason. */
function unlessUnserved<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessRefused([404, 503], request)
}
