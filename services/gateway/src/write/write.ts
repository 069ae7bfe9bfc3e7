import { UnknownOutcomeError } from '@orch/core/contracts'
import { conflict, StatusError } from '@orch/core/meta'
import type { TimerWheel } from '@orch/platform'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { limits } from '../limits.ts'
import { type Draws, remainingMs, requestLate } from '../request/index.ts'
import type { Candidate } from './candidate.ts'
import { unchanged } from './commit.ts'
import { type Again, Draft, type Intent, type PlannedWrite, type Write, type WriteStep, type Written } from './draft.ts'
import type { KeyedMutex, Release } from './keyed-mutex.ts'
import { type Live, latestRevision, readLive, timelyContext } from './live.ts'
import { settleReservation } from './reservation.ts'
import { createByNameSteps, createSteps, markSteps, removeSteps, type StepParts, updateSteps } from './steps.ts'

/** The dependencies of a write. */
export type WriteParts = StepParts & {
  /** Writers that meet at one object write one after the other. */
  readonly mutex: Pick<KeyedMutex, 'take'>
  readonly wheel: TimerWheel
  readonly draws: Draws
  readonly customResources: Pick<CustomResources, 'reached'>
}

/**
 * The loop of every write: read the object, decide the intended change, take its steps; again when another write
 * was faster. A refusal never rests on an object that may have been old: it is read at the latest revision first.
 */
export async function write(wanted: Write, parts: WriteParts): Promise<Written> {
  const written = await attempts({ ...wanted, id: parts.draws.writeId() }, parts)
  if (written.kind === 'unchanged' && !wanted.options.isDryRun) wanted.request.isNoop = true
  return written
}

async function attempts(plan: PlannedWrite, parts: WriteParts): Promise<Written> {
  const first = await attempt(plan, parts, false)
  if (first.kind !== 'again') return first
  if (plan.name === '') return attemptsLeft(plan, parts)
  const release = await lockObject(plan, parts)
  try {
    return await attemptsLeft(plan, parts)
  } finally {
    release()
  }
}

/** Writers of one object continue one after the other. */
async function lockObject({ request, target, name }: Write, parts: WriteParts): Promise<Release> {
  const late = Promise.withResolvers<void>()
  const timer = parts.wheel.after(remainingMs(request, parts), { due: () => late.resolve() })
  const end = await parts.mutex.take(`${target.keyPrefix}${name}`, late.promise)
  timer.cancel()
  if (end === undefined) throw requestLate()
  return end
}

/** Each attempt wants time to be left, so a crowd at one object ends with the deadline of the request at the latest. */
async function attemptsLeft(plan: PlannedWrite, parts: WriteParts): Promise<Written> {
  const attemptsMax = plan.name === '' ? limits.generatedNamesMax : limits.writeAttemptsMax
  let refusal = conflict(plan.target.served.name, plan.name)
  for (let count = 2; count <= attemptsMax; count++) {
    const outcome = await attempt(plan, parts, true)
    if (outcome.kind !== 'again') return outcome
    refusal = outcome.refusal ?? refusal
  }
  throw refusal
}

async function attempt(plan: PlannedWrite, parts: WriteParts, isLatest: boolean): Promise<Written | Again> {
  const { request, target, name } = plan
  if (name === '') return follow(plan, await plan.decide(undefined), parts)
  const key = `${target.keyPrefix}${name}`
  const read = isLatest ? ({ kind: 'latest' } as const) : ({ kind: 'any' } as const)
  const live = await readLive(key, target.served, parts, { read, ...timelyContext(request, parts) })
  request.isLarge ||= live !== undefined && live.entry.value.length >= limits.largeBytesMin
  try {
    return await follow(plan, await plan.decide(live), parts)
  } catch (error) {
    if (isLatest || !(error instanceof StatusError)) throw error
    // Nothing was refused, and a write that may have happened is not repeated.
    if (error instanceof UnknownOutcomeError) throw error
    if ((await latestRevision(key, request, parts)) === live?.entry.revision) throw error
    return { kind: 'again' }
  }
}

function follow(plan: PlannedWrite, intent: Intent, parts: WriteParts): Written | Promise<Written | Again> {
  switch (intent.kind) {
    case 'create':
      return takeSteps({ plan, steps: plan.name === '' ? createSteps : createByNameSteps, ...intent, live: undefined }, parts)
    case 'update':
      return takeSteps({ plan, steps: updateSteps, ...intent }, parts)
    case 'mark': {
      const { live, object } = intent
      return takeSteps({ plan, steps: markSteps, live, candidate: { object, hasBigIntegers: false, body: undefined } }, parts)
    }
    case 'remove': {
      const { live, object = live.object } = intent
      return takeSteps({ plan, steps: removeSteps, live, candidate: { ...live, object, body: undefined } }, parts)
    }
    case 'nothing':
      return unchanged(intent.live, plan.target, parts)
  }
}

/** The beginning of an attempt. */
interface Attempt<Before extends Live | undefined> {
  readonly plan: PlannedWrite
  readonly steps: readonly WriteStep<WriteParts, Draft<Before>>[]
  readonly live: Before
  readonly candidate: Omit<Candidate, 'problems'>
}

/** Takes steps until one sets the outcome. At any end, the reservations on the way are settled. */
async function takeSteps<Before extends Live | undefined>(
  { plan, steps, live, candidate }: Attempt<Before>,
  parts: WriteParts,
): Promise<Written | Again> {
  const draft = new Draft(plan, live, candidate)
  const { request } = plan
  try {
    for (const step of steps) {
      const done = step(draft, parts)
      if (done !== undefined) await done
      if (draft.outcome !== undefined) break
      // Between two steps of a large request all others have their turn.
      if (request.isLarge) await parts.pace.turn()
    }
  } catch (error) {
    // A write that may have happened keeps its reservations.
    if (!draft.isSent || !(error instanceof UnknownOutcomeError)) await settle(draft, parts)
    throw error
  }
  await settle(draft, parts)
  if (draft.outcome === undefined) throw new Error('the last step of a write has set no outcome')
  return draft.outcome
}

/** Reports the end of an attempt to all that promised something for it. */
async function settle(draft: Draft, parts: WriteParts): Promise<void> {
  const { write, reservations, revision } = draft
  const { resource, strategy } = write.target.served
  if (revision !== undefined && strategy.rules.definesResources === true) await parts.customResources.reached(revision)
  const { prefix } = resource.stored
  const reached = parts.admitter.settle({ writeId: write.id, reservations, resource: prefix, revision })
  if (reached !== undefined) await reached
  if (draft.reservation !== undefined || draft.outcome?.kind === 'removed') await settleReservation(draft, parts)
}
