import type { Names } from '@orch/core/names'
import { type AnonymousAccess, createFetchJson, Issuer, OidcAuthenticator, oidcAlgorithms } from '@orch/gateway'
import { type Metrics, SettingsError } from '@orch/platform'
import { ReloadedFile } from '../configuration/reloaded-file.ts'
import type { Surroundings } from '../surroundings.ts'
import {
  type ConfiguredAccess,
  type ConfiguredAnonymous,
  type ConfiguredIssuer,
  parseAuthenticationConfiguration,
} from './configuration.ts'

/** The flag of the file. */
const configurationFlag = '--authentication-config'

/** The dependencies of the configuration besides its file. */
export interface ConfigurationNeeds {
  readonly file: string
  /** Issuers of service account tokens. No other issuer may have one of these names. */
  readonly ownIssuers: readonly string[]
  /** True if requests without credentials are admitted when the file does not set it. */
  readonly anonymousAuth: boolean
  /** The reason why the file may not set it; undefined if it may. */
  readonly anonymousElsewhere: string | undefined
  readonly metrics: Metrics
}

/** Authentication by the current contents of the file. */
export interface ConfiguredAuthentication {
  readonly oidc: OidcAuthenticator
  readonly anonymous: AnonymousAccess
  /** Calls back after issuers were replaced, because previously accepted tokens may have become invalid. */
  onReplaced: () => void
}

/** Reads the file, and watches it. */
export async function openConfiguredAuthentication(
  needs: ConfigurationNeeds,
  { catalogue: { names }, clock, lifecycle, log }: Surroundings,
): Promise<ConfiguredAuthentication> {
  const { file, metrics } = needs
  const parse = (value: unknown) => parsed(value, needs, names)
  const configuration = new ReloadedFile({ flag: configurationFlag, file, what: 'authentication', parse, log })
  let known = new Map<string, Issuer>()
  let anonymous: ConfiguredAnonymous | undefined
  // An unchanged issuer keeps its fetched keys.
  const take = (next: ConfiguredAccess): readonly Issuer[] => {
    known = new Map(next.issuers.map((one) => [one.text, known.get(one.text) ?? toIssuer(one, { clock, log })]))
    anonymous = next.anonymous
    return [...known.values()]
  }
  const oidc = new OidcAuthenticator(take(await configuration.read()))
  const configured: ConfiguredAuthentication = {
    oidc,
    anonymous: { isAllowed: (path) => isAllowed(anonymous, path, needs.anonymousAuth) },
    onReplaced: () => {},
  }
  const following = configuration.follow(clock, (next) => {
    oidc.replace(take(next))
    configured.onReplaced()
  })
  lifecycle.onStop('reload of authentication', () => following.stop())
  configuration.addMetrics(metrics, clock)
  return configured
}

function parsed(value: unknown, { file, ownIssuers, anonymousElsewhere }: ConfigurationNeeds, names: Names): ConfiguredAccess {
  const reading = parseAuthenticationConfiguration(value, names, ownIssuers)
  if (reading.kind === 'refused') throw new SettingsError(`${configurationFlag}=${file}: ${reading.problems.join('; ')}`)
  if (reading.anonymous !== undefined && anonymousElsewhere !== undefined) {
    throw new SettingsError(`${configurationFlag}=${file}: anonymous: ${anonymousElsewhere}`)
  }
  return reading
}

/** Every algorithm with a public key is allowed, as an issuer's keys determine its algorithms. */
function toIssuer(
  { discoveryUrl, certificateAuthorities, ...rules }: ConfiguredIssuer,
  needs: Pick<Surroundings, 'clock' | 'log'>,
): Issuer {
  const fetchJson = createFetchJson({ certificateAuthorities: certificateAuthorities === '' ? undefined : certificateAuthorities })
  return new Issuer({
    ...rules,
    ...needs,
    discoveryUrl: discoveryUrl === '' ? undefined : discoveryUrl,
    signingAlgorithms: oidcAlgorithms,
    fetchJson,
  })
}

function isAllowed(configured: ConfiguredAnonymous | undefined, path: string, fallback: boolean): boolean {
  if (configured === undefined) return fallback
  return configured.isEnabled && (configured.paths.length === 0 || configured.paths.includes(path))
}
