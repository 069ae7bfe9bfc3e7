import type { ComparisonTimer, ValidationCandidate } from '@orch/core/catalogue'
import { type ApiObject, type FieldError, failed, forbidden, foregroundFinalizer, invalid, orphanFinalizer } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Steps } from '@orch/core/steps'
import { validateObjectMeta, validateObjectMetaUpdate } from '@orch/core/validation'
import type { Clock } from '@orch/platform'
import { type AuthorizeParts, requireMayCreate } from '../authorization/authorizer.ts'
import { type DeviceParts, refusedDevices } from '../authorization/device-access.ts'
import { type RoleParts, refuseGrant } from '../authorization/escalation.ts'
import { type ParameterParts, unreadableParameters } from '../authorization/parameter-access.ts'
import { limits } from '../limits.ts'
import { advance, type GatewayRequest } from '../request/index.ts'
import type { GatewayMetrics } from '../server/metrics.ts'
import { objectPartOf } from '../strategies/object-part.ts'
import type { Served } from '../target/target.ts'
import type { ChangeDraft, Draft, GateParts, NewDraft, WriteStep } from './draft.ts'

/** The dependencies of checking an object. */
export type CheckParts = GateParts &
  RoleParts &
  ParameterParts &
  DeviceParts &
  Pick<AuthorizeParts, 'authorizers'> & {
    readonly names: Names
    readonly clock: Clock
    readonly metrics: Pick<GatewayMetrics, 'countRatcheting' | 'rules'>
  }

/** A PUT or an apply that creates an object must be allowed as a create too. */
export const allowCreate: WriteStep<CheckParts> = ({ write: { request, name } }, parts) => requireMayCreate(request, name, parts)

/** Objects whose definition is being deleted are not created. */
export const refuseTerminating: WriteStep<unknown, NewDraft> = (draft) => {
  if (draft.write.target.served.resource.isTerminating === true) throw definitionTerminates(draft)
}

/** The refusal of a create whose definition is being deleted: a 405 for a POST, and a 403 for other requests. */
export function definitionTerminates({ object, write: { name, target } }: Pick<Draft, 'object' | 'write'>): Error {
  const why = 'create not allowed while custom resource definition is terminating'
  const resource = target.served.name
  if (name !== '') return forbidden(resource, object.metadata.name ?? '', why)
  return failed(405, 'MethodNotAllowed', why, { details: { group: resource.group, kind: resource.resource } })
}

/** Immutable metadata of an update. */
export const checkMetadata: WriteStep<CheckParts, ChangeDraft> = (draft, { names, level }) => {
  const { object, live, write } = draft
  const { served } = write.target
  const bareFinalizers = bareFinalizersOf(served, names, live.object)
  const nameKind = served.strategy.behaviour.rechecksName ? nameKindOf(served, object) : undefined
  draft.errors = validateObjectMetaUpdate(object.metadata, live.object.metadata, { bareFinalizers, nameKind, level })
}

/** Roles and bindings must not grant rights that their writer lacks. */
export const refuseEscalation: WriteStep<CheckParts> = ({ object, live, write: { request, target } }, parts) => {
  const { grants } = target.served.strategy.rules
  if (grants === undefined || target.subresource !== undefined) return
  return refuseGrant(grants, { user: request.user, target, object, live: live?.object }, parts)
}

/** All errors of a new object, reported together. */
export const validateNew: WriteStep<CheckParts, NewDraft> = async (draft, parts) => {
  const found = [...(await faultsOfDevices(draft, parts)), ...(await advance(draft.write.request, faultsOfNew(draft, parts), parts))]
  const faults = await withParameters(found, draft, parts)
  if (faults.length > 0) throw invalidBy(faults, draft, parts)
}

/** All errors of a changed object, or of its part in the path. */
export const validateChange: WriteStep<CheckParts, ChangeDraft> = async (draft, parts) => {
  const ofDevices = await faultsOfDevices(draft, parts)
  const found = [...ofDevices, ...draft.errors, ...(await advance(draft.write.request, faultsOfChange(draft, parts), parts))]
  const faults = await withParameters(found, draft, parts)
  if (faults.length > 0) throw invalidBy(faults, draft, parts)
}

/** The missing rights of the writer of a device claim; none for other kinds. */
function faultsOfDevices(
  { object, live, write: { request, target } }: Draft,
  parts: CheckParts,
): readonly FieldError[] | Promise<readonly FieldError[]> {
  if (target.served.strategy.rules.isForDevices !== true) return []
  return refusedDevices({ user: request.user, access: target.info, object, live: live?.object }, parts)
}

/** A valid object must not have parameters read that its writer may not read. */
function withParameters(
  faults: readonly FieldError[],
  { object, live, write: { request, target } }: Draft,
  parts: CheckParts,
): readonly FieldError[] | Promise<readonly FieldError[]> {
  const { reads } = target.served.strategy.rules
  if (reads === undefined || faults.length > 0 || target.subresource !== undefined) return faults
  return unreadableParameters(reads, { user: request.user, object, live: live?.object }, parts)
}

