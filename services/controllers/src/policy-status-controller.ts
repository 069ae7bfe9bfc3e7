import { setImmediate } from 'node:timers/promises'
import type { Informer, ResourceAddress } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type CheckedKind, checkPolicyTypes, type ExpressionWarning, kindsToCheck, type ValidatingPolicySpec } from '@orch/core/policies'
import { createWorkqueue } from '@orch/platform'
import type { Controller, ControllerContext } from './controller.ts'
import { startCollectionInformer } from './informers/collection-informer.ts'
import { PublishedSchemas } from './published-schemas.ts'
import { unlessRefused } from './unless-refused.ts'

interface Policy extends ApiObject {
  readonly spec?: ValidatingPolicySpec
  readonly status?: PolicyStatus
}

interface PolicyStatus {
  readonly observedGeneration?: number
  readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] }
}

const fieldManager = 'validatingadmissionpolicy-status'
/** A policy about a definition that has changed is checked at once, and again after these pauses: the gateway that publishes the schema may not have it yet. */
const publishedMs = [1_000, 10_000]

/** Checks the types of the expressions of ValidatingAdmissionPolicies, once for each generation and when a definition that they name changes, and writes the findings into their status. */
export const policyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status',
  async run(context) {
    const { names, queues, clock, random, log, signal } = context
    const schemas = new PublishedSchemas(context)
    /** Policies about definitions that have changed, with the pauses after which they are checked again. */
    const pauses = new Map<string, readonly number[]>()
    const queue = createWorkqueue({
      name: 'validatingadmissionpolicy-status',
      metrics: queues,
      work: async (name) => {
        const policy = policies.get(name)
        if (policy === undefined || policy.metadata.deletionTimestamp != null) return
        const due = pauses.get(name)
        if (due === undefined && isObserved(policy)) return
        if (due !== undefined) schemas.forget()
        await checkPolicy(context, policy, schemas)
        // A definition that has changed meanwhile has set other pauses.
        if (due === undefined || pauses.get(name) !== due) return
        const [pause, ...rest] = due
        if (pause === undefined) pauses.delete(name)
        else {
          pauses.set(name, rest)
          queue.addAfter(name, pause)
        }
      },
      onError: (policy, error) => log.debug({ policy, err: error }, 'the types of a policy could not be checked yet'),
      clock,
      random,
      signal,
      workersMax: 1,
    })
    const follow = () =>
      startCollectionInformer(context, {
        resource: { group: domainGroup(names, 'apiextensions'), version: 'v1', plural: 'customresourcedefinitions', namespaced: false },
        isMetadataOnly: true,
        onEvent: ({ object }) => {
          for (const policy of policies.values()) {
            if (!isAbout(policy, object.metadata.name ?? '')) continue
            pauses.set(policy.metadata.name ?? '', publishedMs)
            queue.add(policy.metadata.name ?? '')
          }
        },
      })
    let definitions: Informer<ApiObject> | undefined
    const policies = startCollectionInformer<Policy>(context, {
      resource: addressOf(names),
      onEvent: ({ kind, object }) => {
        if (kind === 'deleted') return
        // Servers without policies have nothing to look for among definitions.
        definitions ??= follow()
        queue.add(object.metadata.name ?? '')
      },
    })
    await policies.done
    await definitions?.done
    await queue.close()
  },
}

function addressOf(names: Names): ResourceAddress {
  return { group: domainGroup(names, 'admissionregistration'), version: 'v1', plural: 'validatingadmissionpolicies', namespaced: false }
}

function isObserved({ metadata: { generation = 0 }, status }: Policy): boolean {
  return generation <= (status?.observedGeneration ?? 0)
}

/** Whether the kind of a definition, `oaks.trees.io`, may be one that a policy sees. */
function isAbout({ spec }: Policy, definition: string): boolean {
  const group = definition.slice(definition.indexOf('.') + 1)
  if (parseApiVersion(spec?.paramKind?.apiVersion ?? '')?.group === group) return true
  return (spec?.matchConstraints?.resourceRules ?? []).some(
    ({ apiGroups = [], resources = [] }) =>
      apiGroups.includes(group) && resources.some((resource) => `${resource}.${group}` === definition),
  )
}

async function checkPolicy(context: ControllerContext, policy: Policy, schemas: PublishedSchemas): Promise<void> {
  const { apiVersion, kind, metadata, spec = {}, status } = policy
  const warnings = await findWarnings(spec, schemas)
  const checked: PolicyStatus = {
    observedGeneration: metadata.generation ?? 0,
    typeChecking: warnings.length === 0 ? {} : { expressionWarnings: warnings },
  }
  if (jsonEqual(status, checked)) return
  const { name = '', uid } = metadata
  const collection = context.client.resource<Policy>(addressOf(context.names))
  const options = { type: 'apply', subresource: 'status', fieldManager, force: true, signal: context.signal } as const
  // A policy that has gone, or another one of its name, is another piece of work.
  await unlessRefused(['NotFound', 'Conflict'], () =>
    collection.patch(name, { apiVersion, kind, metadata: { name, uid }, status: checked }, options),
  )
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
