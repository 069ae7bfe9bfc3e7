import type { CommitRequest, StorageService } from '@orch/core/contracts'
import { conflict, forbidden, notFound } from '@orch/core/meta'
import { type Authorizer, decide } from '../authorization/authorizer.ts'
import { limits } from '../limits.ts'
import { callContext, type Draws, type GatewayRequest, type RespondParts, respondSuccess } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import { type AdmissionParts, admittingOf } from '../write/admission.ts'
import type { DeleteOptions } from '../write/delete-options.ts'

/** The dependencies of deleting an unreadable object. */
export type DeleteUnreadableParts = AdmissionParts &
  RespondParts & {
    readonly authorizers: readonly Authorizer[]
    readonly storage: Pick<StorageService, 'commit' | 'get'>
    readonly draws: Pick<Draws, 'writeId'>
  }

const verb = 'unsafe-delete-ignore-read-errors'

/**
 * Deletes an object that storage cannot read (KEP-3926): without its unknown finalizers, and without preconditions. Its user needs a special verb in
 * addition to `delete`, and admission is called without an object. A readable object is refused, as in kube-apiserver.
 */
export async function deleteUnreadable(
  request: GatewayRequest,
  target: Target,
  options: DeleteOptions,
  parts: DeleteUnreadableParts,
): Promise<void> {
  const { served, info } = target
  const { name } = info
  const decision = await decide(parts.authorizers, request.user, { ...info, verb })
  if (decision.kind !== 'allow') throw forbidden(served.name, name, `not permitted to do "${verb}", reason: ${decision.reason}`)
  const writeId = parts.draws.writeId()
  const { isDryRun } = options
  const writeOptions = { isDryRun, fieldManager: '', fieldValidation: 'Ignore', isForced: false } as const
  const write = { request, target, id: writeId, name, options: writeOptions, optionsObject: options.object }
  const admitting = admittingOf({ write, live: undefined }, 'DELETE', undefined)
  const mutated = await parts.admitter.mutate(admitting)
  const validated = await parts.admitter.validate(admitting)
  const conditions = [...(mutated?.conditions ?? []), ...(validated?.conditions ?? [])]
  const key = `${target.keyPrefix}${name}`
  const unmet = isDryRun ? [neverMet(key)] : []
  const outcome = await parts.storage.commit(
    {
      key,
      expected: 0,
      conditions: [...conditions, ...unmet],
      writeId,
      removesUnreadable: true,
      user: request.user.name.slice(0, limits.historyUserMax),
    },
    callContext(request, parts),
  )
  const isDone = outcome.kind === 'written' || (isDryRun && outcome.kind === 'unmet')
  if (!isDone) throw await refusal(request, target, key, parts)
  const { group, resource } = served.name
  respondSuccess(request, { name, ...(group === '' ? {} : { group }), kind: resource }, parts)
}

/** A condition that never holds: the commit of a dry run shows that it is possible, without writing. */
function neverMet(key: string): CommitRequest['conditions'][number] {
  return { key: `${key}/`, revision: 1 }
}

/** The refusal of a readable or absent object. Its key has the form of kube-apiserver's own store. */
async function refusal(request: GatewayRequest, { served }: Target, key: string, parts: DeleteUnreadableParts): Promise<Error> {
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, callContext(request, parts))
  const name = key.slice(key.lastIndexOf('/') + 1)
  if (entry === undefined) return notFound(served.name, name)
  const place = served.resource.definedBy === undefined ? key.slice(key.indexOf('/') + 1) : key
  const why = 'unsafe deletion is not allowed because the object is decodable from storage'
  const text = `StorageError: invalid object, Code: 4, Key: /registry/${place}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
  return conflict(served.name, name, text)
}