function* faultsOfNew({ object, body, write }: NewDraft, parts: CheckParts): Steps<FieldError[]> {
  const { names, isGateOn, level } = parts
  const { request, target } = write
  const { resource, strategy } = target.served
  const ofMetadata = validateObjectMeta(object.metadata, {
    isNamespaced: resource.isNamespaced,
    nameKind: nameKindOf(target.served, object),
    bareFinalizers: bareFinalizersOf(target.served, names),
    level,
  })
  yield
  const ofKind = yield* resource.readers.validate({ body, object, part: 'main', names, isGateOn, level, ...contextOf(request, parts) })
  yield
  const { validate, isValidatedLast } = strategy.rules
  const own = validate?.(object, undefined) ?? []
  return isValidatedLast ? [...ofMetadata, ...ofKind, ...own] : [...ofMetadata, ...own, ...ofKind]
}

function* faultsOfChange(draft: ChangeDraft, parts: CheckParts): Steps<FieldError[]> {
  const { names, isGateOn, level } = parts
  const { object, body } = draft
  const live = draft.live.object
  const { request, target } = draft.write
  const { served, subresource } = target
  const { resource, strategy } = served
  const change = { body, object, live, names, isGateOn, level, ...contextOf(request, parts) }
  const part = subresource === undefined ? undefined : objectPartOf(strategy, subresource.name)
  if (part?.validate !== undefined) return [...part.validate(object, live)]
  if (part !== undefined && part.isWanted !== true) {
    const ofPart = yield* resource.readers.validate({ ...change, part: 'status' })
    return [...ofPart, ...(part.validateToo?.(object, live, parts.clock.now()) ?? [])]
  }
  const written = subresource === undefined ? {} : { subresource: subresource.name }
  const ofKind = yield* resource.readers.validate({ ...change, part: 'main', ...written })
  yield
  return [...ofKind, ...(strategy.rules.validate?.(object, live) ?? [])]
}

function contextOf(
  request: Pick<GatewayRequest, 'warn' | 'deadlineMs'>,
  { clock, metrics }: Pick<CheckParts, 'clock' | 'metrics'>,
): Pick<ValidationCandidate, 'warn' | 'isInterrupted' | 'comparisons' | 'rules'> {
  return {
    warn: (text) => request.warn(text),
    isInterrupted: () => clock.monotonic() >= request.deadlineMs,
    comparisons: createComparisonTimer(clock, (durationMs) => metrics.countRatcheting(durationMs)),
    rules: metrics.rules,
  }
}

/** Sums the durations of comparisons; a nested one is part of the outer one. */
function createComparisonTimer(clock: Clock, onEnd: (durationMs: number) => void): ComparisonTimer {
  let spentMs = 0
  let isTiming = false
  return {
    time(compare) {
      if (isTiming) return compare()
      isTiming = true
      const startedMs = clock.monotonic()
      try {
        return compare()
      } finally {
        spentMs += clock.monotonic() - startedMs
        isTiming = false
      }
    },
    end: () => onEnd(spentMs),
  }
}

function invalidBy(faults: readonly FieldError[], { object, write: { target } }: Draft, { level }: CheckParts): Error {
  return invalid(target.served.kind, object.metadata.name ?? '', faults.slice(0, limits.fieldErrorsMax), level)
}

/** Warns of valid values that are seldom intended. A write of a scale is one of its object. */
export const warn: WriteStep<CheckParts> = ({ object, live, write: { request, target } }, { names, level, isGateOn }) => {
  const { subresource, served } = target
  const { resource, strategy } = served
  const isMain = subresource === undefined || subresource.name === 'scale'
  if (!isMain && subresource.name !== 'status') return
  const { warnings, statusWarnings } = resource.readers
  const warningsOfPart = isMain ? warnings : statusWarnings
  for (const text of warningsOfPart?.(object, live?.object, names, isGateOn) ?? []) request.warn(text)
  if (!isMain) return
  for (const text of strategy.rules.warnings?.(object, names, level) ?? []) request.warn(text)
}

function nameKindOf({ strategy: { behaviour } }: Served, object: ApiObject) {
  return typeof behaviour.nameKind === 'function' ? behaviour.nameKind(object) : behaviour.nameKind
}

/** Finalizers that need no domain; undefined if none needs one. The finalizers of an existing object remain valid. */
function bareFinalizersOf({ strategy }: Served, names: Names, live?: ApiObject): readonly string[] | undefined {
  if (strategy.behaviour.takesBareFinalizers) return undefined
  return [names.namespaceFinalizer, orphanFinalizer, foregroundFinalizer, ...(live?.metadata.finalizers ?? [])]
}
