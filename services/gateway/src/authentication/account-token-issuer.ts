import type { Names } from '@orch/core/names'
import { type AccountClaims, accountUserName, printAccountClaims } from '@orch/core/tokens'
import type { SigningKey, VerificationKey } from '@orch/platform'

/** The issuer of tokens of service accounts. */
export interface AccountTokenIssuer {
  /** Written into tokens; if it is an https URL, others can find the keys from it. */
  readonly name: string
  readonly signingKey: SigningKey
  /** Each key verifies. */
  readonly keys: readonly VerificationKey[]
  /** The URL of the keys; '' for the server's own. */
  readonly keysUri: string
  /** Maximum lifetime of a token in seconds; 0 for no limit. */
  readonly expirationSecondsMax: number
  /** True if tokens of pods are valid longer than requested, and their later use is noted, to find pods that do not renew them. */
  readonly extendsExpiration: boolean
}

/** The contents of a token. Times are seconds since 1970. */
export interface AccountTokenRequest {
  readonly claims: AccountClaims
  readonly audiences: readonly string[]
  readonly issuedAt: number
  readonly expiresAt: number
  /** ID of the token; undefined for none. */
  readonly id?: string | undefined
}

export async function signAccountToken(
  { name, signingKey: { id, algorithm, privateKey } }: AccountTokenIssuer,
  { claims, audiences, issuedAt, expiresAt, id: jti }: AccountTokenRequest,
  names: Names,
): Promise<string> {
  const { CompactSign } = await import('jose')
  const payload = {
    aud: audiences,
    exp: expiresAt,
    iat: issuedAt,
    iss: name,
    ...(jti === undefined ? {} : { jti }),
    ...printAccountClaims(names, claims),
    nbf: issuedAt,
    sub: accountUserName(claims.namespace, claims.account.name),
  }
  return new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: algorithm, kid: id }).sign(privateKey)
}

/** The public keys in published form, each once. */
export function toKeySet({ keys }: AccountTokenIssuer): object {
  const byId = new Map(keys.map((key) => [key.id, key]))
  return {
    keys: [...byId.values()].map(({ id, algorithm, publicKey }) => ({
      use: 'sig',
      kid: id,
      alg: algorithm,
      ...publicKey.export({ format: 'jwk' }),
    })),
  }
}

/** The provider document with which other servers check tokens of this one; undefined if its issuer is not a URL. */
export function toProviderDocument({ name, keys, keysUri }: AccountTokenIssuer, ownKeysUri: string): object | undefined {
  if (!name.startsWith('https://')) return undefined
  return {
    issuer: name,
    jwks_uri: keysUri === '' ? ownKeysUri : keysUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  }
}
