import type { IsGateOn } from '@orch/core/feature-gates'
import {
  type ApiObject,
  badRequest,
  checkSubdomain,
  conflict,
  type FieldError,
  failed,
  invalid,
  notFound,
  printTime,
  toInstant,
} from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type BuiltIn, goValue, invalidValue, list, map, requireType, string, unsupportedValue } from '@orch/core/schema'
import type { AccountClaims } from '@orch/core/tokens'
import { keyOfBound } from '../authentication/account-objects.ts'
import { type AccountTokenIssuer, signAccountToken } from '../authentication/account-token-issuer.ts'
import type { Authenticators } from '../authentication/authenticators.ts'
import { extraKey } from '../authentication/extra-keys.ts'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { type BodyParts, callContext, type Draws, type GatewayRequest, readBody } from '../request/index.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { type AdmitBodyParts, type BodyRequest, mutateBody, validateBody } from '../write/admit-body.ts'
import { type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import { type LiveParts, readPresent } from '../write/live.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { respondKind } from './respond-kind.ts'

/** The dependencies of a token request. */
export type TokenRequestParts = LiveParts &
  BodyParts &
  OptionsParts &
  CandidateParts &
  AdmitBodyParts & {
    readonly metaVersion: string
    readonly authentication: Pick<Authenticators, 'audiences' | 'issuer'>
    readonly isGateOn: IsGateOn
    readonly draws: Pick<Draws, 'tokenId'>
  }

const tokenRequestType = 'authentication/v1.TokenRequest'
type TokenRequest = BuiltIn<typeof tokenRequestType>
type BoundReference = BuiltIn<'authentication/v1.BoundObjectReference'>

const expirationSecondsMin = 600
const expirationSecondsMax = 2 ** 32
/** True if requested for a volume of a pod; such a token may be extended. */
const volumeExpirationSeconds = 3607
/** A year, for pods that read their token once. */
const extendedExpirationSeconds = 365 * 24 * 60 * 60

/** Issues a token for a service account. */
export const requestToken: SubresourceVerb<TokenRequestParts> = async (request, target, parts) => {
  const { issuer } = parts.authentication
  if (issuer === undefined) throw failed(501, '', 'create of serviceaccounts/token is not available in this server')
  const { info } = target
  const body = await readRequest(request, target, parts)
  const asked = requireType(tokenRequestType, await mutateBody(body, parts))
  requireOwnNames(asked, target)
  const account = await readPresent(request, target, parts)
  const uid = account.metadata.uid ?? ''
  const knowsUid = parts.isGateOn('TokenRequestServiceAccountUIDValidation')
  if (knowsUid) requireOwnUid(asked, target, uid)
  const nowMs = parts.clock.now()
  const completed = complete(asked, { target, nowMs, audiences: parts.authentication.audiences, uid: knowsUid ? uid : undefined })
  requireGood(completed, target, parts)
  await validateBody({ ...body, object: completed }, parts)
  const spec = heldToBound(completed.spec, issuer, request)
  const found = await findBound(request, target, spec.boundObjectRef ?? undefined, parts)
  const issuedAt = Math.floor(nowMs / 1000)
  const { seconds, warnsAfter } = lifeOf(spec, found.bound, issuer, parts)
  const claims: AccountClaims = {
    namespace: info.namespace,
    account: { name: info.name, uid },
    ...found,
    warnAfter: warnsAfter === undefined ? undefined : issuedAt + warnsAfter,
  }
  const { audiences } = spec
  const id = parts.isGateOn('ServiceAccountTokenJTI') ? parts.draws.tokenId() : undefined
  const token = await signAccountToken(issuer, { claims, audiences, issuedAt, expiresAt: issuedAt + seconds, id }, parts.names)
  if (id !== undefined) request.annotate(extraKey(parts.names, 'issued-credential-id'), `JTI=${id}`)
  const status = { token, expirationTimestamp: printTime(toInstant(nowMs + spec.expirationSeconds * 1000)) }
  // As in kube-apiserver, an unbound token has a null reference.
  const answered = { boundObjectRef: null, ...spec }
  await respondKind(request, target.subresource, { code: 201, object: { ...completed, spec: answered, status } }, parts)
}

/** The request in the body, with its defaults. Its name and namespace may be omitted. */
async function readRequest(request: GatewayRequest, target: SubresourceTarget, parts: TokenRequestParts): Promise<BodyRequest> {
  const { info, subresource } = target
  const { fieldValidation, fieldManager, isDryRun } = writeOptionsOf(request, parts, 'CreateOptions')
  const anywhere = { ...target, info: { ...info, name: '' } }
  const { object, problems } = readCandidate(anywhere, await readBody(request, parts, subresource), parts)
  reportProblems(subresource, problems, fieldValidation, (text) => request.warn(text))
  subresource.readers.applyDefaults?.(object, parts.names, parts.catalogue.isGateOn)
  const options = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  return { request, target, operation: 'CREATE', described: subresource, name: info.name, object, options }
}

function requireOwnNames({ metadata }: TokenRequest, { info, subresource }: SubresourceTarget): void {
  const { group, kind } = subresource
  if (!metadata.name || metadata.name === info.name) return
  const error = invalidValue('metadata.name', metadata.name, 'must match the service account name if specified')
  throw invalid({ group, kind }, info.name, [error])
}

function requireOwnUid({ metadata }: TokenRequest, { info, subresource: { group, kind } }: SubresourceTarget, uid: string): void {
  if (!metadata.uid || metadata.uid === uid) return
  const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`
  throw conflict({ group, resource: kind }, info.name, why)
}

interface Completion {
  readonly target: SubresourceTarget
  readonly nowMs: number
  readonly audiences: readonly string[]
  /** The uid of the account. Undefined if the level does not compare it. */
  readonly uid: string | undefined
}

/** The request for validating admission: with defaults, and with server-set members instead of the client's. */
function complete(asked: TokenRequest, { target: { info, subresource }, nowMs, audiences, uid }: Completion): CompleteRequest {
  const { kind, apiVersion } = subresource
  const { name, namespace } = info
  const { boundObjectRef, ...spec } = asked.spec
  return {
    kind,
    apiVersion,
    metadata: { ...asked.metadata, name, namespace, ...(uid === undefined ? {} : { uid }), creationTimestamp: printTime(toInstant(nowMs)) },
    spec: {
      ...spec,
      audiences: spec.audiences === null || spec.audiences.length === 0 ? audiences : spec.audiences,
      // Defaults have filled it.
      expirationSeconds: spec.expirationSeconds ?? 0,
      ...(boundObjectRef == null ? {} : { boundObjectRef }),
    },
  }
}

function requireGood({ spec }: CompleteRequest, { subresource }: SubresourceTarget, { names, level }: TokenRequestParts): void {
  const errors = validate(spec, names)
  const { group, kind } = subresource
  if (errors.length > 0) throw invalid({ group, kind }, '', errors, level)
}

function validate({ expirationSeconds, audiences, boundObjectRef, attestations = {} }: FullSpec, names: Names): FieldError[] {
  const errors: FieldError[] = []
  if (expirationSeconds < expirationSecondsMin) {
    errors.push(invalidValue('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 10 minutes'))
  }
  if (expirationSeconds > expirationSecondsMax) {
    errors.push(invalidValue('spec.expirationSeconds', expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  const shown = goValue(map(list(string())), attestations)
  if (boundObjectRef == null || !isWebhook(boundObjectRef, names)) {
    const why = 'attestations may only be specified with a webhook bound object reference'
    return Object.keys(attestations).length === 0 ? errors : [invalidValue('spec.attestations', shown, why)]
  }
  if (audiences.length !== 1) {
    errors.push(invalidValue('spec.audiences', goValue(list(string()), audiences), 'must be length 1 when bound to a webhook config'))
  }
  const entries = Object.entries(attestations)
  if (entries.length === 1) return [...errors, ...entries.flatMap(([key, values]) => validateAttestation(key, values))]
  return [
    ...errors,
    invalidValue('spec.attestations', shown, 'webhook bound requests require exactly one admissionReviewAPIGroups attestation'),
  ]
}

/** The only claim of a webhook token: the API group of its reviews. */
const groupsAttestation = 'admissionReviewAPIGroups'

function validateAttestation(key: string, values: readonly string[]): FieldError[] {
  const path = `spec.attestations[${key}]`
  if (key !== groupsAttestation) return [unsupportedValue(path, key, [groupsAttestation])]
  const [group, ...more] = values
  if (group === undefined || more.length > 0) return [invalidValue(path, goValue(list(string()), values), 'must specify a single value')]
  if (group === '*') return []
  const problems =
    group === '' ? ['may not be an empty string'] : checkSubdomain(group).map((why) => `must specify a valid API Group: ${why}`)
  return problems.map((problem) => invalidValue(`${path}[0]`, group, problem))
}

function isWebhook({ kind = '', apiVersion = '' }: BoundReference, names: Names): boolean {
  const isConfiguration = kind === 'ValidatingWebhookConfiguration' || kind === 'MutatingWebhookConfiguration'
  return isConfiguration && apiVersion === `${domainGroup(names, 'admissionregistration')}/v1`
}

interface FullSpec {
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly boundObjectRef?: BoundReference | null
  readonly attestations?: Readonly<Record<string, readonly string[]>>
}

interface CompleteRequest extends ApiObject {
  readonly spec: FullSpec
}

function heldToBound(spec: FullSpec, { expirationSecondsMax: secondsMax }: AccountTokenIssuer, request: GatewayRequest): FullSpec {
  if (secondsMax === 0 || spec.expirationSeconds <= secondsMax) return spec
  request.warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${secondsMax} seconds`)
  return { ...spec, expirationSeconds: secondsMax }
}

