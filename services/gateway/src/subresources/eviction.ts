import { type ApiObject, badRequest, failed, notFound, type Subresource } from '@orch/core'
import { readBody } from '../body.ts'
import { callContext } from '../call-context.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { keyOf, type Target } from '../target.ts'
import { deleteObject } from '../verbs/delete.ts'
import type { Verb } from '../verbs/verb.ts'
import { admitBody } from '../write/admitting.ts'
import { isObject, judgeProblems, readCandidate } from '../write/candidate.ts'
import { type DeleteOptions, toDeleteOptions } from '../write/delete-options.ts'
import { readLive } from '../write/live.ts'
import { writeOptionsOf } from '../write/options.ts'
import { type Budget, budgetsOf, takeDisruption } from './disruption-budget.ts'
import { requireNameInBody } from './name-in-body.ts'
import { respondCreated } from './respond-kind.ts'

interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

/** Deletes a pod, unless a disruption budget stands against it. */
export const evictPod: Verb = async (request, target, parts) => {
  const { info, served } = target
  const options = await readOptions(request, target, parts)
  const live = await readLive(keyOf(target, info.name), served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
  if (live === undefined) throw notFound(served.name, info.name)
  if (!mayAlwaysGo(live.object)) {
    const budget = await onlyBudget(request, target, live.object, parts)
    if (budget !== undefined && !isUnreadyBesideEnough(live.object, budget)) {
      await takeDisruption(request, budget, info.name, options.isDryRun, parts)
    }
  }
  const { uid } = live.object.metadata
  const preconditions = { ...options.preconditions, ...(options.preconditions.uid === undefined && uid !== undefined ? { uid } : {}) }
  const deletion = { ...options, preconditions }
  await deleteObject(request, { ...target, subresource: undefined }, info.name, deletion, parts, { isAdmitted: true })
  await respondCreated(request, parts)
}

/** Pods that do not run, or are going already, count for no budget. */
function mayAlwaysGo({ metadata, status }: ApiObject): boolean {
  const { phase } = (status ?? {}) as PodStatus
  return metadata.deletionTimestamp != null || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
}

/** A pod that is not ready is none of the healthy ones that the budget wants, and there are enough of those. */
function isUnreadyBesideEnough({ status }: ApiObject, { object }: Budget): boolean {
  const { conditions = [] } = (status ?? {}) as PodStatus
  const isReady = conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True')
  const { currentHealthy = 0, desiredHealthy = 0 } = object.status ?? {}
  return !isReady && desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

async function onlyBudget(request: GatewayRequest, { info }: Target, pod: ApiObject, parts: GatewayParts): Promise<Budget | undefined> {
  const budgets = await budgetsOf(request, info.namespace, pod, parts)
  if (budgets.length > 1) throw severalBudgets()
  return budgets[0]
}

function severalBudgets(): Error {
  return failed(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
}

async function readOptions(request: GatewayRequest, target: Target, parts: GatewayParts): Promise<DeleteOptions> {
  const { isDryRun, fieldValidation, fieldManager } = writeOptionsOf(request, parts, 'CreateOptions')
  const { kind, type } = target.subresource as Subresource
  const body = await readBody(request, parts, { kind, type })
  requireNameInBody(body.value, target.info.name, kind)
  const subresource = versionOf(target.subresource as Subresource, body.value)
  const candidate = readCandidate({ ...target, subresource }, body, parts)
  judgeProblems(subresource, candidate.problems, fieldValidation, (text) => request.warn(text))
  const told = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  const asked = { request, target, operation: 'CREATE', described: subresource, name: target.info.name, options: told } as const
  const object = await admitBody({ ...asked, object: candidate.object }, parts)
  const given = (object['deleteOptions'] ?? {}) as Record<string, unknown>
  const options = toDeleteOptions(given, parts)
  if (isDryRun && given['dryRun'] != null && !options.isDryRun) throw badRequest('Non-matching dry-run options in request and content')
  return { ...options, isDryRun: options.isDryRun || isDryRun }
}

/** Both versions of an eviction are understood. */
function versionOf(subresource: Subresource, body: unknown): Subresource {
  const older = { ...subresource, version: 'v1beta1', apiVersion: 'policy/v1beta1', type: 'policy/v1beta1.Eviction' }
  return isObject(body) && body['apiVersion'] === older.apiVersion ? older : subresource
}
