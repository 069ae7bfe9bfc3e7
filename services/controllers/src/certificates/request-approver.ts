import { unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { type CertificateRequest, DerError, readCertificateRequest } from '@orch/platform'
import { done, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import {
  findKubeletClientProblem,
  hasCondition,
  isIssued,
  kubeletClientSigner,
  pemOf,
  requestBackoff,
  type SigningRequest,
  signingRequests,
  withVerdict,
} from './signing-requests.ts'

/** Delay before the requester's permission is checked again: the age of the request, within these bounds. */
const pauseMs = { min: 1_000, max: 1_000_000 }

interface AccessReview extends ApiObject {
  readonly status?: { readonly allowed?: boolean }
}

/** Approves certificate requests of kubelets as clients, if the requester may create `nodeclient` or, for itself, `selfnodeclient`. */
export const requestApprover = reconciler<SigningRequest>('csrapproving', ({ names }) => {
  const signer = kubeletClientSigner(names)
  const requests = signingRequests(
    names,
    (request) =>
      request.spec.signerName === signer && !isIssued(request) && !hasCondition(request, 'Approved') && !hasCondition(request, 'Denied'),
  )
  return {
    watches: [requests],
    backoff: requestBackoff,
    reconcile: async ({ object: request, world, clock, signal }) => {
      const content = readOrNone(request)
      if (content === undefined || findKubeletClientProblem(content, request.spec.usages ?? []) !== undefined) return done
      const isOwn = request.spec.username === content.commonName
      const message = await findApproval(request, isOwn, world, signal)
      if (message === undefined) {
        const ageMs = clock.now() - Date.parse(String(request.metadata.creationTimestamp))
        return requeueAfter(Math.min(Math.max(ageMs, pauseMs.min), pauseMs.max), { background: true })
      }
      const status = withVerdict(request, { type: 'Approved', reason: 'AutoApproved', message })
      await unlessGone(() => world.collection(requests).unanswered.update({ ...request, status }, { subresource: 'approval', signal }))
      return done
    },
  }
})

function readOrNone({ spec }: SigningRequest): CertificateRequest | undefined {
  try {
    return readCertificateRequest(pemOf(spec.request))
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

/** The message of an approval; undefined without permission. */
async function findApproval(request: SigningRequest, isOwn: boolean, world: World, signal: AbortSignal): Promise<string | undefined> {
  if (isOwn && (await mayCreate(request, 'selfnodeclient', world, signal))) {
    return 'Auto approving self kubelet client certificate after SubjectAccessReview.'
  }
  if (await mayCreate(request, 'nodeclient', world, signal)) return 'Auto approving kubelet client certificate after SubjectAccessReview.'
  return undefined
}

async function mayCreate({ spec }: SigningRequest, subresource: string, { client, names }: World, signal: AbortSignal): Promise<boolean> {
  const group = domainGroup(names, 'authorization')
  const reviews = client.resource<AccessReview>({ group, version: 'v1', plural: 'subjectaccessreviews', namespaced: false })
  const { username: user, uid, groups, extra } = spec
  const resourceAttributes = {
    ...{ group: domainGroup(names, 'certificates'), version: '*', resource: 'certificatesigningrequests' },
    ...{ subresource, verb: 'create' },
  }
  const review = {
    ...{ apiVersion: `${group}/v1`, kind: 'SubjectAccessReview', metadata: {} },
    spec: { user, uid, groups, extra, resourceAttributes },
  }
  return (await reviews.create(review, { signal })).status?.allowed === true
}
