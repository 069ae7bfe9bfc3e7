import { namesOf, type Profile } from '@orch/core/names'
import { parseStaticTokens, type StaticTokens } from '@orch/gateway'
import {
  messageOf,
  parseSigningKey,
  parseVerificationKeys,
  SettingsError,
  type SigningKey,
  type Values,
  type VerificationKey,
} from '@orch/platform'
import { readFlagFile } from '../configuration/flag-files.ts'
import type { tokenSettings } from './tokens-settings.ts'

/** Tokens that the server itself knows. */
export interface TokenOptions {
  /** Undefined: there is no file of tokens. */
  readonly staticTokens: StaticTokens | undefined
  readonly hasBootstrapTokens: boolean
  readonly serviceAccounts: AccountOptions
  readonly audiences: readonly string[]
}

/** How tokens of service accounts are made and checked. */
interface AccountOptions {
  readonly issuers: readonly [string, ...string[]]
  /** Undefined: none was given. */
  readonly signingKey: SigningKey | undefined
  /** Further keys that verify. */
  readonly keys: readonly VerificationKey[]
  readonly keysUri: string
  readonly looksUpSecrets: boolean
  readonly expirationSecondsMax: number
  readonly extendsExpiration: boolean
}

type TokenValues = Values<typeof tokenSettings> & { readonly profile: Profile; readonly tlsPrivateKeyFile: string }

/** Checks the settings and reads the files that they name. */
export function readTokens(settings: TokenValues): TokenOptions {
  const issuers = readIssuers(settings)
  const { tokenAuthFile, enableBootstrapTokenAuth, apiAudiences } = settings
  return {
    staticTokens: tokenAuthFile === '' ? undefined : inFile('--token-auth-file', tokenAuthFile, parseStaticTokens),
    hasBootstrapTokens: enableBootstrapTokenAuth,
    serviceAccounts: {
      issuers,
      signingKey: readSigningKey(settings.serviceAccountSigningKeyFile),
      keys: readKeys(settings),
      keysUri: readKeysUri(settings.serviceAccountJwksUri),
      looksUpSecrets: settings.serviceAccountLookup,
      expirationSecondsMax: readLongestLife(settings.serviceAccountMaxTokenExpirationMs),
      extendsExpiration: settings.serviceAccountExtendTokenExpiration,
    },
    audiences: apiAudiences.length === 0 ? issuers : apiAudiences,
  }
}

function readIssuers({ serviceAccountIssuer, profile }: TokenValues): readonly [string, ...string[]] {
  const [first, ...others] = serviceAccountIssuer
  for (const issuer of serviceAccountIssuer) checkIssuer(issuer)
  const { serverServiceName, clusterDomain } = namesOf(profile)
  return first === undefined ? [`https://${serverServiceName}.default.svc.${clusterDomain}`] : [first, ...others]
}

/** A text with a colon must be a URL, as the standard of such tokens says. */
function checkIssuer(issuer: string): void {
  const isGood = issuer !== '' && (!issuer.includes(':') || URL.canParse(issuer))
  if (!isGood) throw new SettingsError(`--service-account-issuer=${issuer}: must be a string, and a URL if it contains a colon`)
}

function readSigningKey(path: string): SigningKey | undefined {
  return path === '' ? undefined : inFile('--service-account-signing-key-file', path, parseSigningKey)
}

function readKeys({ serviceAccountKeyFile, tlsPrivateKeyFile }: TokenValues): VerificationKey[] {
  if (serviceAccountKeyFile.length === 0) return tlsPrivateKeyFile === '' ? [] : keysOfServing(tlsPrivateKeyFile)
  return serviceAccountKeyFile.flatMap((path) => inFile('--service-account-key-file', path, parseVerificationKeys))
}

/** A serving key of another kind is none that tokens are signed with. */
function keysOfServing(path: string): VerificationKey[] {
  const text = readFlagFile('--tls-private-key-file', path)
  try {
    return parseVerificationKeys(text)
  } catch {
    return []
  }
}

function readKeysUri(text: string): string {
  if (text === '' || (URL.canParse(text) && new URL(text).protocol === 'https:')) return text
  throw new SettingsError(`--service-account-jwks-uri=${text}: must be an address that begins with https://`)
}

const hourMs = 3_600_000

function readLongestLife(lifeMs: number): number {
  if (lifeMs !== 0 && (lifeMs < hourMs || lifeMs > 2 ** 32 * 1000)) {
    throw new SettingsError('--service-account-max-token-expiration: must be between 1h and 2^32 seconds, or 0')
  }
  return Math.floor(lifeMs / 1000)
}

/** What a file holds; an error names the file. */
function inFile<T>(flag: string, path: string, parse: (text: string) => T): T {
  const text = readFlagFile(flag, path)
  try {
    return parse(text)
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  }
}
