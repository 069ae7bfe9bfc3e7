import { domainGroup, domainLabel, type Names } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import type { CertificateRequest } from '@orch/platform'
import { type Own, own } from '../reconciler/watches.ts'

export type SigningRequest = BuiltIn<'certificates/v1.CertificateSigningRequest'>
export type RequestStatus = NonNullable<SigningRequest['status']>

/** Watches requests, and processes the unfinished ones. */
export function signingRequests(names: Names, isDue: (request: SigningRequest) => boolean = () => true): Own<SigningRequest> {
  const options = { isDue: ({ kind, object }: { kind: string; object: SigningRequest }) => kind !== 'deleted' && isDue(object) }
  return own<SigningRequest>(`${domainGroup(names, 'certificates')}/v1`, 'certificatesigningrequests', options)
}

/** Delays after failures: a certificate that is too large to store always fails. */
export const requestBackoff = { firstMs: 200, maxMs: 1_000_000 }

export function hasCondition({ status }: SigningRequest, type: 'Approved' | 'Denied' | 'Failed'): boolean {
  return status?.conditions?.some((condition) => condition.type === type) === true
}

export function isIssued({ status }: SigningRequest): boolean {
  return (status?.certificate ?? '') !== ''
}

/** The status with another condition, whose times the server sets. */
export function withVerdict(
  { status }: SigningRequest,
  verdict: { readonly type: 'Approved' | 'Failed'; readonly reason: string; readonly message: string },
): RequestStatus {
  const condition = { ...verdict, status: 'True', lastTransitionTime: null, lastUpdateTime: null }
  return { ...status, conditions: [...(status?.conditions ?? []), condition] }
}

/** The PEM of a request or of a certificate. */
export function pemOf(base64: string | null | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1')
}

/** The violated rule of a request, in the words of kube-controller-manager; undefined for none. */
type SignerRule = (request: CertificateRequest, usages: readonly string[]) => string | undefined

const [digital, encipherment] = ['digital signature', 'key encipherment']

/** The rules of the signers by their names. */
export function signerRules(names: Names): ReadonlyMap<string, SignerRule> {
  return new Map<string, SignerRule>([
    [domainLabel(names, 'kube-apiserver-client'), (_request, usages) => findClientProblem(usages)],
    [kubeletClientSigner(names), findKubeletClientProblem],
    [domainLabel(names, 'kubelet-serving'), findKubeletServingProblem],
    [domainLabel(names, 'legacy-unknown'), () => undefined],
  ])
}

/** The signer of kubelet client certificates. */
export function kubeletClientSigner(names: Names): string {
  return domainLabel(names, 'kube-apiserver-client-kubelet')
}

function findClientProblem(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => ![digital, encipherment, 'client auth'].includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** The violated rule of a kubelet client request. */
export function findKubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const kinds = new Set(request.names.map(({ kind }) => kind))
  if (!isOfNodes(request)) return otherOrganization
  if (kinds.has('dns')) return 'DNS subjectAltNames are not allowed'
  if (kinds.has('email')) return 'Email subjectAltNames are not allowed'
  if (kinds.has('address')) return 'IP subjectAltNames are not allowed'
  if (kinds.has('uri')) return 'URI subjectAltNames are not allowed'
  return findNodeNameProblem(request) ?? findUsageProblem(usages, 'client auth')
}

function findKubeletServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const kinds = new Set(request.names.map(({ kind }) => kind))
  if (!isOfNodes(request)) return otherOrganization
  if (!kinds.has('dns') && !kinds.has('address')) return 'DNS or IP subjectAltName is required'
  if (kinds.has('email')) return 'Email subjectAltNames are not allowed'
  if (kinds.has('uri')) return 'URI subjectAltNames are not allowed'
  return findUsageProblem(usages, 'server auth') ?? findNodeNameProblem(request)
}

const otherOrganization = 'subject organization is not system:nodes'

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes'
}

function findNodeNameProblem({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:'
}

/** A key that cannot encipher does not need the key encipherment usage. */
function findUsageProblem(usages: readonly string[], use: 'client auth' | 'server auth'): string | undefined {
  const allowed = [use, digital, encipherment].sort()
  const isRight = usages.every((usage) => allowed.includes(usage)) && usages.includes(use) && usages.includes(digital)
  return isRight ? undefined : `usages did not match [${allowed.join(' ')}]`
}
