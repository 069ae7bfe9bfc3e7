import { X509Certificate } from 'node:crypto'
import { type ClaimMapping, type ClaimRules, type OidcAlgorithm, oidcAlgorithms, splitPem } from '@orch/gateway'
import { SettingsError, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'
import type { oidcSettings } from './settings.ts'

/** The OpenID provider whose tokens are accepted. */
export interface OidcProviderOptions extends ClaimRules {
  readonly signingAlgorithms: readonly OidcAlgorithm[]
  /** PEM; undefined: those of the machine. */
  readonly certificateAuthorities: string | undefined
}

type OidcValues = Values<typeof oidcSettings>

/** Checks the settings; undefined: no provider is trusted. */
export function readOidc(settings: OidcValues): OidcProviderOptions | undefined {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim } = settings
  if (issuer === '' && clientId === '') return refuseAlone(settings)
  if (issuer === '') throw new SettingsError('--oidc-issuer-url: needed with --oidc-client-id')
  if (clientId === '') throw new SettingsError('--oidc-client-id: needed with --oidc-issuer-url')
  checkIssuer(issuer)
  if (usernameClaim === '') throw new SettingsError('--oidc-username-claim: must be the name of a claim')
  return {
    issuer,
    audiences: [clientId],
    username: { kind: 'claim', claim: usernameClaim, prefix: prefixOf(settings) },
    groups: groupsOf(settings),
    uid: undefined,
    extra: new Map(),
    claimConditions: [],
    userConditions: [],
    requiredClaims: Object.fromEntries(settings.oidcRequiredClaim.map(parseRequired)),
    signingAlgorithms: settings.oidcSigningAlgs.map(parseAlgorithm),
    certificateAuthorities: readAuthorities(settings.oidcCaFile),
  }
}

/** Whether a provider is described by flags. */
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

/** Names of a provider meet no others, unless that is wanted. Addresses are unique as they are. */
function prefixOf({ oidcIssuerUrl, oidcUsernameClaim, oidcUsernamePrefix }: OidcValues): string {
  if (oidcUsernamePrefix === '-') return ''
  return oidcUsernamePrefix === '' && oidcUsernameClaim !== 'email' ? `${oidcIssuerUrl}#` : oidcUsernamePrefix
}

function groupsOf({ oidcGroupsClaim: claim, oidcGroupsPrefix: prefix }: OidcValues): ClaimMapping | undefined {
  return claim === '' ? undefined : { kind: 'claim', claim, prefix }
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
