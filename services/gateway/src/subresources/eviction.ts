import type { Subresource } from '@orch/core/catalogue'
import { isJsonObject, parseBytes } from '@orch/core/json'
import { type ApiObject, badRequest, conflict, failed, notFound, printTime, StatusError, toInstant, withCondition } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { type GatewayRequest, readBody } from '../request/index.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'
import { type DeleteParts, deleteObject } from '../verbs/delete.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { admitBody } from '../write/admit-body.ts'
import { readCandidate, reportProblems } from '../write/candidate.ts'
import { type DeleteOptions, toDeleteOptions } from '../write/delete-options.ts'
import type { Intent } from '../write/draft.ts'
import { type Live, readPresent } from '../write/live.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { write } from '../write/write.ts'
import { type Budget, type BudgetParts, budgetsOf, notYetObserved, takeDisruption } from './disruption-budget.ts'
import { requireNameInBody } from './name-in-body.ts'
import { respondCreated } from './respond-kind.ts'

/** The dependencies of an eviction. */
export type EvictionParts = BudgetParts & DeleteParts & OptionsParts

type Pod = BuiltIn<'core/v1.Pod'>

interface Eviction {
  readonly request: GatewayRequest
  readonly target: Target
  readonly options: DeleteOptions
  readonly parts: EvictionParts
}

/** Maximum number of attempts with a Pod that changes meanwhile. */
const attemptsMax = 20

/** Deletes a pod, unless a disruption budget forbids it. */
export const evictPod: SubresourceVerb<EvictionParts> = async (request, target, parts) => {
  const options = await readOptions(request, target, parts)
  await evict({ request, target, options, parts })
  await respondCreated(request, parts)
}

async function evict(eviction: Eviction): Promise<void> {
  let pod = await readPod(eviction)
  for (let attempt = 1; mayAlwaysGo(pod); attempt++) {
    try {
      // A pending Pod may start to run, and count, until it is deleted.
      return await remove(eviction, pod, !hasEnded(pod))
    } catch (error) {
      if (!isOfOwnVersion(error, eviction) || attempt === attemptsMax) throw error
      const now = await readPod(eviction)
      if (now.metadata.resourceVersion === pod.metadata.resourceVersion) throw error
      pod = now
    }
  }
  await removeWithinBudget(eviction, pod)
}

async function removeWithinBudget(eviction: Eviction, pod: Pod): Promise<void> {
  const { request, target, options, parts } = eviction
  const budget = await onlyBudget(request, target, pod, parts)
  if (budget === undefined || !isUnreadyBesideEnough(pod, budget)) {
    if (budget !== undefined) await takeDisruption(request, budget, { pod: target.info.name, isDryRun: options.isDryRun }, parts)
    return remove(eviction, pod, false)
  }
  try {
    await remove(eviction, pod, true)
  } catch (error) {
    // It may be ready by now.
    throw isOfOwnVersion(error, eviction) ? notYetObserved(budget.target.info.name) : error
  }
}

async function readPod({ request, target, parts }: Eviction): Promise<Pod> {
  return requireType('core/v1.Pod', await readPresent(request, target, parts))
}

/** Deletes the Pod; with `isAsRead` only if it has not changed since it was read. */
async function remove(eviction: Eviction, pod: Pod, isAsRead: boolean): Promise<void> {
  const { request, target, options, parts } = eviction
  const { uid, resourceVersion } = pod.metadata
  const preconditions = { ...(uid === undefined ? {} : { uid }), ...(isAsRead ? { resourceVersion } : {}), ...options.preconditions }
  const marked = await mark(eviction, preconditions)
  const pods = { ...target, subresource: undefined }
  const name = target.info.name
  await deleteObject({ request, target: pods, name, options: { ...options, preconditions: marked }, isAdmitted: true }, parts)
}

/** Adds a condition to the Pod, from 1.26 on, with the reason. Returns the preconditions of the result. */
async function mark({ request, target, options, parts }: Eviction, preconditions: Preconditions): Promise<Preconditions> {
  if (options.isDryRun || !parts.isGateOn('PodDisruptionConditions')) return preconditions
  const info = { ...target.info, verb: 'update', subresource: 'status' } as const
  const pods = { ...target, info, subresource: target.served.subresource('status') }
  const decide = (live: Live | undefined) => disrupted(pods, preconditions, live, parts)
  const plain = { isDryRun: false, isForced: false, fieldManager: '', fieldValidation: 'Ignore' } as const
  const optionsObject = { kind: 'UpdateOptions', apiVersion: parts.metaVersion }
  const written = await write({ request, target: pods, name: info.name, options: plain, optionsObject, decide, isAdmitted: true }, parts)
  if (preconditions.resourceVersion === undefined) return preconditions
  const { metadata }: ApiObject = parseBytes(written.json)
  return { ...preconditions, resourceVersion: metadata.resourceVersion }
}

