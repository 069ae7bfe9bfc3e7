import { scopePrefix, type User } from '@orch/core/contracts'
import { type ApiObject, StatusError } from '@orch/core/meta'
import type { Draws } from '../request/draws.ts'
import type { Served } from '../target/target.ts'
import { decodeCandidate } from './candidate.ts'
import { Draft, type Origin } from './draft.ts'
import { type BootstrapPart, type BootstrapParts, bootstrapSteps } from './steps.ts'

/** The dependencies of creating the server's own objects. */
export type BootstrapWriteParts = BootstrapParts & { readonly requestTimeoutMs: number; readonly draws: Draws }

/** An object of the server itself. */
export interface BootstrapWrite extends BootstrapPart {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string }
  readonly object: ApiObject
}

/**
 * Creates objects of the server in collections that are empty at the first start. They become the same as by a POST; since no client has requested them,
 * they pass no authorization, no admission, no validation, and no audit event. Not for objects with reservations, such as Services. Unserved ones are
 * left out, and an object that a client has created meanwhile stays.
 */
export async function writeBootstrapObjects(objects: readonly BootstrapWrite[], parts: BootstrapWriteParts): Promise<void> {
  await Promise.all(
    objects.map(async (bootstrapObject) => {
      const { group, version, plural } = bootstrapObject.resource
      const served = parts.served.find(group, version, plural)
      if (served !== undefined) await writeBootstrapObject(served, bootstrapObject, parts)
    }),
  )
}

async function writeBootstrapObject(served: Served, bootstrapObject: BootstrapWrite, parts: BootstrapWriteParts): Promise<void> {
  const body: Record<string, unknown> = JSON.parse(JSON.stringify(bootstrapObject.object))
  const candidate = decodeCandidate(served.resource, body, { hasBigIntegers: false, duplicates: [] })
  const draft = new Draft(planOf(served, bootstrapObject.object, parts), undefined, candidate)
  try {
    for (const step of bootstrapSteps(bootstrapObject)) await step(draft, parts)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
  }
}

function planOf(served: Served, { metadata }: ApiObject, { clock, draws, requestTimeoutMs }: BootstrapWriteParts) {
  const { group, version, plural } = served.resource
  const { namespace = '' } = metadata
  const request: Origin = {
    user: ownUser,
    isLarge: false,
    auditId: '',
    deadlineMs: clock.monotonic() + requestTimeoutMs,
    trace: undefined,
    explanation: undefined,
    warn: () => undefined,
  }
  const place = { group, version, namespace, resource: plural, name: '', subresource: '', rest: [] }
  const keyPrefix = scopePrefix({ resource: served.resource.stored.prefix, namespace })
  const target = { served, subresource: undefined, info: { kind: 'resource', verb: 'create', ...place }, keyPrefix } as const
  const options = { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false } as const
  return { id: draws.writeId(), request, target, name: '', options }
}

/** The user that creates the gateway's own objects. */
export const ownUser: User = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }
