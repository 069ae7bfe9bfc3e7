import { X509Certificate } from 'node:crypto'
import { domainGroup, namesOf, type Profile, profiles } from '@orch/core/names'
import {
  type AuthorizationMode,
  type ClaimRules,
  type OidcAlgorithm,
  oidcAlgorithms,
  parseStaticTokens,
  type RequestHeaderOptions,
  splitPem,
} from '@orch/gateway'
import {
  parseSigningKey,
  parseVerificationKeys,
  readFlagFile,
  SettingsError,
  type SettingType,
  settingsOf,
  settingTypes,
  type Values,
  type VerificationKey,
} from '@orch/platform'
import { parseFlagFile, readCertificateFile } from '../configuration/files.ts'

const { bool, duration, list, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** true, false, or unset to follow another setting. */
const boolOrUnsaid: SettingType<boolean | 'unsaid'> = { ...bool, parse: (text) => (text === '' ? 'unsaid' : bool.parse(text)) }

/** ID tokens of an OpenID provider. */
const oidcSettings = {
  oidcIssuerUrl: setting(
    { flag: '--oidc-issuer-url', type: string },
    'Issuer URL of the OpenID provider whose ID tokens are accepted: https, and without /.well-known/openid-configuration.',
  ),
  oidcClientId: setting(
    { flag: '--oidc-client-id', type: string },
    'Client ID that must be in the audience of all ID tokens. Required with --oidc-issuer-url.',
  ),
  oidcCaFile: setting(
    { flag: '--oidc-ca-file', type: path },
    "Certificate authorities of the provider's HTTPS endpoint; by default those of the system.",
  ),
  oidcUsernameClaim: setting({ flag: '--oidc-username-claim', type: string, default: 'sub' }, 'Claim that contains the user name.'),
  oidcUsernamePrefix: setting(
    { flag: '--oidc-username-prefix', type: string },
    'Prefix for user names, to avoid clashes with other authenticators. Default: the issuer URL and # for claims other than email; - means no prefix.',
  ),
  oidcGroupsClaim: setting(
    { flag: '--oidc-groups-claim', type: string },
    "Claim that contains the user's groups, a list of strings. By default users have no groups.",
  ),
  oidcGroupsPrefix: setting(
    { flag: '--oidc-groups-prefix', type: string },
    'Prefix for group names. Without it the provider can put users into any group, such as system:masters.',
  ),
  oidcRequiredClaim: setting(
    { flag: '--oidc-required-claim', type: list },
    'Claim and the value that it must have, such as azp=deployer. May be repeated; all must match.',
  ),
  oidcSigningAlgs: setting(
    { flag: '--oidc-signing-algs', type: list, default: 'RS256' },
    'Signature algorithms that are accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  ),
}

export const authenticationSettings = {
  clientCaFile: setting(
    { flag: '--client-ca-file', type: path },
    "Certificate authorities whose client certificates are accepted, in addition to the server's own. The file is reloaded when it changes.",
  ),
  authenticationConfig: setting(
    { flag: '--authentication-config', type: path },
    'AuthenticationConfiguration: issuers of JSON Web Tokens, and where requests without credentials are let in. Instead of the --oidc flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  ),
  /** Authenticating proxies, which send the user in headers. */
  requestheader: {
    caFile: setting(
      { flag: '--requestheader-client-ca-file', type: path },
      'Certificate authorities of authenticating proxies. Identity headers are ignored without a certificate of one of them. The file is reloaded when it changes.',
    ),
    allowedNames: setting(
      { flag: '--requestheader-allowed-names', type: list },
      "Accepted common names of a proxy's certificate; empty accepts any.",
    ),
    usernameHeaders: setting(
      { flag: '--requestheader-username-headers', type: list },
      'Headers that contain the user name, such as X-Remote-User; the first one with a value is used. Required with --requestheader-client-ca-file.',
    ),
    uidHeaders: setting(
      { flag: '--requestheader-uid-headers', type: list },
      'Headers that contain the UID of the user, such as X-Remote-Uid; the first one with a value is used.',
    ),
    groupHeaders: setting(
      { flag: '--requestheader-group-headers', type: list },
      "Headers that contain the user's groups, such as X-Remote-Group; each value is one group.",
    ),
    extraHeaderPrefixes: setting(
      { flag: '--requestheader-extra-headers-prefix', type: list },
      'Prefixes of headers that contain extra attributes of the user, such as X-Remote-Extra-; the rest of the header name is the key.',
    ),
  },
  ...oidcSettings,
  tokenWebhook: {
    configFile: setting(
      { flag: '--authentication-token-webhook-config-file', type: path },
      'Client configuration file of the webhook that receives TokenReviews for tokens that no other authenticator accepts.',
    ),
    version: setting(
      { flag: '--authentication-token-webhook-version', type: string, default: 'v1beta1' },
      'Version of the TokenReviews that are sent to the webhook: v1 or v1beta1, with or without the group.',
    ),
    cacheTtlMs: setting(
      { flag: '--authentication-token-webhook-cache-ttl', type: duration, default: '2m' },
      "Lifetime of the webhook's cached decisions, positive and negative.",
    ),
  },
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
  anonymousAuth: setting(
    { flag: '--anonymous-auth', type: boolOrUnsaid, defaultDoc: 'true, but false with --authorization-mode=AlwaysAllow' },
    'Treats requests without credentials as system:anonymous instead of refusing them. They have the permissions of system:unauthenticated. With --authorization-mode=AlwaysAllow, true requires a loopback address.',
  ),
}

export type AuthenticationOptions = ReturnType<typeof readAuthentication>

type AuthenticationValues = Values<typeof authenticationSettings> & { readonly profile: Profile; readonly tlsPrivateKeyFile: string }

/** Checks the settings and reads their files. Authorization is already set up. */
export function readAuthentication(settings: AuthenticationValues, modes: readonly AuthorizationMode[]) {
  const { anonymousAuth, clientCaFile, authenticationConfig: configurationFile } = settings
  if (configurationFile !== '' && hasOidcFlags(settings)) {
    throw new SettingsError('--authentication-config: not together with the --oidc flags')
  }
  if (clientCaFile !== '') readCertificateFile('--client-ca-file', clientCaFile)
  return {
    // If everything is allowed, anonymous requests are admitted only by an explicit setting.
    anonymousAuth: anonymousAuth === 'unsaid' ? !modes.includes('AlwaysAllow') : anonymousAuth,
    /** The reason why the file may not set anonymous requests; undefined if it may. */
    anonymousElsewhere: elsewhere(anonymousAuth, modes),
    /** The authentication configuration file; '' for none. */
    configurationFile,
    /** Further authorities of client certificates; '' for none. */
    clientCaFile,
    proxy: readProxy(settings),
    oidc: readOidc(settings),
    tokenWebhook: readTokenWebhook(settings),
    tokens: readTokens(settings),
  }
}

function elsewhere(anonymousAuth: boolean | 'unsaid', modes: readonly AuthorizationMode[]): string | undefined {
  if (anonymousAuth !== 'unsaid') return 'not together with --anonymous-auth'
  // There anonymous requests may do everything, which needs an explicit flag that is checked with the address.
  return modes.includes('AlwaysAllow') ? 'not together with --authorization-mode=AlwaysAllow' : undefined
}

/** The server that authenticates tokens; undefined for none. */
function readTokenWebhook({ tokenWebhook }: AuthenticationValues) {
  const version = parseVersion(tokenWebhook.version)
  return tokenWebhook.configFile === '' ? undefined : { ...tokenWebhook, version }
}

function parseVersion(text: string): 'v1' | 'v1beta1' {
  const prefix = profiles.map((profile) => `${domainGroup(namesOf(profile), 'authentication')}/`).find((known) => text.startsWith(known))
  const version = text.slice(prefix?.length ?? 0)
  if (version === 'v1' || version === 'v1beta1') return version
  throw new SettingsError(`--authentication-token-webhook-version=${text}: must be one of v1, v1beta1`)
}

/** Checks the settings; undefined if no proxy is trusted. */
function readProxy({ requestheader }: AuthenticationValues) {
  const { caFile, allowedNames, ...headers } = requestheader
  checkHeaderNames('--requestheader-username-headers', headers.usernameHeaders)
  checkHeaderNames('--requestheader-uid-headers', headers.uidHeaders)
  checkHeaderNames('--requestheader-group-headers', headers.groupHeaders)
  checkHeaderNames('--requestheader-extra-headers-prefix', headers.extraHeaderPrefixes)
  if (caFile === '') {
    if ([...Object.values(headers), allowedNames].every(({ length }) => length === 0)) return undefined
    throw new SettingsError('--requestheader-client-ca-file: needed with the other --requestheader flags: without it no proxy is trusted')
  }
  readCertificateFile('--requestheader-client-ca-file', caFile)
  if (headers.usernameHeaders.length === 0) {
    throw new SettingsError('--requestheader-username-headers: needed with --requestheader-client-ca-file: at least one header name')
  }
  return requestheader satisfies RequestHeaderOptions & { readonly caFile: string }
}

function checkHeaderNames(flag: string, names: readonly string[]): void {
  const bad = names.find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
  if (bad !== undefined) throw new SettingsError(`${flag}: ${JSON.stringify(bad)}: must be the name of a header`)
}

type OidcValues = Values<typeof oidcSettings>

/** Checks the settings; undefined if no provider is trusted. */
function readOidc(settings: OidcValues) {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim, oidcGroupsClaim: claim } = settings
  if (issuer === '' && clientId === '') return refuseAlone(settings)
  if (issuer === '') throw new SettingsError('--oidc-issuer-url: needed with --oidc-client-id')
  if (clientId === '') throw new SettingsError('--oidc-client-id: needed with --oidc-issuer-url')
  checkProvider(issuer)
  if (usernameClaim === '') throw new SettingsError('--oidc-username-claim: must be the name of a claim')
  const rules: ClaimRules = {
    issuer,
    audiences: [clientId],
    username: { kind: 'claim', claim: usernameClaim, prefix: prefixOf(settings) },
    groups: claim === '' ? undefined : { kind: 'claim', claim, prefix: settings.oidcGroupsPrefix },
    uid: undefined,
    extra: new Map(),
    claimConditions: [],
    userConditions: [],
    requiredClaims: Object.fromEntries(settings.oidcRequiredClaim.map(parseRequired)),
  }
  return {
    ...rules,
    signingAlgorithms: settings.oidcSigningAlgs.map(parseAlgorithm),
    /** PEM; undefined for the machine's authorities. */
    certificateAuthorities: readAuthorities(settings.oidcCaFile),
  }
}

/** True if flags describe a provider. */
function hasOidcFlags({ oidcIssuerUrl, oidcClientId, ...rest }: OidcValues): boolean {
  return oidcIssuerUrl !== '' || oidcClientId !== '' || isAnyGiven(rest)
}

/** Flags that would have no effect. */
function refuseAlone(settings: OidcValues): undefined {
  if (isAnyGiven(settings)) throw new SettingsError('--oidc-issuer-url: needed with the other --oidc flags')
}

type Others = Omit<OidcValues, 'oidcIssuerUrl' | 'oidcClientId'>

function isAnyGiven({ oidcCaFile, oidcGroupsClaim, oidcGroupsPrefix, oidcUsernamePrefix, oidcRequiredClaim }: Others): boolean {
  return [oidcCaFile, oidcGroupsClaim, oidcGroupsPrefix, oidcUsernamePrefix].some((text) => text !== '') || oidcRequiredClaim.length > 0
}

function checkProvider(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url?.protocol !== 'https:') throw new SettingsError(`--oidc-issuer-url=${issuer}: must be an address that begins with https://`)
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new SettingsError(`--oidc-issuer-url: must be an address without query, fragment and user`)
  }
}

