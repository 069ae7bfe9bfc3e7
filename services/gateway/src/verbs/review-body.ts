import type { ApiObject } from '@orch/core/meta'
import { advance, type BodyParts, type GatewayRequest, pause, readBody } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import { type AdmitBodyParts, admitBody } from '../write/admit-body.ts'
import { type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { type OwnershipParts, ownersAfter, setOwners } from '../write/ownership.ts'

/** The dependencies of reading a review. */
export type ReviewParts = BodyParts &
  OptionsParts &
  CandidateParts &
  OwnershipParts &
  AdmitBodyParts & {
    readonly metaVersion: string
  }

/** Server-set metadata of every new object. */
const ownFields = ['selfLink', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

/** The access in a review, validated and admitted. Nothing of it is stored. */
export async function readReview(request: GatewayRequest, target: Target, parts: ReviewParts): Promise<ApiObject> {
  const { resource } = target.served
  const asked = writeOptionsOf(request, parts, 'CreateOptions')
  const { isDryRun, fieldManager, fieldValidation } = asked
  const { object, problems } = readCandidate(target, await readBody(request, parts, resource), parts)
  await pause(request, parts)
  reportProblems(resource, problems, fieldValidation, (text) => request.warn(text))
  for (const field of ownFields) delete object.metadata[field]
  const options = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  const name = object.metadata.name ?? ''
  setOwners(
    object,
    await advance(request, ownersAfter({ request, target, options: asked }, { before: undefined, after: object }, parts), parts),
  )
  return admitBody({ request, target, operation: 'CREATE', described: resource, name, object, options }, parts)
}
