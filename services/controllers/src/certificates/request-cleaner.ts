import { X509Certificate } from 'node:crypto'
import { unlessGone } from '@orch/client'
import { done, reconciler, requeueAfter } from '../reconciler/index.ts'
import { isIssued, pemOf, type SigningRequest, signingRequests } from './signing-requests.ts'

const hourMs = 3_600_000
const answeredMs = hourMs
const openMs = 24 * hourMs

/** Deletes requests that are answered, or that none answers, when they expire. */
export const requestCleaner = reconciler<SigningRequest>('csrcleaner', ({ names }) => {
  const requests = signingRequests(names)
  return {
    watches: [requests],
    workersMax: 1,
    reconcile: async ({ object: request, world, clock, signal }) => {
      const leftMs = endOf(request) - clock.now()
      if (leftMs >= 0) return Number.isFinite(leftMs) ? requeueAfter(leftMs + 1, { background: true }) : done
      const { name = '', uid, resourceVersion } = request.metadata
      await unlessGone(() => world.collection(requests).delete(name, { signal }, { preconditions: { uid, resourceVersion } }))
      return done
    },
  }
})

/** The expiry of a request, in milliseconds since 1970. */
function endOf(request: SigningRequest): number {
  const { metadata, status } = request
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return Date.parse(String(metadata.creationTimestamp)) + openMs
  const ends = conditions.flatMap(({ type, lastUpdateTime }) => {
    if (lastUpdateTime == null || !['Approved', 'Denied', 'Failed'].includes(type)) return []
    return [Date.parse(lastUpdateTime) + (type === 'Approved' && !isIssued(request) ? openMs : answeredMs)]
  })
  return Math.min(...ends, endOfCertificate(status?.certificate))
}

/** An external signer may have written any text. */
function endOfCertificate(certificate: string | null | undefined): number {
  try {
    return certificate ? Date.parse(new X509Certificate(pemOf(certificate)).validTo) : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
