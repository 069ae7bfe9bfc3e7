import type { Freshness, StorageService } from '@orch/core/contracts'
import { badRequest, failed, parseRevision, type Revision } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { type CallOrigin, callContext, type GatewayRequest, pastFolder } from '../request/index.ts'

/** The dependencies of requests to a past state. */
export interface PastParts {
  readonly storage: Pick<StorageService, 'revisionAt'>
  readonly clock: Clock
}

/** Subresources that are part of the stored object. */
const storedParts: ReadonlySet<string> = new Set(['', 'status'])

/** Enters the past state in the path. Only stored objects can be read there; everything else is refused with a 405, and a compacted state with a 410. */
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

/** The read of a request to a past state, with any requested freshness; undefined for the current state. */
export function pastReadOf({ pastRevision }: Pick<GatewayRequest, 'pastRevision'>): Freshness | undefined {
  if (pastRevision === 0) return undefined
  return { kind: 'exact', revision: pastRevision, asked: String(pastRevision), isPast: true }
}

/** A past state: at a revision, or at a time in milliseconds since 1970. */
type PastMoment = { readonly kind: 'revision'; readonly revision: Revision } | { readonly kind: 'time'; readonly timeMs: number }

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Parses the name of a past state: a revision, or a time in RFC 3339. Throws a 400 for others. */
function parsePastMoment(text: string): PastMoment {
  const revision = parseRevision(text)
  if (revision !== undefined && revision > 0) return { kind: 'revision', revision }
  const timeMs = timeForm.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(timeMs)) return { kind: 'time', timeMs }
  throw badRequest(`${pastFolder}${text}: expected a revision from 1 on, or a time such as 2026-11-29T10:00:00Z, for a state of the past`)
}
