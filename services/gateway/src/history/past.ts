import type { Freshness, StorageService } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { parsePastMoment } from '../request/past-path.ts'
import { type CallOrigin, callContext, type GatewayRequest } from '../request/request.ts'

/** The dependencies of requests to a state of the past. */
export interface PastParts {
  readonly storage: Pick<StorageService, 'revisionAt'>
  readonly clock: Clock
}

/** Subresources that a stored object has in itself. */
const storedParts: ReadonlySet<string> = new Set(['', 'status'])

/**
 * Enters the state of the past that a path names. Only stored objects can be read there; everything else is refused with a 405, and a moment
 * that is forgotten with a 410.
 */
export async function enterPast(request: GatewayRequest, moment: string, parts: PastParts): Promise<void> {
  const { info, method } = request
  const parsed = parsePastMoment(moment)
  const isRead = method === 'GET' || method === 'HEAD'
  const isStored = info.kind === 'path' || storedParts.has(info.subresource)
  if (!isRead || !isStored) {
    request.allowedMethods = isStored ? ['GET', 'HEAD'] : []
    const why = isStored ? `${method} is not possible` : `${info.kind === 'resource' ? info.subresource : ''} is not part of what is stored`
    throw failed(405, 'MethodNotAllowed', `the state at ${moment} is of the past and read-only: ${why}`, { details: {} })
  }
  request.pastRevision = parsed.kind === 'revision' ? parsed.revision : await revisionAt(parsed.timeMs, request, parts)
}

async function revisionAt(timeMs: number, request: CallOrigin, parts: PastParts): Promise<number> {
  const { revision } = await parts.storage.revisionAt({ timeMs }, callContext(request, parts))
  return revision
}

/** The read of a request to a state of the past, whatever freshness it asks for; undefined: it is of the present. */
export function pastReadOf({ pastRevision }: Pick<GatewayRequest, 'pastRevision'>): Freshness | undefined {
  if (pastRevision === 0) return undefined
  return { kind: 'exact', revision: pastRevision, asked: String(pastRevision), isPast: true }
}
