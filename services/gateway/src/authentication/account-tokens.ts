import { parseObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import {
  type AccountClaims,
  accountGroups,
  accountUserName,
  invalidSinceLabel,
  parseAccountClaims,
  parseSecretClaims,
  type SecretClaims,
  secretTokenIssuer,
  usedDay,
} from '@orch/core/tokens'
import type { Listeners, VerificationKey } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { findAccount, findSecret, keysOf } from './account-objects.ts'
import { type Authentication, none, refused, type SecretUse, type TokenAuthenticator, type TokenQuestion } from './authenticator.ts'
import { credentialKey, extraKey } from './extra-keys.ts'
import { limits } from './limits.ts'
import type { AccountTokenMetrics } from './metrics.ts'

/** Its name in explanations. */
const method = 'service account token'

export interface AccountTokenOptions extends Pick<Surroundings, 'names' | 'storage' | 'isGateOn'> {
  /** Each key verifies. */
  readonly keys: readonly VerificationKey[]
  /** The accepted issuers, in addition to that of token Secrets. */
  readonly issuers: readonly string[]
  /** Audiences of a token without any. */
  readonly audiences: readonly string[]
  /** True if the Secret of a token must still exist; the objects of other tokens are always looked up. */
  readonly looksUpSecrets: boolean
  readonly metrics: AccountTokenMetrics
  /** Called for uses of tokens in Secrets. */
  readonly secretUses: Listeners<SecretUse>
}

type Payload = Readonly<Record<string, unknown>>

/** Tokens of service accounts: signed by one of our keys, and valid while the objects that they name exist. */
export function createAccountTokenAuthenticator(options: AccountTokenOptions): TokenAuthenticator {
  const issuers = new Set([...options.issuers, secretTokenIssuer(options.names)])
  return {
    name: 'service account token',
    authenticate(token, question) {
      const claimed = unverifiedPayload(token)
      if (claimed === undefined || typeof claimed['iss'] !== 'string' || !issuers.has(claimed['iss'])) return none
      return check(token, question, options)
    },
  }
}

async function check(token: string, question: TokenQuestion, options: AccountTokenOptions): Promise<Authentication> {
  const payload = await verifiedPayload(token, options.keys)
  if (payload === undefined) return refused('the signature is not that of one of the keys')
  const named = audiencesOf(payload)
  const audiences = (named.length === 0 ? options.audiences : named).filter((audience) => question.audiences.includes(audience))
  if (audiences.length === 0) {
    const printed = (list: readonly string[]) => `[${list.map((one) => JSON.stringify(one)).join(' ')}]`
    const own = printed(named.length === 0 ? options.audiences : named)
    const detail = `token audiences ${own} is invalid for the target audiences ${printed(question.audiences)}`
    return refused('the token is for others', { detail })
  }
  const answer =
    payload['iss'] === secretTokenIssuer(options.names)
      ? await checkSecretToken(token, payload, question, options)
      : await checkAccountToken(payload, question, options)
  return answer.kind === 'user' ? { ...answer, audiences } : answer
}

async function checkSecretToken(
  token: string,
  payload: Payload,
  { nowMs, timeoutMs }: TokenQuestion,
  options: AccountTokenOptions,
): Promise<Authentication> {
  const { names, storage, looksUpSecrets, metrics } = options
  const claims = parseSecretClaims(names, payload)
  if (claims === undefined || payload['sub'] !== accountUserName(claims.namespace, claims.account.name)) {
    return refused('the claims of the token make no sense')
  }
  if (looksUpSecrets) {
    const finding = await findSecret(token, claims, { storage, nowMs, timeoutMs })
    if (finding.kind === 'invalid') return refused(finding.reason, { dependsOn: keysOf(claims), detail: invalidated })
    if (options.isGateOn('LegacyServiceAccountTokenTracking')) return noteUse(finding, claims, nowMs, options)
  }
  metrics.legacy()
  return { kind: 'user', method, user: userOf(claims, {}), dependsOn: keysOf(claims) }
}

/** Reports the use of the token in a Secret, also of an invalid one, which is refused (WL-SA-01). */
function noteUse(
  { secret, account }: { readonly secret: ApiObject; readonly account: ApiObject },
  claims: SecretClaims,
  nowMs: number,
  { names, metrics, secretUses }: AccountTokenOptions,
): Authentication {
  const { name = '', namespace = '', uid, labels = {} } = secret.metadata
  const day = usedDay(secret, names, nowMs)
  if (day !== undefined) secretUses.call({ namespace, name, uid, day })
  const mark = invalidSinceLabel(names)
  if (labels[mark])
    return refused(`the Secret ${namespace}/${name} has the label ${mark}, so that its token is invalid`, { dependsOn: keysOf(claims) })
  metrics.legacy()
  const { secrets } = requireType('core/v1.ServiceAccount', account)
  const isGenerated = secrets?.some((reference) => reference.name === name) === true
  const key = `${domainGroup(names, 'authentication')}/legacy-token-${isGenerated ? 'autogenerated' : 'manual'}-secret`
  return {
    ...{ kind: 'user', method, user: userOf(claims, {}), dependsOn: keysOf(claims), auditAnnotations: { [key]: name } },
    ...(isGenerated && { warnings: [generatedWarning] }),
  }
}

const generatedWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.'

async function checkAccountToken(
  payload: Payload,
  { nowMs, timeoutMs }: TokenQuestion,
  { names, storage, metrics, isGateOn }: AccountTokenOptions,
): Promise<Authentication> {
  const claims = parseAccountClaims(names, payload)
  if (claims === undefined || payload['sub'] !== accountUserName(claims.namespace, claims.account.name)) {
    return refused('the claims of the token make no sense')
  }
  if (claims.bound?.kind === 'Node' && !isGateOn('ServiceAccountTokenNodeBindingValidation')) {
    return refused('the token is bound to a Node, and the feature gate ServiceAccountTokenNodeBindingValidation is off')
  }
  const times = readTimes(payload, nowMs)
  if (times.kind === 'bad')
    return refused(times.reason, times.detail === undefined ? {} : { detail: `service account token ${times.detail}` })
  const finding = await findAccount(claims, { storage, nowMs, timeoutMs })
  if (finding.kind === 'invalid') return refused(finding.reason, { dependsOn: keysOf(claims), detail: invalidated })
  const { warnAfter } = claims
  const group = domainGroup(names, 'authentication')
  const answer = {
    kind: 'user',
    method,
    user: userOf(claims, extraOf(claims, payload, { names, isGateOn })),
    dependsOn: keysOf(claims),
  } as const
  const validUntilMs = Math.min(times.untilMs, finding.validUntilMs)
  const isStale = warnAfter !== undefined && warnAfter !== 0 && nowMs > warnAfter * 1000
  if (isStale) metrics.stale()
  else metrics.valid()
  if (warnAfter === undefined || warnAfter === 0) return { ...answer, validUntilMs }
  if (!isStale) return { ...answer, validUntilMs: Math.min(validUntilMs, warnAfter * 1000) }
  const late = Math.floor(nowMs / 1000) - warnAfter
  const text = `subject: ${answer.user.name}, seconds after warning threshold: ${late}`
  return { ...answer, validUntilMs, auditAnnotations: { [`${group}/stale-token`]: text } }
}

/** The ID of the token, and its bound pod and node. */
function extraOf(
  { bound, node: ofPod }: AccountClaims,
  { jti }: Payload,
  { names, isGateOn }: Pick<AccountTokenOptions, 'names' | 'isGateOn'>,
) {
  const id = typeof jti === 'string' && jti !== '' && isGateOn('ServiceAccountTokenJTI') ? jti : undefined
  const node = bound?.kind === 'Node' ? bound : isGateOn('ServiceAccountTokenPodNodeInfo') ? ofPod : undefined
  const pod = bound?.kind === 'Pod' ? bound : undefined
  return {
    ...(id === undefined ? {} : { [credentialKey(names)]: [`JTI=${id}`] }),
    ...(node === undefined ? {} : { [extraKey(names, 'node-name')]: [node.name] }),
    ...(node === undefined || node.uid === '' ? {} : { [extraKey(names, 'node-uid')]: [node.uid] }),
    ...(pod === undefined ? {} : { [extraKey(names, 'pod-name')]: [pod.name], [extraKey(names, 'pod-uid')]: [pod.uid] }),
  }
}

function userOf({ namespace, account }: AccountClaims | SecretClaims, extra: Readonly<Record<string, readonly string[]>>) {
  return { name: accountUserName(namespace, account.name), uid: account.uid, groups: accountGroups(namespace), extra }
}

type Times =
  | { readonly kind: 'good'; readonly untilMs: number }
  | { readonly kind: 'bad'; readonly reason: string; readonly detail?: string }

const invalidated = 'service account token has been invalidated'

const isNumberOrAbsent = (time: unknown): time is number | undefined => time === undefined || typeof time === 'number'

/** The times in a token, if present: the issuer's clock may differ from ours. */
function readTimes({ exp, nbf, iat }: Payload, nowMs: number): Times {
  const times = [exp, nbf, iat]
  if (!times.every(isNumberOrAbsent)) return { kind: 'bad', reason: 'a time in the token is no number' }
  const [expires = Number.POSITIVE_INFINITY, starts = 0, issued = 0] = times
  const untilMs = expires * 1000 + limits.clockSkewMs
  if (nowMs > untilMs) return { kind: 'bad', reason: 'the token has expired', detail: 'has expired' }
  if (nowMs + limits.clockSkewMs < starts * 1000) return { kind: 'bad', reason: 'the token is not valid yet', detail: 'is not valid yet' }
  if (nowMs + limits.clockSkewMs < issued * 1000)
    return { kind: 'bad', reason: 'the token was issued in the future', detail: 'is issued in the future' }
  return { kind: 'good', untilMs }
}

function audiencesOf({ aud }: Payload): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((audience) => typeof audience === 'string') : []
}

/** A token's claims before verification; undefined for a token of another kind. */
function unverifiedPayload(token: string): Payload | undefined {
  const [, payload = '', signature, more] = token.split('.', 4)
  return signature !== undefined && more === undefined ? parseObject(Buffer.from(payload, 'base64url')) : undefined
}

/** A token's claims, if one of the keys has signed it with the key's own algorithm. */
async function verifiedPayload(token: string, keys: readonly VerificationKey[]): Promise<Payload | undefined> {
  const { compactVerify, decodeProtectedHeader } = await import('jose')
  const keyId = idOf(decodeProtectedHeader, token)
  const named = keys.filter(({ id }) => id === keyId)
  for (const { publicKey, algorithm } of named.length === 0 ? keys : named) {
    try {
      const { payload } = await compactVerify(token, publicKey, { algorithms: [algorithm] })
      return parseObject(payload)
    } catch {
      // Another key may fit.
    }
  }
  return undefined
}

function idOf(decodeHeader: (token: string) => { kid?: string }, token: string): string | undefined {
  try {
    return decodeHeader(token).kid
  } catch {
    return undefined
  }
}
