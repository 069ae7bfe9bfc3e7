import { hash, timingSafeEqual } from 'node:crypto'
import type { StorageService } from '@orch/core/contracts'
import { controlPath } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import {
  type AnonymousAccess,
  createCertificateAuthenticator,
  createFetchJson,
  createRequestHeaderAuthenticator,
  createWebhookAuthenticator,
  Issuer,
  noCredential,
  OidcAuthenticator,
  type OpenedAuthentication,
  openAuthentication,
  outsideCredentialKey,
  type TokenAuthenticator,
  type TokensElsewhere,
} from '@orch/gateway'
import {
  type CertificateFiles,
  generateSigningKey,
  type Metrics,
  messageOf,
  parseSigningKey,
  printSigningKey,
  type SigningKey,
  systemChance,
} from '@orch/platform'
import { StartError } from '../process/terminal.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import { type ConfiguredAuthentication, openConfiguredAuthentication } from './configuration.ts'
import type { AuthenticationOptions } from './settings.ts'

export interface AuthenticationNeeds {
  readonly authentication: AuthenticationOptions
  readonly storage: StorageService
  readonly metrics: Metrics
  /** The key that signs service account tokens if the settings name none. */
  readonly ownSigningKey?: SigningKey | undefined
  /** The thread that authenticates requests for this one; undefined if this thread does. */
  readonly authenticationElsewhere?: AuthenticationElsewhere | undefined
  /** Called when all tokens have to be evaluated again. */
  readonly onTokensForgotten?: (() => void) | undefined
  /** The token for controlling the server; undefined without a control. */
  readonly controlToken?: string | undefined
}

/** The decisions of another thread of the process, which alone reads the configuration, and calls providers and webhooks. */
export interface AuthenticationElsewhere {
  readonly tokens: TokensElsewhere
  /** True if the current configuration admits a request without a credential. */
  readonly isAnonymousAllowed: (path: string) => Promise<boolean>
}

/** Authentication of a gateway. */
export type GatewayAuthentication = OpenedAuthentication & { readonly anonymous: AnonymousAccess }

/** All configured authenticators, and the admission of requests without credentials. */
export async function openGatewayAuthentication(needs: AuthenticationNeeds, surroundings: Surroundings): Promise<GatewayAuthentication> {
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { tokens } = needs.authentication
  const configured = await openConfigured(needs, surroundings)
  const isElsewhere = needs.authenticationElsewhere !== undefined
  const external = await openExternalAuthentication(
    isElsewhere ? { ...needs.authentication, oidc: undefined, tokenWebhook: undefined } : needs.authentication,
    surroundings,
    configured?.oidc,
  )
  const signingKey = signingKeyOf(needs)
  const authentication = openAuthentication({
    names: catalogue.names,
    isGateOn: catalogue.isGateOn,
    storage: needs.storage,
    clock,
    log,
    metrics: needs.metrics,
    random: chance.fraction,
    requests: external.requests,
    ...tokens,
    serviceAccounts: { ...tokens.serviceAccounts, signingKey, keys: [signingKey, ...tokens.serviceAccounts.keys] },
    otherTokens: [...(needs.controlToken === undefined ? [] : [controlAuthenticator(needs.controlToken)]), ...external.tokens],
    elsewhere: needs.authenticationElsewhere?.tokens,
  })
  if (configured !== undefined) {
    configured.onReplaced = () => {
      authentication.forgetTokens()
      needs.onTokensForgotten?.()
    }
  }
  lifecycle.opened('authentication', authentication)
  return { ...authentication, anonymous: configured?.anonymous ?? anonymousOf(needs) }
}

/** Without a configuration a flag decides, for all paths. */
function anonymousOf({ authentication, authenticationElsewhere: elsewhere }: AuthenticationNeeds): AnonymousAccess {
  const { anonymousAuth, configurationFile } = authentication
  return { isAllowed: elsewhere === undefined || configurationFile === '' ? () => anonymousAuth : elsewhere.isAnonymousAllowed }
}

