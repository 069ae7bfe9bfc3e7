import type { ApiObject } from '@orch/core'
import { readBody } from '../body.ts'
import { advance, pause } from '../pace.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import type { Target } from '../target.ts'
import { admitBody } from '../write/admitting.ts'
import { judgeProblems, readCandidate } from '../write/candidate.ts'
import { writeOptionsOf } from '../write/options.ts'
import { ownersAfter, setOwners } from '../write/ownership.ts'

/** The question that a review brings, checked and admitted. Nothing of it is stored. */
export async function readReview(request: GatewayRequest, target: Target, parts: GatewayParts): Promise<ApiObject> {
  const { resource } = target.served
  const asked = writeOptionsOf(request, parts, 'CreateOptions')
  const { isDryRun, fieldManager, fieldValidation } = asked
  const { object, problems } = readCandidate(target, await readBody(request, parts, resource), parts)
  await pause(request, parts)
  judgeProblems(resource, problems, fieldValidation, (text) => request.warn(text))
  const options = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  const name = object.metadata.name ?? ''
  setOwners(
    object,
    await advance(request, ownersAfter({ request, target, options: asked }, { before: undefined, after: object }, parts), parts),
  )
  return admitBody({ request, target, operation: 'CREATE', described: resource, name, object, options }, parts)
}
