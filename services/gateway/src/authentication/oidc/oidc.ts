import { parseObject } from '@orch/core/json'
import { pauses, runWithPauses } from '@orch/platform'
import type { JWK } from 'jose'
import type { Surroundings } from '../../surroundings.ts'
import { type Authentication, none, refused, type TokenAuthenticator, type TokenQuestion } from '../authenticator.ts'
import { type ClaimRules, checkClaims } from './claims.ts'
import type { FetchJson } from './fetch-json.ts'
import { limits } from './limits.ts'
import { Provider } from './provider.ts'

/** Supported signature algorithms: all with a public key. */
export const oidcAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const
export type OidcAlgorithm = (typeof oidcAlgorithms)[number]

/** One issuer whose tokens are accepted. */
export interface IssuerOptions extends ClaimRules, Pick<Surroundings, 'clock' | 'log'> {
  readonly signingAlgorithms: readonly OidcAlgorithm[]
  /** The URL of the discovery document; by default below the issuer. */
  readonly discoveryUrl?: string | undefined
  readonly fetchJson: FetchJson
}

/** The claims and keys of one issuer. Its provider is asked when a token first needs a key. */
export class Issuer {
  readonly options: IssuerOptions
  readonly provider: Provider

  constructor(options: IssuerOptions) {
    this.options = options
    this.provider = new Provider(options)
  }
}

/** ID tokens of OpenID providers, each found by its issuer; an unreachable one does not delay tokens of another. */
export class OidcAuthenticator implements TokenAuthenticator {
  readonly name = 'oidc'
  #issuers: ReadonlyMap<string, Issuer>

  constructor(issuers: readonly Issuer[]) {
    this.#issuers = byUrl(issuers)
  }

  /** Replaces the issuers. Earlier accepted tokens are in the caches that accepted them. */
  replace(issuers: readonly Issuer[]): void {
    this.#issuers = byUrl(issuers)
  }

  authenticate(token: string, question: TokenQuestion): Authentication | Promise<Authentication> {
    if (this.#issuers.size === 0) return none
    const parts = readUnverified(token)
    const { iss } = parts?.claims ?? {}
    const issuer = typeof iss === 'string' ? this.#issuers.get(iss) : undefined
    return parts === undefined || issuer === undefined ? none : check(token, parts, question, issuer)
  }
}

function byUrl(issuers: readonly Issuer[]): ReadonlyMap<string, Issuer> {
  return new Map(issuers.map((issuer) => [issuer.options.issuer, issuer]))
}

type Fields = Readonly<Record<string, unknown>>

interface Parts {
  readonly header: Fields
  readonly claims: Fields
}

async function check(
  token: string,
  { header }: Parts,
  { nowMs, timeoutMs }: TokenQuestion,
  { options, provider }: Issuer,
): Promise<Authentication> {
  const { alg, kid, typ } = header
  const algorithm = options.signingAlgorithms.find((allowed) => allowed === alg)
  if (algorithm === undefined) return refused('the signature algorithm is not allowed')
  if (typeof typ === 'string' && /^(?:application\/)?at\+jwt$/i.test(typ)) return refused('it is an access token, not an ID token')
  const keys = await provider.keysFor(typeof kid === 'string' ? kid : undefined, timeoutMs).catch((error: Error) => error)
  // The provider may be reachable, or have published a new key, by the next request.
  if (keys instanceof Error) return { ...refused(keys.message), keptMsMax: 0 }
  const claims = await verify(token, keys, algorithm)
  if (claims === undefined) return { ...refused('the signature is of none of the keys of the provider'), keptMsMax: 0 }
  const outcome = await runWithPauses(checkClaims(claims, options, nowMs), pauses())
  if (outcome.kind === 'refused') return outcome
  return { kind: 'user', user: outcome.user, method: 'OpenID Connect token', validUntilMs: outcome.expiresMs }
}

/** The claims, if one of the keys has signed them. */
async function verify(token: string, keys: readonly JWK[], algorithm: OidcAlgorithm): Promise<Fields | undefined> {
  const { compactVerify, importJWK } = await import('jose')
  for (const key of keys.filter((one) => fits(one, algorithm)).slice(0, limits.keysTriedMax)) {
    try {
      const { payload } = await compactVerify(token, await importJWK(key, algorithm), { algorithms: [algorithm] })
      return parseObject(payload)
    } catch {
      // An unusable key, or one that has not signed this token: the next one may fit.
    }
  }
  return undefined
}

const curves: Partial<Record<OidcAlgorithm, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

function fits({ kty, crv, alg, d, k }: JWK, algorithm: OidcAlgorithm): boolean {
  if (alg !== undefined && alg !== algorithm) return false
  if (d !== undefined || k !== undefined) return false
  return algorithm.startsWith('ES') ? kty === 'EC' && crv === curves[algorithm] : kty === 'RSA'
}

/** Header and claims of the text, unverified: they only show which issuer the token may be from. */
function readUnverified(token: string): Parts | undefined {
  const [header, claims, , more] = token.split('.', 4)
  if (header === undefined || claims === undefined || more !== undefined) return undefined
  const [readHeader, readClaims] = [header, claims].map((part) => parseObject(Buffer.from(part, 'base64url')))
  return readHeader === undefined || readClaims === undefined ? undefined : { header: readHeader, claims: readClaims }
}
