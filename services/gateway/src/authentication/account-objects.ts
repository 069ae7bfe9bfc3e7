import { type Freshness, objectKey, type StorageService } from '@orch/core/contracts'
import { type ApiObject, parseInstant } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import type { AccountClaims, SecretClaims } from '@orch/core/tokens'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { limits } from './limits.ts'

/** The existence of the objects that a token names. */
export type AccountFinding =
  | { readonly kind: 'valid'; readonly validUntilMs: number }
  | { readonly kind: 'invalid'; readonly reason: string }

export interface AccountObjectsOptions {
  readonly storage: StorageService
  readonly nowMs: number
  readonly timeoutMs: number
}

/** Storage keys of the objects that a token names: the account, and the object that the token is bound to. */
export function keysOf(claims: AccountClaims | SecretClaims): [account: string, ...bound: string[]] {
  const account = objectKey('core/serviceaccounts', claims.namespace, claims.account.name)
  if ('secretName' in claims) return [account, objectKey('core/secrets', claims.namespace, claims.secretName)]
  const { bound } = claims
  if (bound === undefined) return [account]
  return [account, keyOfBound(claims.namespace, bound)]
}

/** Storage key of the object that a token is bound to. */
export function keyOfBound(namespace: string, { kind, name }: Pick<NonNullable<AccountClaims['bound']>, 'kind' | 'name'>): string {
  if (kind === 'Node') return objectKey('core/nodes', undefined, name)
  return objectKey(kind === 'Pod' ? 'core/pods' : 'core/secrets', namespace, name)
}

/** Looks up the account, and the object that the token is bound to. No refusal is based on possibly outdated memory. */
export function findAccount(claims: AccountClaims, options: AccountObjectsOptions): Promise<AccountFinding> {
  const [accountKey, boundKey] = keysOf(claims)
  return twice(async (read) => {
    const account = check(await readObject(accountKey, read, options), claims.account.uid, options.nowMs)
    if (account.kind === 'invalid' || boundKey === undefined) return named('the service account', account)
    const bound = check(await readObject(boundKey, read, options), claims.bound?.uid ?? '', options.nowMs)
    if (bound.kind === 'invalid') return named('what the token is bound to', bound)
    return { kind: 'valid', validUntilMs: Math.min(account.validUntilMs, bound.validUntilMs) }
  })
}

/** The Secret and the account of a token. */
type SecretFinding =
  | { readonly kind: 'valid'; readonly secret: ApiObject; readonly account: ApiObject }
  | Extract<AccountFinding, { kind: 'invalid' }>

/** Looks for the Secret that holds the token, and for the account. Such a token ends at once when one of them is marked for deletion. */
export function findSecret(token: string, claims: SecretClaims, options: AccountObjectsOptions): Promise<SecretFinding> {
  const [accountKey, secretKey] = keysOf(claims)
  return twice<SecretFinding>(async (read) => {
    const secret = secretKey === undefined ? undefined : await readObject(secretKey, read, options)
    if (secret === undefined || isLeaving(secret)) return invalid('the Secret of the token is gone')
    if (!holdsToken(secret, token)) return invalid('the Secret holds another token')
    const account = await readObject(accountKey, read, options)
    if (account === undefined || isLeaving(account)) return invalid('the service account is gone')
    if (account.metadata.uid !== claims.account.uid) return invalid('the service account is another one of the same name')
    return { kind: 'valid', secret, account }
  })
}

async function twice<T extends { readonly kind: string }>(find: (read: Freshness) => Promise<T>): Promise<T> {
  const finding = await find({ kind: 'any' })
  return finding.kind === 'valid' ? finding : find({ kind: 'latest' })
}

async function readObject(key: string, read: Freshness, { storage, timeoutMs }: AccountObjectsOptions): Promise<ApiObject | undefined> {
  const { entry } = await storage.get({ key, read }, { timeoutMs })
  return entry === undefined ? undefined : readBytesOfOurs(entry.value).object
}

/** An object under deletion keeps its tokens valid for a time, as their holder may need them to shut down. */
function check(object: ApiObject | undefined, uid: string, nowMs: number): AccountFinding {
  if (object === undefined) return invalid('is gone')
  if (object.metadata.uid !== uid) return invalid('is another one of the same name')
  if (!isLeaving(object)) return { kind: 'valid', validUntilMs: Number.POSITIVE_INFINITY }
  const leavingMs = (parseInstant(object.metadata.deletionTimestamp ?? '')?.seconds ?? 0) * 1000
  const validUntilMs = leavingMs + limits.deletionGraceMs
  return validUntilMs < nowMs ? invalid('has been deleted') : { kind: 'valid', validUntilMs }
}

function named(what: string, finding: AccountFinding): AccountFinding {
  return finding.kind === 'valid' ? finding : invalid(`${what} ${finding.reason}`)
}

function invalid(reason: string): Extract<AccountFinding, { kind: 'invalid' }> {
  return { kind: 'invalid', reason }
}

function isLeaving({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp != null
}

function holdsToken(secret: ApiObject, token: string): boolean {
  const held = requireType('core/v1.Secret', secret).data?.['token'] ?? ''
  return Buffer.from(held, 'base64').toString() === token
}
