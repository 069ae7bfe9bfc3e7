import { DerError, type RequestSigner, readCertificateRequest } from '@orch/platform'
import { type Controller, reconciler } from '../reconciler/index.ts'
import {
  hasCondition,
  isIssued,
  pemOf,
  type RequestStatus,
  requestBackoff,
  type SigningRequest,
  signerRules,
  signingRequests,
  withVerdict,
} from './signing-requests.ts'

/** Bounds of the validity of a certificate; the maximum is the default. */
const lifeMs = { min: 600_000, max: 365 * 86_400_000 }

/** Answers approved requests to the signers of the cluster: with a certificate, or with the violated rule of the signer. */
export function signingController(sign: RequestSigner): Controller {
  return reconciler<SigningRequest>('csrsigning', ({ names }) => {
    const rules = signerRules(names)
    const answerOf = async (request: SigningRequest): Promise<RequestStatus> => {
      const { request: content, signerName, usages = [], expirationSeconds } = request.spec
      const fail = (message: string) => withVerdict(request, { type: 'Failed', reason: 'SignerValidationFailure', message })
      const wantedMs = expirationSeconds == null ? lifeMs.max : expirationSeconds * 1_000
      try {
        const read = readCertificateRequest(pemOf(content))
        const problem = rules.get(signerName)?.(read, usages)
        if (problem !== undefined) return fail(problem)
        const pem = await sign(read, { usages, lifeMs: Math.min(Math.max(wantedMs, lifeMs.min), lifeMs.max) })
        return { ...request.status, certificate: Buffer.from(pem).toString('base64') }
      } catch (error) {
        if (error instanceof DerError) return fail(error.message)
        throw error
      }
    }
    const isDue = (request: SigningRequest) =>
      rules.has(request.spec.signerName) &&
      hasCondition(request, 'Approved') &&
      !hasCondition(request, 'Denied') &&
      !hasCondition(request, 'Failed') &&
      !isIssued(request)
    return {
      watches: [signingRequests(names, isDue)],
      backoff: requestBackoff,
      reconcile: async ({ object, world }) => world.writeStatus(object, await answerOf(object)),
    }
  })
}
