import {
  type ApiObject,
  conflict,
  foregroundFinalizer,
  notFound,
  orphanFinalizer,
  printTime,
  type StatusDetails,
  StatusError,
  toInstant,
} from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type GatewayRequest, respondSuccess } from '../request/index.ts'
import type { Served, Target } from '../target/target.ts'
import { type DeleteOptions, type DeleteOptionsParts, readDeleteOptions } from '../write/delete-options.ts'
import type { Intent, Write, Written } from '../write/draft.ts'
import type { Live } from '../write/live.ts'
import { inOrder } from '../write/prepare.ts'
import { type WriteParts, write } from '../write/write.ts'
import { type DeleteUnreadableParts, deleteUnreadable } from './delete-unreadable.ts'
import type { Verb } from './verb.ts'

/** The dependencies of a deletion. */
export type DeleteParts = WriteParts & DeleteOptionsParts & RespondStoredParts & DeleteUnreadableParts

/** Deletes an object, at once or in two phases if something still holds it. */
export const deleteOne: Verb<DeleteParts> = async (request, target, parts) => {
  const options = await readDeleteOptions(request, parts)
  if (options.ignoresReadErrors) return deleteUnreadable(request, target, options, parts)
  warnOfDefault(request, target, options)
  const written = await deleteObject({ request, target, name: target.info.name, options }, parts)
  const isLater = written.kind !== 'removed' && options.orphanDependents === false
  const answersObject =
    target.served.strategy.behaviour.deleteAnswer === 'object' ||
    !(written.kind === 'removed' || isHeldByDefault(target.served, options, written))
  if (answersObject)
    return respondStored(
      request,
      { code: isLater ? 202 : 200, served: target.served, content: { value: written.json, fingerprint: written.fingerprint } },
      parts,
    )
  return respondSuccess(request, removedDetails(target.served, target.info.name, written), parts)
}

/** Warns a client that deletes without a policy if the kind's default is not the usual one. */
export function warnOfDefault(request: GatewayRequest, { served }: Target, { propagation }: DeleteOptions): void {
  const { defaultPropagationWarning } = served.strategy.behaviour
  if (propagation === undefined && defaultPropagationWarning !== undefined) request.warn(defaultPropagationWarning)
}

/** An object to delete. */
export interface Deletion extends Pick<Write, 'request' | 'target' | 'name' | 'isAdmitted'> {
  readonly options: DeleteOptions
}

/**
 * Deletes one object, by its path or in a collection. Watches see the marks of an object that goes at once although its kind has a grace period,
 * before its end: controllers wait for its deletionTimestamp.
 */
export async function deleteObject({ options, ...deletion }: Deletion, parts: DeleteParts): Promise<Written> {
  const { isDryRun, object: optionsObject } = options
  let goesMarked = false
  const decide = (live: Live | undefined): Intent => {
    goesMarked = false
    const intent = nextPhase({ ...deletion, options }, live, parts)
    if (isDryRun || intent.kind !== 'remove' || intent.object === undefined) return intent
    goesMarked = true
    return { kind: 'mark', live: intent.live, object: intent.object }
  }
  const writeOptions: Write['options'] = { isDryRun, fieldManager: '', fieldValidation: 'Ignore', isForced: false }
  const wanted = { ...deletion, options: writeOptions, optionsObject }
  const written = await write({ ...wanted, decide }, parts)
  return goesMarked ? removeMarked({ ...wanted, isAdmitted: true }, written, parts) : written
}

/** Removes an object that has been marked for this. Another client may have been faster. */
async function removeMarked(wanted: Omit<Write, 'decide'>, marked: Written, parts: DeleteParts): Promise<Written> {
  const { target, name } = wanted
  const decide = (live: Live | undefined): Intent => {
    if (live?.object.metadata.uid !== marked.uid) throw notFound(target.served.name, name)
    return { kind: 'remove', live }
  }
  const removed = await write({ ...wanted, decide }, parts).catch((error: unknown) => {
    if (error instanceof StatusError && error.code === 404) return marked
    throw error
  })
  return { ...removed, kind: 'removed' }
}

