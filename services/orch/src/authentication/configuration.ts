import { X509Certificate } from 'node:crypto'
import type { User } from '@orch/core/contracts'
import { type ClaimExpression, compileClaims, compileUser, type Malformed } from '@orch/core/expressions'
import { checkSubdomain } from '@orch/core/meta'
import { domainGroup, type Names, namesOf, profiles } from '@orch/core/names'
import {
  type AnonymousAccess,
  type ClaimCondition,
  type ClaimMapping,
  type ClaimRules,
  createFetchJson,
  Issuer,
  type IssuerOptions,
  OidcAuthenticator,
  oidcAlgorithms,
  outsideCredentialKey,
  splitPem,
} from '@orch/gateway'
import { type Metrics, messageOf, SettingsError } from '@orch/platform'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'
import { ReloadedFile } from '../configuration/files.ts'
import type { Surroundings } from '../surroundings.ts'

/** An issuer of tokens in the configuration. */
interface ConfiguredIssuer extends ClaimRules {
  /** '' for below the issuer. */
  readonly discoveryUrl: string
  /** PEM; '' for the machine's authorities. */
  readonly certificateAuthorities: string
  /** Its text in the file, which identifies the issuer. */
  readonly text: string
}

/** The admission of requests without credentials: on all paths, or on these. */
interface ConfiguredAnonymous {
  readonly isEnabled: boolean
  /** Empty for all paths. */
  readonly paths: readonly string[]
}

/** The contents of an authentication file. */
export interface ConfiguredAccess {
  readonly issuers: readonly ConfiguredIssuer[]
  /** Undefined if the file does not set them. */
  readonly anonymous: ConfiguredAnonymous | undefined
}

/** The domains of the product in each profile. */
const reservedDomains = [...new Set(profiles.map(namesOf).flatMap(({ apiDomain, labelDomain }) => [apiDomain, labelDomain]))]

const issuersMax = 64
const versions = ['v1', 'v1beta1', 'v1alpha1']

/**
 * Checks an AuthenticationConfiguration of `apiserver.config.k8s.io`. The rules and their texts are those of kube-apiserver's validation.
 * `ownIssuers` are those of the tokens of service accounts.
 */
export function parseAuthenticationConfiguration(value: unknown, names: Names, ownIssuers: readonly string[]): Reading<ConfiguredAccess> {
  const reader = new Reader(names, ownIssuers)
  return reader.reading(reader.configuration(value))
}

type Claims = Readonly<Record<string, unknown>>

/** Claims in the expressions of one issuer. */
interface Selected {
  username: ReadonlySet<string>
  readonly others: Set<string>
}

class Reader extends FieldReader {
  readonly #names: Names
  readonly #ownIssuers: readonly string[]

  constructor(names: Names, ownIssuers: readonly string[]) {
    super()
    this.#names = names
    this.#ownIssuers = ownIssuers
  }

  configuration(value: unknown): ConfiguredAccess {
    const group = domainGroup(this.#names, 'apiserver.config')
    const apiVersions = versions.map((version) => `${group}/${version}`)
    const fields = this.root(value, { kind: 'AuthenticationConfiguration', apiVersions, known: ['jwt', 'anonymous'] })
    const jwt = this.list(fields['jwt'], 'jwt')
    if (jwt.length > issuersMax) {
      this.problems.push(`jwt: Too many: ${jwt.length}: must have at most ${issuersMax} items`)
      return { issuers: [], anonymous: undefined }
    }
    const issuers = jwt.map((one, index) => this.#jwt(one, `jwt[${index}]`))
    this.#checkUnique(
      issuers.map(({ issuer }) => issuer),
      (index) => `jwt[${index}].issuer.url`,
    )
    this.#checkUnique(
      issuers.map(({ discoveryUrl }) => discoveryUrl),
      (index) => `jwt[${index}].issuer.discoveryURL`,
    )
    return { issuers, anonymous: this.#anonymous(fields['anonymous']) }
  }

  #anonymous(value: unknown): ConfiguredAnonymous | undefined {
    if (value === undefined || value === null) return undefined
    const { enabled = false, conditions } = this.fields(value, 'anonymous', ['enabled', 'conditions'])
    if (typeof enabled !== 'boolean') this.invalid('anonymous.enabled', enabled, 'must be true or false')
    const paths = this.list(conditions, 'anonymous.conditions').map((one, index) => {
      const at = `anonymous.conditions[${index}]`
      const path = this.text(this.fields(one, at, ['path'])['path'] ?? '', `${at}.path`)
      if (path === '') this.required(`${at}.path`)
      return path
    })
    if (enabled !== true && paths.length > 0) {
      this.invalid('anonymous.conditions', conditions, 'enabled should be set to true when conditions are defined')
    }
    return { isEnabled: enabled === true, paths }
  }

