import { namesOf } from '@orch/core/names'
import { aCertificate } from '@orch/platform/any-certificate'
import { describe, expect, test } from 'vitest'
import { parseAuthenticationConfiguration } from './configuration.ts'

const url = 'https://provider.example.com'
const issuer = { url, audiences: ['orch'] }
const username = { claim: 'sub', prefix: '' }

function parse(fields: object, profile: 'kubernetes' | 'orch' = 'kubernetes') {
  const group = profile === 'kubernetes' ? 'apiserver.config.k8s.io' : 'apiserver.config.orch.io'
  const root = { apiVersion: `${group}/v1`, kind: 'AuthenticationConfiguration', ...fields }
  return parseAuthenticationConfiguration(root, namesOf(profile), ['https://accounts.example.com'])
}

function problems(fields: object): readonly string[] {
  const reading = parse(fields)
  return reading.kind === 'refused' ? reading.problems : []
}

const one = (fields: object = {}) => ({ jwt: [{ issuer, claimMappings: { username }, ...fields }] })
const withIssuer = (fields: object) => problems(one({ issuer: { ...issuer, ...fields } }))
const withMappings = (fields: object) => problems(one({ claimMappings: { username, ...fields } }))
const withRules = (...claimValidationRules: readonly object[]) => problems(one({ claimValidationRules }))
const withExtra = (...extra: readonly object[]) => withMappings({ extra })

describe('AUC-01: kind and versions', () => {
  test.each([['v1'], ['v1beta1'], ['v1alpha1']])('%s is read', (version) => {
    expect(problems({ apiVersion: `apiserver.config.k8s.io/${version}`, ...one() })).toEqual([])
  })

  test('the group is that of the profile', () => {
    expect(parse(one(), 'orch').kind).toBe('configuration')
    const other = parseAuthenticationConfiguration({ apiVersion: 'apiserver.config.k8s.io/v1' }, namesOf('orch'), [])
    expect(other).toMatchObject({ problems: [expect.stringContaining('must be apiserver.config.orch.io/v1'), expect.anything()] })
  })

  test.each([
    [{ apiVersion: 'apiserver.config.k8s.io/v2' }, 'apiVersion: Invalid value: "apiserver.config.k8s.io/v2": must be'],
    [{ kind: 'Other' }, 'kind: Invalid value: "Other": must be AuthenticationConfiguration'],
    [{ jwts: [] }, 'unknown field "jwts"'],
    [one({ issuer: { ...issuer, ur: '' } }), 'unknown field "jwt[0].issuer.ur"'],
    [{ jwt: {} }, 'jwt: Invalid value: {}: must be a list'],
    [one({ issuer: { ...issuer, url: 1 } }), 'jwt[0].issuer.url: Invalid value: 1: must be a text'],
  ])('%j is refused by its field', (fields, text) => {
    expect(problems(fields)).toContainEqual(expect.stringContaining(text))
  })

  test('none is a configuration', () => {
    expect(parse({})).toEqual({ kind: 'configuration', issuers: [], anonymous: undefined })
  })
})

test('AUC-02: 64 issuers are accepted, and 65 are not', () => {
  const many = (count: number) => ({
    jwt: Array.from({ length: count }, (_, index) => ({ issuer: { ...issuer, url: `${url}/${index}` }, claimMappings: { username } })),
  })
  expect([problems(many(64)), problems(many(65))]).toEqual([[], ['jwt: Too many: 65: must have at most 64 items']])
})

describe('AUC-03: the URL of an issuer', () => {
  test.each([
    [{ url: '' }, 'url: Required value'],
    [{ url: 'provider' }, 'url: Invalid value: "provider": must be a URL'],
    [{ url: 'http://provider.example.com' }, 'URL scheme must be https'],
    [{ url: 'https://a@provider.example.com' }, 'URL must not contain a username or password'],
    [{ url: 'https://:a@provider.example.com' }, 'URL must not contain a username or password'],
    [{ url: `${url}?a=1` }, 'URL must not contain a query'],
    [{ url: `${url}#a` }, 'URL must not contain a fragment'],
    [{ url: 'https://accounts.example.com' }, 'URL must not overlap with disallowed issuers: [https://accounts.example.com]'],
  ])('is refused in %j', (fields, text) => {
    expect(withIssuer(fields)).toEqual([expect.stringContaining(text)])
  })

  test('differs from that of another issuer', () => {
    expect(problems({ jwt: [...one().jwt, ...one().jwt] })).toEqual([`jwt[1].issuer.url: Duplicate value: "${url}"`])
  })
})

