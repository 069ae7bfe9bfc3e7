import { listEntries, type StorageService, scopePrefix } from '@orch/core/contracts'
import { type ApiObject, failed, forbidden, notFound, printTime, type StatusCause, toInstant, withCondition } from '@orch/core/meta'
import { type BuiltIn, parseStored, requireType } from '@orch/core/schema'
import { matchesLabels, toLabelRequirements } from '@orch/core/selectors'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { Served, Target } from '../target/target.ts'
import type { Intent } from '../write/draft.ts'
import type { Live } from '../write/live.ts'
import { type WriteParts, write } from '../write/write.ts'

/** The dependencies of finding and changing the budgets of a Pod. */
export type BudgetParts = WriteParts & {
  readonly storage: Pick<StorageService, 'list'>
  readonly metaVersion: string
}

const budgetType = 'policy/v1.PodDisruptionBudget'
type BudgetObject = BuiltIn<typeof budgetType>

/** A budget and its key. */
export interface Budget {
  readonly target: Target
  readonly object: BudgetObject
}

/** Maximum number of unconfirmed evictions. */
const disruptedPodsMax = 2_000
/** Retry-After in seconds for a budget that its controller has not processed. */
const retrySeconds = 10

/** The budgets that select the pod. */
export async function budgetsOf(
  request: GatewayRequest,
  namespace: string,
  pod: BuiltIn<'core/v1.Pod'>,
  parts: BudgetParts,
): Promise<Budget[]> {
  const served = parts.served.find('policy', 'v1', 'poddisruptionbudgets')
  if (served === undefined) return []
  const scope = { resource: served.resource.stored.prefix, namespace }
  const budgets: Budget[] = []
  for await (const page of listEntries(parts.storage, scope, { context: callContext(request, parts) })) {
    for (const { value } of page) {
      const object = parseStored(budgetType, value)
      if (selects(object, pod)) budgets.push({ target: targetOf(served, namespace, object), object })
    }
  }
  return budgets
}

function selects({ spec }: BudgetObject, { metadata }: BuiltIn<'core/v1.Pod'>): boolean {
  if (spec.selector === undefined) return false
  const reading = toLabelRequirements(spec.selector)
  return reading.kind === 'selector' && matchesLabels(reading.requirements, metadata.labels)
}

function targetOf(served: Served, namespace: string, { metadata }: BudgetObject): Target {
  const { group, version, plural } = served.resource
  const place = { group, version, namespace, resource: plural, name: metadata.name ?? '', subresource: 'status', rest: [] }
  const keyPrefix = scopePrefix({ resource: served.resource.stored.prefix, namespace })
  return { served, info: { kind: 'resource', verb: 'update', ...place }, subresource: served.subresource('status'), keyPrefix }
}

/** Decrements the allowed disruptions of the budget, or refuses. */
export async function takeDisruption(
  request: GatewayRequest,
  { target }: Budget,
  { pod, isDryRun }: { readonly pod: string; readonly isDryRun: boolean },
  parts: BudgetParts,
): Promise<void> {
  const decide = (live: Live | undefined) => taken(target, pod, live, parts)
  const options = { isDryRun, isForced: false, fieldManager: parts.names.serverManager, fieldValidation: 'Ignore' } as const
  const optionsObject = { kind: 'UpdateOptions', apiVersion: parts.metaVersion }
  await write({ request, target, name: target.info.name, options, optionsObject, decide }, parts)
}

function taken({ served, info }: Target, pod: string, live: Live | undefined, { clock, level }: BudgetParts): Intent {
  if (live === undefined) throw notFound(served.name, info.name)
  const budget = requireType(budgetType, live.object)
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = budget.status
  if (observedGeneration < (budget.metadata.generation ?? 0)) {
    throw notYetObserved(info.name)
  }
  if (disruptionsAllowed < 0) throw forbidden(served.name, info.name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    throw forbidden(served.name, info.name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (disruptionsAllowed === 0) throw exhausted(whyNoneIsAllowed(info.name, budget.status, level), 0)
  const now = printTime(toInstant(clock.now()))
  const taking = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods: { ...disruptedPods, [pod]: now } }
  const status = taking.disruptionsAllowed > 0 ? taking : { ...taking, conditions: noneAllowed(budget.status, now) }
  const object: ApiObject = { ...budget, status }
  return { kind: 'update', live, candidate: { object, hasBigIntegers: live.hasBigIntegers, body: object, problems: [] } }
}

/** The first level at which a refusal looks at the condition of the budget. */
const conditionsReadSince = 35

function whyNoneIsAllowed(name: string, status: BudgetObject['status'], level: number): string {
  const { conditions, currentHealthy = 0, desiredHealthy = 0 } = status
  const refused = `The disruption budget ${name} does not allow evicting pods currently`
  const condition = conditions?.find(({ type }) => type === 'DisruptionAllowed')
  const told = condition?.status === 'False' && condition.message !== '' ? condition : undefined
  if (level >= conditionsReadSince && told?.reason === 'SyncFailed') return `${refused} because it failed sync: ${told.message}`
  if (level < conditionsReadSince || currentHealthy <= desiredHealthy)
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  return told === undefined ? refused : `${refused} (${told.reason}): ${told.message}`
}

/** With the last disruption the condition of the budget becomes false. */
function noneAllowed({ conditions = [], observedGeneration }: BudgetObject['status'], now: string): readonly object[] {
  const reason = 'InsufficientPods'
  return withCondition(conditions, {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration,
    lastTransitionTime: now,
    reason,
    message: '',
  })
}

/** Refuses an eviction until the budget's controller has seen the change. */
export function notYetObserved(name: string): Error {
  return exhausted(`The disruption budget ${name} is still being processed by the server.`, retrySeconds)
}

function exhausted(why: string, retryAfterSeconds: number): Error {
  const causes: StatusCause[] = [{ reason: 'DisruptionBudget', message: why }]
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  return failed(429, 'TooManyRequests', message, { details: { causes, ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }) } })
}
