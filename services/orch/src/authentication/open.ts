import type { StorageService } from '@orch/core/contracts'
import { type OpenedAuthentication, openAuthentication } from '@orch/gateway'
import { type CertificateFiles, generateSigningKey, type Metrics, messageOf, parseSigningKey, type SigningKey } from '@orch/platform'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'
import { openExternalAuthentication } from './external.ts'
import type { AuthenticationOptions } from './options.ts'

export interface AuthenticationNeeds {
  readonly authentication: AuthenticationOptions
  readonly storage: StorageService
  readonly metrics: Metrics
  /** Signs tokens of service accounts where no key was given for that. */
  readonly ownSigningKey?: SigningKey | undefined
}

/** All authenticators, as configured. */
export async function openGatewayAuthentication(needs: AuthenticationNeeds, surroundings: Surroundings): Promise<OpenedAuthentication> {
  const { catalogue, clock, lifecycle, log, random } = surroundings
  const { tokens } = needs.authentication
  const external = await openExternalAuthentication(needs.authentication, surroundings)
  const signingKey = signingKeyOf(needs)
  const authentication = openAuthentication({
    names: catalogue.names,
    storage: needs.storage,
    clock,
    log,
    metrics: needs.metrics,
    random,
    requests: external.requests,
    staticTokens: tokens.staticTokens,
    hasBootstrapTokens: tokens.hasBootstrapTokens,
    serviceAccounts: { ...tokens.serviceAccounts, signingKey, keys: [signingKey, ...tokens.serviceAccounts.keys] },
    otherTokens: external.tokens,
    audiences: tokens.audiences,
  })
  await lifecycle.run({ name: 'authentication', stop: () => authentication.close() })
  return authentication
}

/** Name of the file of the key that signs tokens of service accounts. */
export const signingKeyName = 'service-account.key'

/** The key that signs tokens of service accounts, kept among the certificates; it is made at the first start. */
export function keepSigningKey(files: CertificateFiles): SigningKey {
  const kept = files.read(signingKeyName)
  if (kept !== undefined) return parseKey(kept, signingKeyName)
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
