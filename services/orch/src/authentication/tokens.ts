import { namesOf, type Profile } from '@orch/core/names'
import { parseStaticTokens } from '@orch/gateway'
import {
  parseSigningKey,
  parseVerificationKeys,
  SettingsError,
  settingsOf,
  settingTypes,
  type Values,
  type VerificationKey,
} from '@orch/platform'
import { parseFlagFile, readFlagFile } from '../configuration/flag-files.ts'

const { bool, duration, list, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** Tokens that the server verifies itself: from a file, from Secrets, of service accounts. */
export const tokenSettings = {
  tokenAuthFile: setting(
    { flag: '--token-auth-file', type: path },
    'CSV file with static tokens, read once at the start: token,user,uid and optionally "group,group".',
  ),
  enableBootstrapTokenAuth: setting(
    { flag: '--enable-bootstrap-token-auth', type: bool, default: 'false' },
    'Accepts bootstrap tokens from Secrets in the system namespace.',
  ),
  serviceAccountKeyFile: setting(
    { flag: '--service-account-key-file', type: list, defaultDoc: 'the file of --tls-private-key-file' },
    'Files with RSA or ECDSA keys in PEM format, private or public, any number per file, that verify service account tokens. The signing key is always included.',
  ),
  serviceAccountSigningKeyFile: setting(
    { flag: '--service-account-signing-key-file', type: path },
    'Private key that signs service account tokens. Without it orch up generates one in its data folder. Separate gateways require it, and all of them the same one.',
  ),
  serviceAccountIssuer: setting(
    { flag: '--service-account-issuer', type: list, defaultDoc: 'https://<server>.default.svc.cluster.local' },
    'Issuers of service account tokens: the first is used for new tokens, all are accepted. Others find the verification keys at an https issuer.',
  ),
  serviceAccountJwksUri: setting(
    { flag: '--service-account-jwks-uri', type: string },
    'https URL where others find the public keys; by default /openid/v1/jwks of this server.',
  ),
  serviceAccountLookup: setting(
    { flag: '--service-account-lookup', type: bool, default: 'true' },
    'Accepts a token from a Secret only while the Secret and its service account exist. Other service account tokens are always looked up.',
  ),
  serviceAccountMaxTokenExpirationMs: setting(
    { flag: '--service-account-max-token-expiration', type: duration, default: '0s' },
    'Maximum lifetime of a requested token, from 1h to 2^32s; longer requests are shortened to it. 0 means no limit.',
  ),
  serviceAccountExtendTokenExpiration: setting(
    { flag: '--service-account-extend-token-expiration', type: bool, default: 'true' },
    'Extends the tokens that projected volumes of pods request to one year; use after the requested time is recorded in audit events.',
  ),
  apiAudiences: setting(
    { flag: '--api-audiences', type: list, defaultDoc: 'those of --service-account-issuer' },
    'Audiences of tokens for this server.',
  ),
}

type TokenValues = Values<typeof tokenSettings> & { readonly profile: Profile; readonly tlsPrivateKeyFile: string }

/** Checks the settings and reads their files. */
export function readTokens(settings: TokenValues) {
  const issuers = readIssuers(settings)
  const { tokenAuthFile, enableBootstrapTokenAuth, apiAudiences, serviceAccountSigningKeyFile: signingKeyFile } = settings
  return {
    /** Undefined without a token file. */
    staticTokens: tokenAuthFile === '' ? undefined : parseFlagFile('--token-auth-file', tokenAuthFile, parseStaticTokens),
    hasBootstrapTokens: enableBootstrapTokenAuth,
    serviceAccounts: {
      issuers,
      /** Undefined if none was given. */
      signingKey: signingKeyFile === '' ? undefined : parseFlagFile('--service-account-signing-key-file', signingKeyFile, parseSigningKey),
      /** Further verification keys. */
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

/** A text with a colon must be a URL, according to the JWT standard. */
function checkIssuer(issuer: string): void {
  const isGood = issuer !== '' && (!issuer.includes(':') || URL.canParse(issuer))
  if (!isGood) throw new SettingsError(`--service-account-issuer=${issuer}: must be a string, and a URL if it contains a colon`)
}

function readKeys({ serviceAccountKeyFile, tlsPrivateKeyFile }: TokenValues): VerificationKey[] {
  if (serviceAccountKeyFile.length === 0) return tlsPrivateKeyFile === '' ? [] : keysOfServing(tlsPrivateKeyFile)
  return serviceAccountKeyFile.flatMap((path) => parseFlagFile('--service-account-key-file', path, parseVerificationKeys))
}

/** A serving key of another type cannot sign tokens. */
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