describe('AUC-04: the discovery document', () => {
  test.each([
    [url, 'discoveryURL must be different from URL'],
    [`${url}/`, 'discoveryURL must be different from URL'],
    ['http://other.example.com', 'URL scheme must be https'],
    ['https://a@other.example.com', 'URL must not contain a username or password'],
    ['https://other.example.com?a', 'URL must not contain a query'],
    ['https://other.example.com#a', 'URL must not contain a fragment'],
  ])('%s is refused', (discoveryURL, text) => {
    expect(withIssuer({ discoveryURL })).toEqual([expect.stringContaining(text)])
  })

  test('two documents differ', () => {
    const at = (path: string) => ({
      issuer: { ...issuer, url: url + path, discoveryURL: 'https://d.example.com' },
      claimMappings: { username },
    })
    expect(problems({ jwt: [at('/a'), at('/b')] })).toEqual(['jwt[1].issuer.discoveryURL: Duplicate value: "https://d.example.com"'])
  })
})

describe('AUC-05: audiences', () => {
  test.each([
    [{ audiences: [] }, 'audiences: Required value: at least one jwt[0].issuer.audiences is required'],
    [{ audiences: [''] }, 'audiences[0]: Required value'],
    [{ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }, 'audiences[1]: Duplicate value: "a"'],
    [{ audiences: ['a', 'b'] }, 'audienceMatchPolicy must be MatchAny for multiple audiences'],
    [{ audiences: ['a'], audienceMatchPolicy: 'All' }, 'audienceMatchPolicy must be empty or MatchAny for single audience'],
  ])('is refused in %j', (fields, text) => {
    expect(withIssuer(fields)).toEqual([expect.stringContaining(text)])
  })

  test('several match any', () => {
    expect(withIssuer({ audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' })).toEqual([])
  })
})

test('AUC-06: authorities are PEM, and errors do not show them', async () => {
  const { certificate } = await aCertificate({ commonName: 'provider' })
  expect(withIssuer({ certificateAuthority: certificate })).toEqual([])
  expect(withIssuer({ certificateAuthority: 'none' })).toEqual([
    expect.stringContaining('jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"'),
  ])
})

test('AUC-07: an egress selector is refused', () => {
  expect(withIssuer({ egressSelectorType: 'cluster' })).toEqual([expect.stringContaining('egress selectors are not supported')])
})

describe('AUC-08: the name of a user, from a claim with a prefix or from an expression,', () => {
  test.each([
    [{}, 'username: Required value: claim or expression is required'],
    [{ claim: 'sub', prefix: '', expression: 'claims.sub' }, "claim and expression can't both be set"],
    [{ claim: 'sub' }, 'username.prefix: Required value: prefix is required when claim is set'],
    [{ expression: 'claims.sub', prefix: '' }, 'username.prefix: Invalid value: "": may not be specified when expression is set'],
    [{ expression: 'claims.' }, 'username.expression: Invalid value: "claims.": compilation failed'],
  ])('is refused as %j', (given, text) => {
    expect(withMappings({ username: given })).toEqual([expect.stringContaining(text)])
  })

  test.each([[{ claim: 'sub', prefix: '' }], [{ claim: 'sub', prefix: 'a:' }], [{ expression: 'claims.sub' }]])('may be %j', (given) => {
    expect(withMappings({ username: given })).toEqual([])
  })
})

describe('AUC-09: a name made of claims.email needs claims.email_verified', () => {
  const name = { username: { expression: 'claims.email' } }
  test('a name is refused if no expression selects claims.email_verified', () => {
    expect(withMappings(name)).toEqual([expect.stringContaining('claims.email_verified must be used in')])
    expect(withMappings({ ...name, groups: { expression: 'claims.email_verified ? [] : []' } })).toHaveLength(1)
  })

  test.each([
    ['the name', { claimMappings: { username: { expression: "claims.?email_verified.orValue(true) ? claims.email : ''" } } }],
    ['an attribute', { claimMappings: { ...name, extra: [{ key: 'a.com/b', valueExpression: 'string(claims.email_verified)' }] } }],
    ['a rule', { claimMappings: name, claimValidationRules: [{ expression: 'claims.email_verified == true' }] }],
  ])('an expression of %s may select claims.email_verified', (_where, fields) => {
    expect(problems(one(fields))).toEqual([])
  })
})

describe('AUC-10: groups and uid come from a claim or an expression, and may be absent', () => {
  test.each([
    [{ groups: { claim: 'g' } }, 'groups.prefix: Required value'],
    [{ groups: { claim: 'g', prefix: '', expression: 'claims.g' } }, "claim and expression can't both be set"],
    [{ groups: { expression: 'claims.g', prefix: 'a' } }, 'may not be specified when expression is set'],
    [{ uid: { claim: 'u', expression: 'claims.u' } }, 'uid: Invalid value: "": claim and expression can\'t both be set'],
    [{ uid: { expression: '(' } }, 'uid.expression: Invalid value: "(": compilation failed'],
  ])('%j is refused', (fields, text) => {
    expect(withMappings(fields)).toEqual([expect.stringContaining(text)])
  })

  test('a claim for groups has a prefix, and a claim for the uid has none', () => {
    expect(withMappings({ groups: { claim: 'g', prefix: 'g:' }, uid: { claim: 'u' } })).toEqual([])
  })
})

describe('AUC-11: keys of attributes', () => {
  const valueExpression = "'a'"
  test.each([
    ['', 'key: Required value'],
    ['foo', 'must be a domain-prefixed path'],
    ['/foo', 'must be a domain-prefixed path'],
    ['a.com/', 'must be a domain-prefixed path'],
    ['a_b.com/foo', 'a lowercase RFC 1123 subdomain'],
    ['a.com/Foo', 'must be lowercase'],
    ['a.com/f oo', 'must be a path of a URL'],
    ['k8s.io/foo', 'are reserved'],
    ['a.k8s.io/foo', 'are reserved'],
    ['kubernetes.io/foo', 'are reserved'],
    ['a.kubernetes.io/foo', 'are reserved'],
    ['orch.io/foo', 'are reserved'],
  ])('%j is refused', (key, text) => {
    expect(withExtra({ key, valueExpression })).toEqual([expect.stringContaining(text)])
  })

  test('each appears once, with an expression', () => {
    const extra = { key: 'a.com/foo', valueExpression }
    expect(withExtra(extra)).toEqual([])
    expect(withExtra(extra, extra)).toEqual(['jwt[0].claimMappings.extra[1].key: Duplicate value: "a.com/foo"'])
    expect(withExtra({ key: 'a.com/foo' })).toEqual(['jwt[0].claimMappings.extra[0].valueExpression: Required value'])
    expect(withExtra({ ...extra, valueExpression: '(' })).toEqual([expect.stringContaining('compilation failed')])
  })
})

describe('AUC-12: rules about claims', () => {
  test.each([
    [{}, 'claim or expression is required'],
    [{ claim: 'a', expression: 'true' }, "claim and expression can't both be set"],
    [{ claim: 'a', message: 'm' }, 'message: Invalid value: "m": may not be specified when claim is set'],
    [{ expression: 'true', requiredValue: 'v' }, 'requiredValue: Invalid value: "v": may not be specified when expression is set'],
    [{ expression: 'claims.a' }, 'must evaluate to bool'],
    [{ expression: '(' }, 'compilation failed'],
    [{ expression: 'user.username == ""' }, 'undeclared reference'],
  ])('%j is refused', (rule, text) => {
    expect(withRules(rule)).toEqual([expect.stringContaining(text)])
  })

  test('each claim and each expression appears once', () => {
    const [claim, expression] = [
      { claim: 'a', requiredValue: 'b' },
      { expression: 'claims.a == "b"', message: 'm' },
    ]
    expect(withRules(claim, expression)).toEqual([])
    expect(withRules(claim, claim)).toEqual([expect.stringContaining('claim: Duplicate value: "a"')])
    expect(withRules(expression, expression)).toEqual([expect.stringContaining('expression: Duplicate value')])
  })
})

test('AUC-13: rules about the user have an expression about the user, once', () => {
  const withUserRules = (...userValidationRules: readonly object[]) => problems(one({ userValidationRules }))
  const good = {
    expression: "!user.username.startsWith('system:') && user.groups.all(g, g != 'a') && user.uid == '' && user.extra.size() == 0",
  }
  expect(withUserRules(good)).toEqual([])
  expect(withUserRules({ message: 'm' })).toEqual(['jwt[0].userValidationRules[0].expression: Required value'])
  expect(withUserRules(good, good)).toEqual([expect.stringContaining('userValidationRules[1].expression: Duplicate value')])
  expect(withUserRules({ expression: 'claims.a == 1' })).toEqual([expect.stringContaining('undeclared reference')])
  expect(withUserRules({ expression: 'user.name == ""' })).toEqual([expect.stringContaining("undefined field 'name'")])
  expect(withUserRules({ expression: 'user.username' })).toEqual([expect.stringContaining('must evaluate to bool')])
})

test('AUC-14: anonymous requests: paths are allowed only if anonymous requests are enabled', () => {
  const anonymous = { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] }
  expect(parse({ anonymous })).toMatchObject({ anonymous: { isEnabled: true, paths: ['/livez', '/readyz'] } })
  expect(parse({ anonymous: {} })).toMatchObject({ anonymous: { isEnabled: false, paths: [] } })
  expect(problems({ anonymous: { ...anonymous, enabled: false } })).toEqual([
    expect.stringContaining('enabled should be set to true when conditions are defined'),
  ])
  expect(problems({ anonymous: { enabled: true, conditions: [{}] } })).toEqual(['anonymous.conditions[0].path: Required value'])
  expect(problems({ anonymous: { enabled: 'yes' } })).toEqual(['anonymous.enabled: Invalid value: "yes": must be true or false'])
})
