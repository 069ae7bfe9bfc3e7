import { objectKey } from '@orch/core/contracts'
import { printValue } from '@orch/core/json'
import {
  type ApiObject,
  badRequest,
  conflict,
  failed,
  invalid,
  notFound,
  type PlainFieldError,
  printTime,
  toInstant,
} from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import type { AccountClaims } from '@orch/core/tokens'
import { type AccountTokenIssuer, signAccountToken } from '../authentication/account-token-issuer.ts'
import type { Authenticators } from '../authentication/authenticators.ts'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { type BodyParts, readBody } from '../request/body.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { type AdmitBodyParts, type BodyRequest, mutateBody, validateBody } from '../write/admit-body.ts'
import { type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import { type LiveParts, readLive } from '../write/live.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { respondKind } from './respond-kind.ts'

/** The dependencies of a request for a token. */
export type TokenRequestParts = LiveParts &
  BodyParts &
  OptionsParts &
  CandidateParts &
  AdmitBodyParts & {
    readonly metaVersion: string
    readonly authentication: Pick<Authenticators, 'audiences' | 'issuer'>
  }

const tokenRequestType = 'authentication/v1.TokenRequest'
type TokenRequest = BuiltIn<typeof tokenRequestType>
type BoundReference = BuiltIn<'authentication/v1.BoundObjectReference'>

type Bound = NonNullable<AccountClaims['bound']>

const expirationSecondsMin = 600
const expirationSecondsMax = 2 ** 32
/** Asked for by the volumes of pods; such a token may be extended. */
const volumeExpirationSeconds = 3607
/** A year, for pods that read their token once. */
const extendedExpirationSeconds = 365 * 24 * 60 * 60

/** Makes a token of a service account. */
export const requestToken: SubresourceVerb<TokenRequestParts> = async (request, target, parts) => {
  const { issuer } = parts.authentication
  if (issuer === undefined) throw failed(501, '', 'create of serviceaccounts/token is not available in this server')
  const { info } = target
  const body = await readRequest(request, target, parts)
  const asked = requireType(tokenRequestType, await mutateBody(body, parts))
  requireOwnNames(asked, target)
  const account = await readAccount(request, target, parts)
  const nowMs = parts.clock.now()
  const completed = complete(asked, { target, nowMs, audiences: parts.authentication.audiences })
  requireGood(completed, target)
  await validateBody({ ...body, object: completed }, parts)
  const spec = heldToBound(completed.spec, issuer, request)
  const bound = await findBound(request, target, spec.boundObjectRef ?? undefined, parts)
  const issuedAt = Math.floor(nowMs / 1000)
  const { seconds, warnsAfter } = lifeOf(spec, bound, issuer, parts)
  const claims: AccountClaims = {
    namespace: info.namespace,
    account: { name: info.name, uid: account.metadata.uid ?? '' },
    bound,
    warnAfter: warnsAfter === undefined ? undefined : issuedAt + warnsAfter,
  }
  const { audiences } = spec
  const token = await signAccountToken(issuer, { claims, audiences, issuedAt, expiresAt: issuedAt + seconds }, parts.names)
  const status = { token, expirationTimestamp: printTime(toInstant(nowMs + spec.expirationSeconds * 1000)) }
  // As in kube-apiserver, a token that is bound to nothing says so.
  const answered = { boundObjectRef: null, ...spec }
  await respondKind(request, target.subresource, { code: 201, object: { ...completed, spec: answered, status } }, parts)
}

async function readAccount(request: GatewayRequest, target: Target, parts: TokenRequestParts): Promise<ApiObject> {
  const { info, served } = target
  const live = await readLive(`${target.keyPrefix}${info.name}`, served, parts, {
    read: { kind: 'latest' },
    ...callContext(request, parts),
  })
  if (live === undefined) throw notFound(served.name, info.name)
  return live.object
}

/** The request in the body, with its defaults. Its name and namespace may be left out. */
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
  const error = bad('metadata.name', metadata.name, 'must match the service account name if specified')
  throw invalid({ group, kind }, info.name, [error])
}

