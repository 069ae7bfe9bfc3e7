import {
  type AccountClaims,
  type ApiObject,
  applyDefaults,
  badRequest,
  conflict,
  type FieldError,
  failed,
  invalid,
  notFound,
  objectKey,
  printTime,
  type Subresource,
  toInstant,
} from '@orch/core'
import type { Admitting } from '../admission/admitter.ts'
import { type AccountTokenIssuer, signAccountToken } from '../authentication/account-token-issuer.ts'
import { readBody } from '../body.ts'
import { readBytesOfOurs } from '../convert.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { callContext, keyOf, type Target, type Verb } from '../verbs/verb.ts'
import { admitBody } from '../write/admitting.ts'
import { judgeProblems, readCandidate } from '../write/candidate.ts'
import { readLive } from '../write/live.ts'
import { writeOptionsOf } from '../write/options.ts'
import { respondKind } from './respond-kind.ts'

interface TokenSpec {
  readonly audiences?: readonly string[]
  readonly expirationSeconds?: number
  readonly boundObjectRef?: BoundReference | null
}

interface BoundReference {
  readonly kind?: string
  readonly apiVersion?: string
  readonly name?: string
  readonly uid?: string
}

type Bound = NonNullable<AccountClaims['bound']>

const expirationSecondsMin = 600
const expirationSecondsMax = 2 ** 32
/** Asked for by the volumes of pods; such a token may be extended. */
const volumeExpirationSeconds = 3607
/** A year, for pods that read their token once. */
const extendedExpirationSeconds = 365 * 24 * 60 * 60

/** Makes a token of a service account. */
export const requestToken: Verb = async (request, target, parts) => {
  const { issuer } = parts.authentication
  if (issuer === undefined) throw failed(501, '', 'create of serviceaccounts/token is not available in this server')
  const { info } = target
  const wanted = await readRequest(request, target, parts)
  const mutated = (await parts.admitter.mutate(admittingOf(request, target, wanted, parts))).object
  const asked = mutated === undefined ? wanted : (mutated as ApiObject)
  requireGood(asked, target)
  const account = await readAccount(request, target, parts)
  await parts.admitter.validate(admittingOf(request, target, asked, parts))
  const spec = toSpec(asked, issuer, parts, request)
  const bound = await findBound(request, target, spec.boundObjectRef ?? undefined, parts)
  const nowMs = parts.clock.now()
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
  const { kind, apiVersion } = target.subresource as Subresource
  const answer = {
    kind,
    apiVersion,
    metadata: { ...asked.metadata, name: info.name, namespace: info.namespace, creationTimestamp: printTime(toInstant(nowMs)) },
    spec,
    status: { token, expirationTimestamp: printTime(toInstant(nowMs + spec.expirationSeconds * 1000)) },
  }
  await respondKind(request, 201, target.subresource as Subresource, answer, parts)
}

async function readAccount(request: GatewayRequest, target: Target, parts: GatewayParts): Promise<ApiObject> {
  const { info, served } = target
  const live = await readLive(keyOf(target, info.name), served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
  if (live === undefined) throw notFound(served.name, info.name)
  return live.object
}

/** The request in the body, with its defaults. Its name and namespace may be left out. */
async function readRequest(request: GatewayRequest, target: Target, parts: GatewayParts): Promise<ApiObject> {
  const { names } = parts
  const { info } = target
  const subresource = target.subresource as Subresource
  const { fieldValidation, fieldManager, isDryRun } = writeOptionsOf(request, parts, 'CreateOptions')
  const anywhere = { ...target, info: { ...info, name: '' } }
  const candidate = readCandidate(anywhere, await readBody(request, parts, subresource))
  judgeProblems(subresource, candidate.problems, fieldValidation, (text) => request.warn(text))
  applyDefaults(subresource.type, candidate.object, { names, isNew: true })
  const told = { isDryRun, object: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager } }
  const admission = { request, target, operation: 'CREATE', described: subresource, name: info.name, options: told } as const
  const object = await admitBody({ ...admission, object: candidate.object }, parts)
  return object
}

/** What admission is told: nothing is written, so nothing can be reserved for it. */
function admittingOf(request: GatewayRequest, { served, info, subresource }: Target, object: ApiObject, parts: GatewayParts): Admitting {
  const { group, version, plural } = served.resource
  const { isDryRun, fieldManager } = writeOptionsOf(request, parts, 'CreateOptions')
  return {
    request,
    attributes: {
      operation: 'CREATE',
      group,
      version,
      kind: (subresource as Subresource).kind,
      resource: plural,
      subresource: 'token',
      namespace: info.namespace,
      name: info.name,
      object,
      oldObject: undefined,
      options: { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager },
      user: request.user,
      dryRun: isDryRun,
      requestId: request.auditId,
      writeId: '',
    },
  }
}

function requireGood(object: ApiObject, { info, subresource }: Target): void {
  const errors = judge(object, info.name)
  const { group, kind } = subresource as Subresource
  if (errors.length > 0) throw invalid({ group, kind }, '', errors)
}

function judge({ metadata, spec }: ApiObject, name: string): FieldError[] {
  const { expirationSeconds = 0 } = (spec ?? {}) as TokenSpec
  const errors: FieldError[] = []
  if (metadata.name && metadata.name !== name) {
    errors.push(bad('metadata.name', metadata.name, 'must match the service account name if specified'))
  }
  if (expirationSeconds < expirationSecondsMin) {
    errors.push(bad('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 10 minutes'))
  }
  if (expirationSeconds > expirationSecondsMax) {
    errors.push(bad('spec.expirationSeconds', expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  return errors
}

function bad(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` }
}

type FullSpec = TokenSpec & { readonly audiences: readonly string[]; readonly expirationSeconds: number }

/** What is asked for, completed by the server's audiences and held to its bound. */
function toSpec(
  { spec }: ApiObject,
  { expirationSecondsMax: secondsMax }: AccountTokenIssuer,
  { authentication }: GatewayParts,
  request: GatewayRequest,
): FullSpec {
  const asked = spec as FullSpec
  const audiences = (asked.audiences ?? []).length === 0 ? authentication.audiences : asked.audiences
  const isTooLong = secondsMax > 0 && asked.expirationSeconds > secondsMax
  if (isTooLong) request.warn(`requested expiration of ${asked.expirationSeconds} seconds shortened to ${secondsMax} seconds`)
  const { boundObjectRef } = asked
  return {
    audiences,
    expirationSeconds: isTooLong ? secondsMax : asked.expirationSeconds,
    ...(boundObjectRef == null ? {} : { boundObjectRef }),
  }
}

function lifeOf(
  { audiences, expirationSeconds }: FullSpec,
  bound: Bound | undefined,
  { extendsExpiration }: AccountTokenIssuer,
  { authentication }: GatewayParts,
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
  parts: GatewayParts,
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
  if (kind === 'Pod') requirePodOf(object, info.name)
  const foundUid = object.metadata.uid ?? ''
  if (uid !== '' && uid !== foundUid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, name, why)
  }
  return { kind, name, uid: foundUid }
}

function requirePodOf({ spec }: ApiObject, account: string): void {
  const { serviceAccountName: other = '' } = (spec ?? {}) as { serviceAccountName?: string }
  if (other === account) return
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with serviceaccount ${JSON.stringify(other)}`,
  )
}