async function openConfigured(
  { authentication, metrics, authenticationElsewhere: elsewhere }: AuthenticationNeeds,
  surroundings: Surroundings,
): Promise<ConfiguredAuthentication | undefined> {
  const { configurationFile: file, anonymousAuth, anonymousElsewhere, tokens } = authentication
  if (file === '' || elsewhere !== undefined) return undefined
  const ownIssuers = tokens.serviceAccounts.issuers
  return openConfiguredAuthentication({ file, metrics, anonymousAuth, anonymousElsewhere, ownIssuers }, surroundings)
}

/** Name of the file of the key that signs tokens of service accounts. */
export const signingKeyName = 'service-account.key'

/** The signing key of service account tokens, stored with the certificates; it is created at the first start. */
export function keepSigningKey(files: CertificateFiles): SigningKey {
  const kept = files.read(signingKeyName)
  if (kept !== undefined) {
    const key = parseKey(kept, signingKeyName)
    // Earlier releases wrote it in a format that kube-apiserver signs with, but does not verify with.
    if (kept.startsWith('-----BEGIN PRIVATE KEY')) files.write(signingKeyName, printSigningKey(key))
    return key
  }
  const made = generateSigningKey()
  files.write(signingKeyName, made)
  return parseKey(made, signingKeyName)
}

function signingKeyOf({ authentication, ownSigningKey }: AuthenticationNeeds): SigningKey {
  const key = authentication.tokens.serviceAccounts.signingKey ?? ownSigningKey
  if (key === undefined) throw new StartError('--service-account-signing-key-file is needed: tokens of service accounts have to be signed')
  return key
}

function parseKey(pem: string, name: string): SigningKey {
  try {
    return parseSigningKey(pem)
  } catch (error) {
    throw new StartError(`${name} cannot sign tokens of service accounts: ${messageOf(error)}`, { cause: error })
  }
}

/** Authenticators with external dependencies (proxies, authorities, a provider, a webhook), in the order of their calls; `configured` handles tokens of the issuers in a file. */
async function openExternalAuthentication(
  { proxy, oidc, tokenWebhook, tokens: { audiences } }: AuthenticationOptions,
  surroundings: Surroundings,
  configured?: OidcAuthenticator,
) {
  const { catalogue, clock, chance, lifecycle, log } = surroundings
  const { names } = catalogue
  const requests = [...(proxy === undefined ? [] : [createRequestHeaderAuthenticator(proxy)]), createCertificateAuthenticator(catalogue)]
  const tokens: TokenAuthenticator[] = []
  if (configured !== undefined) tokens.push(configured)
  if (oidc !== undefined)
    tokens.push(
      new OidcAuthenticator([
        new Issuer({ ...oidc, credentialKey: outsideCredentialKey(catalogue), fetchJson: createFetchJson(oidc), clock, log }),
      ]),
    )
  if (tokenWebhook !== undefined) {
    const { configFile, version, cacheTtlMs } = tokenWebhook
    const file = { flag: '--authentication-token-webhook-config-file', path: configFile, to: 'authentication/webhook' }
    const sender = lifecycle.opened('token webhook', await openWebhookSender(file, surroundings))
    tokens.push(createWebhookAuthenticator({ send: sender.send, version, audiences, cacheTtlMs, names, clock, random: chance.fraction }))
  }
  return { requests, tokens }
}

/** The user of the control token, with its rights. */
export const controlUser: { readonly name: string; readonly rules: readonly PolicyRule[] } = {
  name: 'system:control',
  rules: [{ verbs: ['*'], nonResourceURLs: [controlPath, `${controlPath}/*`] }],
}

const fileName = 'control.token'
const tokenBytes = 32

/** The token of a server's control, stored with its certificates; it is created at the first start, independent of the seed. */
export function keepControlToken(files: CertificateFiles): string {
  const kept = files.read(fileName)
  if (kept !== undefined) return kept
  const made = Buffer.from(systemChance.bytes(tokenBytes)).toString('base64url')
  files.write(fileName, made)
  return made
}

/** Authenticates the control token. */
function controlAuthenticator(token: string): TokenAuthenticator {
  const digest = digestOf(token)
  const user = { name: controlUser.name, uid: '', groups: [], extra: {} }
  return {
    name: 'control',
    authenticate: (given) =>
      timingSafeEqual(digestOf(given), digest) ? { kind: 'user', user, method: 'token of the control' } : noCredential,
  }
}

function digestOf(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex')
}