interface Completion {
  readonly target: SubresourceTarget
  readonly nowMs: number
  /** For whom a token is where the request says nothing. */
  readonly audiences: readonly string[]
}

/** The request for validating admission: defaults are filled in, and the server's own members replace the client's. */
function complete(asked: TokenRequest, { target: { info, subresource }, nowMs, audiences }: Completion): CompleteRequest {
  const { kind, apiVersion } = subresource
  const { name, namespace } = info
  const { boundObjectRef, ...spec } = asked.spec
  return {
    kind,
    apiVersion,
    metadata: { ...asked.metadata, name, namespace, creationTimestamp: printTime(toInstant(nowMs)) },
    spec: {
      ...spec,
      audiences: spec.audiences === null || spec.audiences.length === 0 ? audiences : spec.audiences,
      // Defaults have filled it.
      expirationSeconds: spec.expirationSeconds ?? 0,
      ...(boundObjectRef == null ? {} : { boundObjectRef }),
    },
  }
}

function requireGood({ spec }: CompleteRequest, { subresource }: SubresourceTarget): void {
  const errors = validate(spec)
  const { group, kind } = subresource
  if (errors.length > 0) throw invalid({ group, kind }, '', errors)
}

function validate({ expirationSeconds }: FullSpec): PlainFieldError[] {
  const errors: PlainFieldError[] = []
  if (expirationSeconds < expirationSecondsMin) {
    errors.push(bad('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 10 minutes'))
  }
  if (expirationSeconds > expirationSecondsMax) {
    errors.push(bad('spec.expirationSeconds', expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  return errors
}

function bad(field: string, value: unknown, detail: string): PlainFieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${printValue(value)}: ${detail}` }
}

interface FullSpec {
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly boundObjectRef?: BoundReference | null
}

interface CompleteRequest extends ApiObject {
  readonly spec: FullSpec
}

/** The requested spec, held to the server's bound. */
function heldToBound(spec: FullSpec, { expirationSecondsMax: secondsMax }: AccountTokenIssuer, request: GatewayRequest): FullSpec {
  if (secondsMax === 0 || spec.expirationSeconds <= secondsMax) return spec
  request.warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${secondsMax} seconds`)
  return { ...spec, expirationSeconds: secondsMax }
}

function lifeOf(
  { audiences, expirationSeconds }: FullSpec,
  bound: Bound | undefined,
  { extendsExpiration }: AccountTokenIssuer,
  { authentication }: TokenRequestParts,
): { readonly seconds: number; readonly warnsAfter?: number } {
  const isForUs = audiences.every((audience) => authentication.audiences.includes(audience))
  const isExtended = extendsExpiration && bound?.kind === 'Pod' && expirationSeconds === volumeExpirationSeconds && isForUs
  return isExtended ? { seconds: extendedExpirationSeconds, warnsAfter: expirationSeconds } : { seconds: expirationSeconds }
}

/** The object that the token is to end with. */
async function findBound(
  request: GatewayRequest,
  { info }: Target,
  reference: BoundReference | undefined,
  parts: TokenRequestParts,
): Promise<Bound | undefined> {
  if (reference === undefined) return undefined
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference
  if (apiVersion !== 'v1' || (kind !== 'Pod' && kind !== 'Secret')) {
    throw badRequest(`cannot bind token to object of type ${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`)
  }
  const plural = kind === 'Pod' ? 'pods' : 'secrets'
  const key = objectKey(`core/${plural}`, info.namespace, name)
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, callContext(request, parts))
  if (entry === undefined) throw notFound({ group: '', resource: plural }, name)
  const { object } = readBytesOfOurs(entry.value)
  if (kind === 'Pod') requirePodOf(requireType('core/v1.Pod', object), info.name)
  const foundUid = object.metadata.uid ?? ''
  if (uid !== '' && uid !== foundUid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, name, why)
  }
  return { kind, name, uid: foundUid }
}

function requirePodOf({ spec }: BuiltIn<'core/v1.Pod'>, account: string): void {
  const { serviceAccountName: other = '' } = spec
  if (other === account) return
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with serviceaccount ${JSON.stringify(other)}`,
  )
}