type Preconditions = DeleteOptions['preconditions']

function disrupted(
  { served, info }: Target,
  { uid, resourceVersion }: Preconditions,
  live: Live | undefined,
  { clock }: EvictionParts,
): Intent {
  if (live === undefined) throw notFound(served.name, info.name)
  const pod = requireType('core/v1.Pod', live.object)
  const { metadata, status } = pod
  const refused = (what: string, given: string, found: string | undefined, why: string) =>
    conflict(
      { group: '', resource: 'Pod' },
      info.name,
      `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). ${why}`,
    )
  if (uid && uid !== metadata.uid) throw refused('UID', uid, metadata.uid, 'The object might have been deleted and then recreated')
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw refused('ResourceVersion', resourceVersion, metadata.resourceVersion, 'The object might have been modified')
  const conditions = withCondition(status.conditions, {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: printTime(toInstant(clock.now())),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  })
  const object: ApiObject = { ...pod, status: { ...status, conditions } }
  return { kind: 'update', live, candidate: { object, hasBigIntegers: live.hasBigIntegers, body: object, problems: [] } }
}

/** True if the Pod has changed, and the client did not request a certain version. */
function isOfOwnVersion(error: unknown, { options }: Eviction): boolean {
  return options.preconditions.resourceVersion === undefined && error instanceof StatusError && error.status.reason === 'Conflict'
}

/** Pods that do not run, or are terminating, count for no budget. */
function mayAlwaysGo(pod: Pod): boolean {
  return hasEnded(pod) || phaseOf(pod) === 'Pending'
}

function hasEnded(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp != null || ['Succeeded', 'Failed'].includes(phaseOf(pod))
}

function phaseOf({ status: { phase = '' } }: Pod): string {
  return phase
}

/** An unready Pod is not one of the healthy ones that the budget needs: it may be evicted if enough are healthy, or always by policy. */
function isUnreadyBesideEnough({ status }: Pod, { object }: Budget): boolean {
  const { conditions = [] } = status
  const isReady = conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True')
  const { currentHealthy = 0, desiredHealthy = 0 } = object.status
  if (isReady) return false
  return object.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy)
}

async function onlyBudget(request: GatewayRequest, { info }: Target, pod: Pod, parts: EvictionParts): Promise<Budget | undefined> {
  const budgets = await budgetsOf(request, info.namespace, pod, parts)
  if (budgets.length > 1)
    throw failed(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
  return budgets[0]
}

async function readOptions(request: GatewayRequest, target: SubresourceTarget, parts: EvictionParts): Promise<DeleteOptions> {
  const { isDryRun, fieldValidation, fieldManager } = writeOptionsOf(request, parts, 'CreateOptions')
  const { kind, readers } = target.subresource
  const body = await readBody(request, parts, { kind, readers })
  requireNameInBody(body.value, target.info.name, kind)
  const subresource = versionOf(target.subresource, body.value, parts)
  const candidate = readCandidate({ ...target, subresource }, body, parts)
  reportProblems(subresource, candidate.problems, fieldValidation, (text) => request.warn(text))
  const createOptions = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  const asked = { request, target, operation: 'CREATE', described: subresource, name: target.info.name, options: createOptions } as const
  const object = await admitBody({ ...asked, object: candidate.object }, parts)
  const given = isJsonObject(object['deleteOptions']) ? object['deleteOptions'] : {}
  const dryRun: readonly unknown[] = Array.isArray(given['dryRun']) ? given['dryRun'] : []
  if (isDryRun && dryRun.some((value) => value !== 'All')) {
    throw badRequest(`Non-matching dry-run options in request and content: [All] and [${dryRun.join(' ')}]`)
  }
  const options = toDeleteOptions(given, parts)
  return { ...options, isDryRun: options.isDryRun || isDryRun }
}

/** Both versions of an eviction are accepted. */
function versionOf(subresource: Subresource, body: unknown, { catalogue }: EvictionParts): Subresource {
  const apiVersion = 'policy/v1beta1'
  if (!isJsonObject(body) || body['apiVersion'] !== apiVersion) return subresource
  const older = { group: 'policy', version: 'v1beta1', kind: 'Eviction' }
  const { readers } = subresource
  return { ...subresource, ...older, apiVersion, type: 'policy/v1beta1.Eviction', readers: catalogue.readersOfKind(older) ?? readers }
}