function lifeOf(
  { audiences, expirationSeconds }: FullSpec,
  bound: NonNullable<AccountClaims['bound']> | undefined,
  { extendsExpiration }: AccountTokenIssuer,
  { authentication }: TokenRequestParts,
): { readonly seconds: number; readonly warnsAfter?: number } {
  const isForUs = audiences.every((audience) => authentication.audiences.includes(audience))
  const isExtended = extendsExpiration && bound?.kind === 'Pod' && expirationSeconds === volumeExpirationSeconds && isForUs
  return isExtended ? { seconds: extendedExpirationSeconds, warnsAfter: expirationSeconds } : { seconds: expirationSeconds }
}

/** The objects in a token besides its account. */
type Found = Pick<AccountClaims, 'bound' | 'node'>

const pluralOf = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

/** The object that a token is bound to, and the node of a pod. */
async function findBound(
  request: GatewayRequest,
  { info }: Target,
  reference: BoundReference | undefined,
  parts: TokenRequestParts,
): Promise<Found> {
  if (reference === undefined) return {}
  const { name = '', uid = '' } = reference
  const kind = boundKindOf(reference, parts)
  if (name === '') throw badRequest('Name parameter required.')
  const key = keyOfBound(info.namespace, { kind, name })
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, callContext(request, parts))
  if (entry === undefined) throw notFound({ group: '', resource: pluralOf[kind] }, name)
  const { object } = readBytesOfOurs(entry.value)
  const pod = kind === 'Pod' ? requireType('core/v1.Pod', object) : undefined
  if (pod !== undefined) requirePodOf(pod, info.name)
  const foundUid = object.metadata.uid ?? ''
  if (uid !== '' && uid !== foundUid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, name, why)
  }
  const node = pod === undefined ? undefined : await findNode(request, pod, parts)
  return { bound: { kind, name, uid: foundUid }, node }
}

