import type { StorageService } from '@orch/core/contracts'
import { forbidden, invalid } from '@orch/core/meta'
import { type Authorizer, decide } from '../authorization/authorizer.ts'
import type { Draws } from '../request/draws.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import { type RespondParts, respondSuccess } from '../request/respond.ts'
import type { Target } from '../target/target.ts'
import { type AdmissionParts, admittingOf } from '../write/admission.ts'
import { type DeleteOptions, invalidIgnored } from '../write/delete-options.ts'

/** The dependencies of deleting an unreadable object. */
export type DeleteUnreadableParts = AdmissionParts &
  RespondParts & {
    readonly authorizers: readonly Authorizer[]
    readonly storage: Pick<StorageService, 'commit'>
    readonly draws: Pick<Draws, 'writeId'>
  }

const verb = 'unsafe-delete-ignore-read-errors'

/**
 * Deletes an object that storage cannot read (KEP-3926): without its finalizers, which are not known, and without preconditions. Its user
 * needs a verb of its own beside `delete`, and admission is asked without an object. An object that can be read is refused, as in kube-apiserver.
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
  const writeOptions = { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false } as const
  const write = { request, target, id: writeId, name, options: writeOptions, optionsObject: options.object }
  const admitting = admittingOf({ write, live: undefined }, 'DELETE', undefined)
  const mutated = await parts.admitter.mutate(admitting)
  const validated = await parts.admitter.validate(admitting)
  const conditions = [...(mutated?.conditions ?? []), ...(validated?.conditions ?? [])]
  const key = `${target.keyPrefix}${name}`
  const outcome = await parts.storage.commit(
    { key, expected: 0, conditions, writeId, removesUnreadable: true },
    callContext(request, parts),
  )
  if (outcome.kind !== 'written') {
    const why = 'is exclusively used to delete corrupt object(s), try again by removing this option'
    throw invalid({ group: served.name.group, kind: served.name.resource }, name, [invalidIgnored(why)])
  }
  const { group, resource } = served.name
  respondSuccess(request, { name, ...(group === '' ? {} : { group }), kind: resource }, parts)
}
