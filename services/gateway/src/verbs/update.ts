import { type ApiObject, badRequest, conflict, invalid, notFound, parseRevision, textSince } from '@orch/core/meta'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type BodyParts, readBody } from '../request/body.ts'
import type { Target } from '../target/target.ts'
import { type Candidate, type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import type { Intent } from '../write/draft.ts'
import { type Live, uidMismatch } from '../write/live.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { type WriteParts, write } from '../write/write.ts'
import type { Verb } from './verb.ts'

/** The dependencies of an update. */
export type UpdateParts = WriteParts & CandidateParts & BodyParts & OptionsParts & RespondStoredParts

/** Replaces an object, or the part in the path. */
export const update: Verb<UpdateParts> = async (request, target, parts) => {
  const { resource } = target.served
  const options = writeOptionsOf(request, parts, 'UpdateOptions')
  const body = await readBody(request, parts, target.subresource ?? resource)
  const optionsObject = { kind: 'UpdateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  const decide = (live: Live | undefined) => {
    const candidate = readCandidate(target, body, parts, live)
    reportProblems(resource, candidate.problems, options.fieldValidation, (text) => request.warn(text))
    requireNumericVersion(candidate)
    return replace(target, candidate, live, parts)
  }
  const { json, object, kind, fingerprint } = await write(
    { request, target, name: target.info.name, options, optionsObject, decide },
    parts,
  )
  const content = { value: json, fingerprint }
  await respondStored(request, { code: kind === 'created' ? 201 : 200, served: target.served, content, object }, parts)
}

function replace(
  { served, subresource, info }: Target,
  candidate: Candidate,
  live: Live | undefined,
  parts: Pick<OptionsParts, 'level'>,
): Intent {
  const { uid } = candidate.object.metadata
  if (live === undefined) {
    if (!served.strategy.behaviour.createsOnUpdate || subresource !== undefined) throw notFound(served.name, info.name)
    // A uid refers to an object that is deleted. A resourceVersion has no meaning for an absent object.
    if (uid) throw uidMismatch(served, info.name, uid, '')
    return { kind: 'create', candidate }
  }
  requireSameObject({ served, info }, candidate, live, parts)
  return { kind: 'update', candidate, live }
}

/** Messages show the number in Go's format before 1.34, and as JSON since. */
const unnamedVersion = textSince(34, {
  before: 'Invalid value: 0x0: must be specified for an update',
  after: 'Invalid value: 0: must be specified for an update',
})

/** A version or uid in the object is a precondition. */
export function requireSameObject(
  { served, info: { name } }: Pick<Target, 'served' | 'info'>,
  { object }: Candidate,
  live: Live,
  { level }: Pick<OptionsParts, 'level'>,
): void {
  const { resourceVersion, uid } = object.metadata
  const liveUid = live.object.metadata.uid ?? ''
  if (uid && uid !== liveUid) throw uidMismatch(served, name, uid, liveUid)
  const hasVersion = namesVersion(object)
  if (hasVersion && parseRevision(resourceVersion ?? '') !== live.entry.revision) throw conflict(served.name, name)
  if (!hasVersion && !served.strategy.behaviour.replacesUnconditionally) {
    // The one failure of a field that names the resource instead of the kind.
    const { group, resource } = served.name
    const error = { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message: unnamedVersion } as const
    throw invalid({ group, kind: resource }, name, [error], level)
  }
}

/** An invalid resourceVersion matches no object. */
export function requireNumericVersion({ object }: Candidate): void {
  const { resourceVersion } = object.metadata
  if (!resourceVersion || parseRevision(resourceVersion) !== undefined) return
  const text = JSON.stringify(resourceVersion)
  const why = /^\d+$/.test(resourceVersion) ? 'value out of range' : 'invalid syntax'
  throw badRequest(`invalid resource version: metadata.resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: ${why}`)
}

/** True if the object has a precondition. Version 0 does not count. */
function namesVersion({ metadata: { resourceVersion } }: ApiObject): boolean {
  return resourceVersion !== undefined && resourceVersion !== '' && parseRevision(resourceVersion) !== 0
}