/** The kind of a reference, if tokens may be bound to it. Any version of the core group is accepted, as by kube-apiserver. */
function boundKindOf(reference: BoundReference, { isGateOn, names, level }: TokenRequestParts): NonNullable<Found['bound']>['kind'] {
  const { kind = '', apiVersion = '' } = reference
  const isCore = !apiVersion.includes('/')
  if (isCore && (kind === 'Pod' || kind === 'Secret')) return kind
  if (isCore && kind === 'Node' && isGateOn('ServiceAccountTokenNodeBinding')) return kind
  if (isCore && kind === 'Node' && level >= 29) {
    throw badRequest('cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled')
  }
  const type = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`
  const isLocked = level >= webhookTokensSince && isWebhook(reference, names)
  const why = isLocked ? ' (feature gate APIServerWebhookAuthenticationToken is disabled)' : ''
  throw badRequest(`cannot bind token to object of type ${type}${why}`)
}

/** The first level with webhook tokens, whose gate is off. */
const webhookTokensSince = 37

/** The node of a pod; an absent node is included only by name. */
async function findNode(
  request: GatewayRequest,
  { spec: { nodeName = '' } }: BuiltIn<'core/v1.Pod'>,
  parts: TokenRequestParts,
): Promise<Found['node']> {
  if (nodeName === '' || !parts.isGateOn('ServiceAccountTokenPodNodeInfo')) return undefined
  const key = keyOfBound('', { kind: 'Node', name: nodeName })
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, callContext(request, parts))
  const uid = entry === undefined ? '' : (readBytesOfOurs(entry.value).object.metadata.uid ?? '')
  return { name: nodeName, uid }
}

function requirePodOf({ spec }: BuiltIn<'core/v1.Pod'>, account: string): void {
  if (spec.serviceAccountName === account) return
  throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`)
}