/** Prefixes separate a provider's names from others, unless disabled. Email addresses are unique by themselves. */
function prefixOf({ oidcIssuerUrl, oidcUsernameClaim, oidcUsernamePrefix }: OidcValues): string {
  if (oidcUsernamePrefix === '-') return ''
  return oidcUsernamePrefix === '' && oidcUsernameClaim !== 'email' ? `${oidcIssuerUrl}#` : oidcUsernamePrefix
}

function parseRequired(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new SettingsError(`--oidc-required-claim=${text}: must be claim=value`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function parseAlgorithm(text: string): OidcAlgorithm {
  const known = oidcAlgorithms.find((algorithm) => algorithm === text)
  if (known === undefined) throw new SettingsError(`--oidc-signing-algs=${text}: must be one of ${oidcAlgorithms.join(', ')}`)
  return known
}

function readAuthorities(path: string): string | undefined {
  if (path === '') return undefined
  const pem = readCertificateFile('--oidc-ca-file', path)
  if (!splitPem(pem).every((text) => new X509Certificate(text).ca)) {
    throw new SettingsError(`--oidc-ca-file=${path}: one of its certificates is not that of an authority: its CA flag is not set`)
  }
  return pem
}

/** Checks the settings and reads their files. */
function readTokens(settings: AuthenticationValues) {
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

function readIssuers({ serviceAccountIssuer, profile }: AuthenticationValues): readonly [string, ...string[]] {
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

function readKeys({ serviceAccountKeyFile, tlsPrivateKeyFile }: AuthenticationValues): VerificationKey[] {
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