function nextPhase({ target: { served }, name, options }: Deletion, live: Live | undefined, { clock, names }: DeleteParts): Intent {
  if (live === undefined) throw notFound(served.name, name)
  requirePreconditions(served, name, options, live)
  const { metadata } = live.object
  const { rules } = served.strategy
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options, served)
  const isGoing = metadata.deletionTimestamp != null
  const running = metadata.deletionGracePeriodSeconds ?? 0
  const graceSeconds = isGoing
    ? graceAfter(running, options.gracePeriodSeconds, served)
    : (rules.graceSeconds?.(live.object, options.gracePeriodSeconds) ?? 0)
  const isHeld = finalizers.length > 0 || rules.isHeld?.(live.object) === true
  const goesNow = graceSeconds === 0 && !isHeld
  // A kind with a grace period is marked even if the period is zero.
  if (goesNow && (isGoing ? running === 0 : rules.graceSeconds === undefined)) return { kind: 'remove', live }
  if (isGoing && graceSeconds === running && isSame(finalizers, metadata.finalizers ?? [])) return { kind: 'nothing', live }
  // Every grace period counts from the first request.
  const beganMs = isGoing ? Date.parse(metadata.deletionTimestamp ?? '') - running * 1000 : clock.now()
  const object = markedObject(live.object, served, { graceSeconds, beganMs, finalizers, names })
  return { kind: goesNow ? 'remove' : 'mark', live, object }
}

interface Mark {
  readonly graceSeconds: number
  readonly beganMs: number
  readonly finalizers: readonly string[]
  readonly names: Names
}

/** The end of the year 9999; later times cannot be written. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59)

/** The object during its deletion. */
function markedObject(live: ApiObject, { strategy, resource }: Served, { graceSeconds, beganMs, finalizers, names }: Mark): ApiObject {
  const metadata = {
    ...live.metadata,
    deletionTimestamp: printTime(toInstant(Math.min(beganMs + graceSeconds * 1000, lastMs))),
    deletionGracePeriodSeconds: graceSeconds,
  }
  if (finalizers.length > 0) metadata.finalizers = [...finalizers]
  else delete metadata.finalizers
  const isCounted = live.metadata.deletionTimestamp == null && strategy.rules.deletesUncounted !== true
  if (metadata.generation !== undefined && isCounted) metadata.generation += 1
  const object: ApiObject = { ...live, metadata }
  strategy.rules.prepareDeletion?.(object, names)
  return inOrder(resource, object)
}

/** The grace period of an object under deletion: it stays, unless a shorter one is requested. */
function graceAfter(running: number, asked: number | undefined, { strategy }: Served): number {
  if (strategy.rules.graceSeconds === undefined || asked === undefined) return running
  return Math.min(running, asked < 0 ? 1 : asked)
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((finalizer) => right.includes(finalizer))
}

/** The controllers of these finalizers apply the policy. Without a policy, the existing finalizers decide, otherwise the kind. */
function finalizersAfter(present: readonly string[], { propagation: asked }: DeleteOptions, { strategy }: Served): string[] {
  const saysSo = present.includes(orphanFinalizer) || present.includes(foregroundFinalizer)
  const byDefault = strategy.behaviour.defaultPropagation
  const propagation = byDefault === 'Unsupported' ? byDefault : (asked ?? (saysSo ? undefined : byDefault))
  if (propagation === undefined) return [...present]
  const others = present.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer)
  switch (propagation) {
    case 'Background':
    case 'Unsupported':
      return others
    case 'Orphan':
      return [...others, orphanFinalizer]
    case 'Foreground':
      return [...others, foregroundFinalizer]
  }
}

function requirePreconditions({ kind }: Served, name: string, { preconditions }: DeleteOptions, live: Live): void {
  const { uid, resourceVersion } = live.object.metadata
  const named = { group: kind.group, resource: kind.kind }
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}

/** Only the kind's default policy holds an object whose deletion still returns a Status. */
function isHeldByDefault({ strategy }: Served, { propagation }: DeleteOptions, { json }: Written): boolean {
  if (propagation !== undefined || strategy.behaviour.deleteAnswer !== 'statusUnasked') return false
  const { finalizers = [] } = readBytesOfOurs(json).object.metadata
  return finalizers.length === 1 && finalizers[0] === orphanFinalizer
}

function removedDetails({ name: resource }: Served, name: string, { uid }: Written): StatusDetails {
  const group = resource.group === '' ? {} : { group: resource.group }
  return { name, ...group, kind: resource.resource, uid }
}
