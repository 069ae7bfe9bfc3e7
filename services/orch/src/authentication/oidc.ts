import { X509Certificate } from 'node:crypto'
import { type ClaimRules, type OidcAlgorithm, oidcAlgorithms, splitPem } from '@orch/gateway'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'

const { list, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** ID tokens of an OpenID provider. */
export const oidcSettings = {
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

type OidcValues = Values<typeof oidcSettings>

/** Checks the settings; undefined if no provider is trusted. */
export function readOidc(settings: OidcValues) {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim, oidcGroupsClaim: claim } = settings
  if (issuer === '' && clientId === '') return refuseAlone(settings)
  if (issuer === '') throw new SettingsError('--oidc-issuer-url: needed with --oidc-client-id')
  if (clientId === '') throw new SettingsError('--oidc-client-id: needed with --oidc-issuer-url')
  checkIssuer(issuer)
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
export function hasOidcFlags({ oidcIssuerUrl, oidcClientId, ...rest }: OidcValues): boolean {
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

function checkIssuer(issuer: string): void {
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