  #jwt(value: unknown, path: string): ConfiguredIssuer {
    const known = ['issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules']
    const fields = this.fields(value, path, known)
    const selected: Selected = { username: new Set(), others: new Set() }
    const issuer = this.#issuer(fields['issuer'] ?? {}, `${path}.issuer`)
    const rules = this.#claimRules(fields['claimValidationRules'], `${path}.claimValidationRules`, selected)
    const mappings = this.#mappings(fields['claimMappings'] ?? {}, `${path}.claimMappings`, selected)
    const userConditions = this.#userRules(fields['userValidationRules'], `${path}.userValidationRules`)
    return { ...issuer, ...rules, ...mappings, userConditions, text: JSON.stringify(value) }
  }

  #issuer(value: unknown, path: string): Pick<ConfiguredIssuer, 'issuer' | 'discoveryUrl' | 'audiences' | 'certificateAuthorities'> {
    const known = ['url', 'discoveryURL', 'audiences', 'audienceMatchPolicy', 'certificateAuthority', 'egressSelectorType']
    const fields = this.fields(value, path, known)
    const issuer = this.text(fields['url'] ?? '', `${path}.url`)
    if (issuer === '') this.required(`${path}.url`)
    else {
      if (this.#ownIssuers.includes(issuer)) {
        this.invalid(`${path}.url`, issuer, `URL must not overlap with disallowed issuers: [${[...this.#ownIssuers].sort().join(' ')}]`)
      }
      this.#url(issuer, `${path}.url`)
    }
    const discoveryUrl = this.text(fields['discoveryURL'] ?? '', `${path}.discoveryURL`)
    if (discoveryUrl !== '') {
      if (issuer !== '' && withoutSlashes(issuer) === withoutSlashes(discoveryUrl)) {
        this.invalid(`${path}.discoveryURL`, discoveryUrl, 'discoveryURL must be different from URL')
      }
      this.#url(discoveryUrl, `${path}.discoveryURL`)
    }
    const { egressSelectorType } = fields
    if (egressSelectorType) this.invalid(`${path}.egressSelectorType`, egressSelectorType, 'egress selectors are not supported')
    const audiences = this.#audiences(fields['audiences'], fields['audienceMatchPolicy'], path)
    return { issuer, discoveryUrl, audiences, certificateAuthorities: this.#authorities(fields['certificateAuthority'], path) }
  }

  #url(text: string, path: string): void {
    if (!URL.canParse(text)) {
      this.invalid(path, text, 'must be a URL')
      return
    }
    const { protocol, username, password, search, hash } = new URL(text)
    if (protocol !== 'https:') this.invalid(path, text, 'URL scheme must be https')
    if (username !== '' || password !== '') this.invalid(path, text, 'URL must not contain a username or password')
    if (search !== '') this.invalid(path, text, 'URL must not contain a query')
    if (hash !== '') this.invalid(path, text, 'URL must not contain a fragment')
  }

  #audiences(value: unknown, policy: unknown, path: string): readonly string[] {
    const at = `${path}.audiences`
    const audiences = this.list(value, at).map((one, index) => this.text(one, `${at}[${index}]`))
    if (audiences.length === 0) this.required(at, `at least one ${at} is required`)
    for (const [index, audience] of audiences.entries()) if (audience === '') this.required(`${at}[${index}]`)
    this.#checkUnique(audiences, (index) => `${at}[${index}]`)
    if (policy === 'MatchAny' || (audiences.length < 2 && (policy === undefined || policy === ''))) return audiences
    const expected = audiences.length > 1 ? 'must be MatchAny for multiple audiences' : 'must be empty or MatchAny for single audience'
    this.invalid(`${path}.audienceMatchPolicy`, policy ?? '', `audienceMatchPolicy ${expected}`)
    return audiences
  }

  #authorities(value: unknown, path: string): string {
    const at = `${path}.certificateAuthority`
    const pem = this.text(value ?? '', at)
    if (pem === '') return pem
    try {
      const certificates = splitPem(pem)
      if (certificates.length === 0) throw new Error('it holds no certificate')
      for (const text of certificates) new X509Certificate(text)
    } catch (error) {
      this.invalid(at, '<omitted>', messageOf(error))
    }
    return pem
  }

  #claimRules(value: unknown, path: string, { others }: Selected): Pick<ClaimRules, 'requiredClaims' | 'claimConditions'> {
    const requiredClaims: Record<string, string> = {}
    const claimConditions: ClaimCondition<Claims>[] = []
    const known = new Set<string>()
    for (const [index, rule] of this.list(value, path).entries()) {
      const at = `${path}[${index}]`
      const fields = this.fields(rule, at, ['claim', 'requiredValue', 'expression', 'message'])
      const texts = (name: string) => this.text(fields[name] ?? '', `${at}.${name}`)
      const [claim, requiredValue, expression, message] = [texts('claim'), texts('requiredValue'), texts('expression'), texts('message')]
      if (claim !== '' && expression !== '') this.invalid(at, claim, "claim and expression can't both be set")
      else if (claim === '' && expression === '') this.required(at, 'claim or expression is required')
      else if (claim !== '') {
        if (message !== '') this.invalid(`${at}.message`, message, 'may not be specified when claim is set')
        if (Object.hasOwn(requiredClaims, claim)) this.duplicate(`${at}.claim`, claim)
        requiredClaims[claim] = requiredValue
      } else {
        if (requiredValue !== '') this.invalid(`${at}.requiredValue`, requiredValue, 'may not be specified when expression is set')
        const compiled = this.#unique(expression, `${at}.expression`, known, () => compileClaims(expression, 'condition'))
        if (compiled === undefined) continue
        for (const name of compiled.fields) others.add(name)
        claimConditions.push({ expression: compiled, message })
      }
    }
    return { requiredClaims, claimConditions }
  }

  #mappings(value: unknown, path: string, selected: Selected): Pick<ClaimRules, 'username' | 'groups' | 'uid' | 'extra'> {
    const fields = this.fields(value, path, ['username', 'groups', 'uid', 'extra'])
    const username = this.#mapping(fields['username'] ?? {}, `${path}.username`, true)
    if (username?.kind === 'expression') {
      selected.username = username.expression.fields
      for (const name of username.expression.fields) selected.others.add(name)
    }
    const groups = this.#mapping(fields['groups'] ?? {}, `${path}.groups`, false)
    const uid = this.#uid(fields['uid'] ?? {}, `${path}.uid`)
    const extra = this.#extra(fields['extra'], `${path}.extra`, selected)
    if (selected.username.has('email') && !selected.others.has('email_verified')) {
      const text =
        'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'
      const given = username?.kind === 'expression' ? username.expression.text : ''
      this.invalid(`${path}.username.expression`, given, text)
    }
    return { username: username ?? { kind: 'claim', claim: '', prefix: '' }, groups, uid, extra }
  }

  #mapping(value: unknown, path: string, isRequired: boolean): ClaimMapping | undefined {
    const fields = this.fields(value, path, ['claim', 'prefix', 'expression'])
    const claim = this.text(fields['claim'] ?? '', `${path}.claim`)
    const text = this.text(fields['expression'] ?? '', `${path}.expression`)
    const { prefix } = fields
    if (text !== '' && claim !== '') {
      this.invalid(path, '', "claim and expression can't both be set")
      return undefined
    }
    if (text !== '') {
      if (prefix !== undefined && prefix !== null) this.invalid(`${path}.prefix`, prefix, 'may not be specified when expression is set')
      const expression = this.#compiled(text, `${path}.expression`, compileClaims(text, 'value'))
      return expression && { kind: 'expression', expression }
    }
    if (claim === '') {
      if (isRequired) this.required(path, 'claim or expression is required')
      return undefined
    }
    if (prefix === undefined || prefix === null) {
      this.required(`${path}.prefix`, 'prefix is required when claim is set. It can be set to an empty string to disable prefixing')
    }
    return { kind: 'claim', claim, prefix: this.text(prefix ?? '', `${path}.prefix`) }
  }

  #uid(value: unknown, path: string): ClaimMapping | undefined {
    const fields = this.fields(value, path, ['claim', 'expression'])
    const claim = this.text(fields['claim'] ?? '', `${path}.claim`)
    const text = this.text(fields['expression'] ?? '', `${path}.expression`)
    if (text !== '' && claim !== '') this.invalid(path, '', "claim and expression can't both be set")
    if (text === '') return claim === '' ? undefined : { kind: 'claim', claim, prefix: '' }
    const expression = this.#compiled(text, `${path}.expression`, compileClaims(text, 'value'))
    return expression && { kind: 'expression', expression }
  }

  #extra(value: unknown, path: string, { others }: Selected): Map<string, ClaimExpression<Claims>> {
    const extra = new Map<string, ClaimExpression<Claims>>()
    const keys = new Set<string>()
    for (const [index, mapping] of this.list(value, path).entries()) {
      const at = `${path}[${index}]`
      const fields = this.fields(mapping, at, ['key', 'valueExpression'])
      const key = this.text(fields['key'] ?? '', `${at}.key`)
      this.#checkKey(key, `${at}.key`)
      if (keys.has(key)) this.duplicate(`${at}.key`, key)
      keys.add(key)
      const text = this.text(fields['valueExpression'] ?? '', `${at}.valueExpression`)
      if (text === '') this.required(`${at}.valueExpression`)
      const expression = text === '' ? undefined : this.#compiled(text, `${at}.valueExpression`, compileClaims(text, 'value'))
      if (expression === undefined) continue
      for (const name of expression.fields) others.add(name)
      extra.set(key, expression)
    }
    return extra
  }

  /** A name below a domain other than this server's own. */
  #checkKey(key: string, path: string): void {
    if (key === '') {
      this.required(path)
      return
    }
    const [domain = '', ...rest] = key.split('/')
    const name = rest.join('/')
    if (domain === '' || name === '') this.invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else {
      for (const problem of checkSubdomain(domain)) this.invalid(path, domain, problem)
      if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(name)) this.invalid(path, name, 'must be a path of a URL')
    }
    if (key !== key.toLowerCase()) this.invalid(path, key, 'must be lowercase')
    if (reservedDomains.some((one) => domain === one || domain.endsWith(`.${one}`))) {
      this.invalid(path, key, `${reservedDomains.join(', ')} and their subdomains are reserved`)
    }
  }

  #userRules(value: unknown, path: string): ClaimCondition<User>[] {
    const known = new Set<string>()
    return this.list(value, path).flatMap((rule, index) => {
      const at = `${path}[${index}]`
      const fields = this.fields(rule, at, ['expression', 'message'])
      const text = this.text(fields['expression'] ?? '', `${at}.expression`)
      const message = this.text(fields['message'] ?? '', `${at}.message`)
      if (text === '') this.required(`${at}.expression`)
      const expression = text === '' ? undefined : this.#unique(text, `${at}.expression`, known, () => compileUser(text))
      return expression === undefined ? [] : [{ expression, message }]
    })
  }

  #unique<Input>(
    text: string,
    path: string,
    known: Set<string>,
    compile: () => ClaimExpression<Input> | Malformed,
  ): ClaimExpression<Input> | undefined {
    if (known.has(text)) {
      this.duplicate(path, text)
      return undefined
    }
    known.add(text)
    return this.#compiled(text, path, compile())
  }

  #compiled<Input>(text: string, path: string, compiled: ClaimExpression<Input> | Malformed): ClaimExpression<Input> | undefined {
    if (compiled.kind === 'expression') return compiled
    this.invalid(path, text, compiled.problem)
    return undefined
  }

  #checkUnique(texts: readonly string[], pathOf: (index: number) => string): void {
    for (const [index, text] of texts.entries()) if (text !== '' && texts.indexOf(text) < index) this.duplicate(pathOf(index), text)
  }
}

function withoutSlashes(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The flag of the file. */
const configurationFlag = '--authentication-config'

/** The dependencies of the configuration besides its file. */
interface ConfigurationNeeds {
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
  { catalogue, clock, lifecycle, log }: Surroundings,
): Promise<ConfiguredAuthentication> {
  const { file, metrics } = needs
  const parse = (value: unknown) => parsed(value, needs, catalogue.names)
  const configuration = new ReloadedFile({ flag: configurationFlag, file, what: 'authentication', parse, log })
  let known = new Map<string, Issuer>()
  let anonymous: ConfiguredAnonymous | undefined
  const shared = { clock, log, credentialKey: outsideCredentialKey(catalogue) }
  // An unchanged issuer keeps its fetched keys.
  const take = (next: ConfiguredAccess): readonly Issuer[] => {
    known = new Map(next.issuers.map((one) => [one.text, known.get(one.text) ?? toIssuer(one, shared)]))
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
  needs: Pick<IssuerOptions, 'clock' | 'log' | 'credentialKey'>,
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
