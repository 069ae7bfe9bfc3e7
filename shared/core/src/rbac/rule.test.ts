import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { aggregatedRules } from './aggregate.ts'
import { compactRules, missingRules, missingRulesInSteps, printRule } from './covers.ts'
import { bootstrapPolicy } from './policy.ts'
import { allowsPath, allowsResource, coversPath, type PolicyRule, type ResourceAccess, type RoleObject } from './rule.ts'

const access = (given: Partial<ResourceAccess>): ResourceAccess => ({
  verb: 'get',
  group: '',
  resource: 'pods',
  subresource: '',
  name: 'a',
  ...given,
})

const read: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }

describe('AUTHZ-03: a rule allows', () => {
  test.each<[string, PolicyRule, Partial<ResourceAccess>, boolean]>([
    ['what it names', read, {}, true],
    ['no other verb', read, { verb: 'delete' }, false],
    ['no other group', read, { group: 'apps' }, false],
    ['no other resource', read, { resource: 'secrets' }, false],
    ['AUTHZ-05: no subresource of what it names', read, { subresource: 'log' }, false],
    ['a subresource that it names', { ...read, resources: ['pods/log'] }, { subresource: 'log' }, true],
    ['not the object of a subresource', { ...read, resources: ['pods/log'] }, {}, false],
    ['a subresource of every resource', { ...read, resources: ['*/log'] }, { subresource: 'log' }, true],
    ['nothing by a name and a star', { ...read, resources: ['pods/*'] }, { subresource: 'log' }, false],
    ['every resource by a star, subresources too', { ...read, resources: ['*'] }, { resource: 'x', subresource: 'y' }, true],
    ['every verb by a star', { ...read, verbs: ['*'] }, { verb: 'impersonate' }, true],
    ['every group by a star', { ...read, apiGroups: ['*'] }, { group: 'apps' }, true],
    ['a name that it names', { ...read, resourceNames: ['a', 'b'] }, {}, true],
    ['no other name', { ...read, resourceNames: ['b'] }, {}, false],
    ['no collection where it names names', { ...read, resourceNames: ['a'] }, { verb: 'list', name: '' }, false],
    ['everything where its names are empty', { ...read, resourceNames: [] }, {}, true],
    ['nothing where it speaks of paths', { verbs: ['*'], nonResourceURLs: ['*'] }, {}, false],
    ['no other subresource', { ...read, resources: ['pods/log'] }, { subresource: 'exec' }, false],
    ['no subresource of another resource', { ...read, resources: ['nodes/log'] }, { subresource: 'log' }, false],
    ['nothing without groups', { verbs: ['*'], resources: ['*'] }, {}, false],
    ['nothing without resources', { verbs: ['*'], apiGroups: ['*'] }, {}, false],
  ])('%s', (_name, rule, asked, expected) => {
    expect(allowsResource(rule, access(asked))).toBe(expected)
  })

  test.each<[string, string, boolean]>([
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', false],
    ['/healthz/*', '/healthz/etcd', true],
    ['/healthz/*', '/healthz', false],
    ['*', '/anything', true],
    ['/a*', '/abc', true],
    ['/a*c', '/abc', false],
    ['/a**', '/abc', true],
    ['/a**', '/a*', true],
    ['/b*', '/abc', false],
  ])('path %s means %s: %s', (pattern, path, expected) => {
    expect(allowsPath({ verbs: ['get'], nonResourceURLs: [pattern] }, 'get', path)).toBe(expected)
    expect(allowsPath({ verbs: ['post'], nonResourceURLs: [pattern] }, 'get', path)).toBe(false)
  })
})

test('AUTHZ-03: a rule with several paths allows each of them, and a rule without paths allows none', () => {
  const rule = { verbs: ['get'], nonResourceURLs: ['/a', '/b'] }
  expect(['/a', '/b', '/c'].map((path) => allowsPath(rule, 'get', path))).toEqual([true, true, false])
  expect(allowsPath({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, 'get', '/a')).toBe(false)
})

describe('rules that are missing', () => {
  test('are listed one per verb and resource, and combined by resource', () => {
    const wanted: PolicyRule = { verbs: ['get', 'delete', 'patch'], apiGroups: ['', 'apps'], resources: ['pods'] }
    const missing = missingRules([read], [wanted])
    expect(compactRules(missing).map(printRule)).toEqual([
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}',
      '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete" "patch"]}',
    ])
  })

  test.each<[string, PolicyRule, PolicyRule, boolean]>([
    ['everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, read, true],
    ['a star by words', read, { verbs: ['*'], apiGroups: [''], resources: ['pods'] }, false],
    ['one name by all', read, { ...read, resourceNames: ['a'] }, true],
    ['all names by one', { ...read, resourceNames: ['a'] }, read, false],
    ['a part by the part of all', { ...read, resources: ['*/log'] }, { ...read, resources: ['pods/log'] }, true],
    ['a path by a longer one', { verbs: ['get'], nonResourceURLs: ['/a/*'] }, { verbs: ['get'], nonResourceURLs: ['/a/b'] }, true],
    ['another verb', read, { ...read, verbs: ['delete'] }, false],
    ['one of two verbs', read, { ...read, verbs: ['get', 'delete'] }, false],
    ['a verb by a star', { ...read, verbs: ['*'] }, { ...read, verbs: ['delete'] }, true],
    ['another group', read, { ...read, apiGroups: ['apps'] }, false],
    ['a group by a star', { ...read, apiGroups: ['*'] }, { ...read, apiGroups: ['apps'] }, true],
    ['another resource', read, { ...read, resources: ['nodes'] }, false],
    ['a part by its whole', read, { ...read, resources: ['pods/log'] }, false],
    ['a part of all by another part of all', { ...read, resources: ['*/log'] }, { ...read, resources: ['pods/exec'] }, false],
    ['a whole by the part of all', { ...read, resources: ['*/log'] }, read, false],
    ['one of two names', { ...read, resourceNames: ['a', 'b'] }, { ...read, resourceNames: ['a', 'c'] }, false],
    ['two names', { ...read, resourceNames: ['a', 'b'] }, { ...read, resourceNames: ['b', 'a'] }, true],
    ['a name of two resources', { ...read, resources: ['pods', 'nodes'] }, { ...read, resourceNames: ['a'] }, true],
    ['a path by another', { verbs: ['get'], nonResourceURLs: ['/a'] }, { verbs: ['get'], nonResourceURLs: ['/b'] }, false],
    ['one of two paths', { verbs: ['get'], nonResourceURLs: ['/a'] }, { verbs: ['get'], nonResourceURLs: ['/a', '/b'] }, false],
    ['a path by another verb', { verbs: ['post'], nonResourceURLs: ['/a'] }, { verbs: ['get'], nonResourceURLs: ['/a'] }, false],
    ['resources by paths', { verbs: ['*'], nonResourceURLs: ['*'] }, read, false],
    [
      'paths by a rule of one resource',
      { verbs: ['*'], apiGroups: ['*'], resources: ['pods'] },
      { verbs: ['get'], nonResourceURLs: ['/a'] },
      false,
    ],
    ['paths by resources', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['get'], nonResourceURLs: ['/a'] }, false],
    ['a whole by a star with its last letter', { ...read, resources: ['*s'] }, read, false],
    ['nothing, which a rule without groups asks for', read, { verbs: ['delete'], resources: ['nodes'] }, true],
    ['nothing, which a rule without resources asks for', read, { verbs: ['delete'], apiGroups: ['apps'] }, true],
  ])('do not include a held one, %s: %#', (_name, held, wanted, isHeld) => {
    expect(missingRules([held], [wanted]).length === 0).toBe(isHeld)
  })

  test('exclude permissions that any held rule covers', () => {
    const held = [read, { ...read, verbs: ['delete'] }, { ...read, resources: ['nodes', 'secrets'] }]
    expect(
      missingRules(held, [
        { ...read, verbs: ['get', 'delete'] },
        { ...read, resources: ['secrets'] },
      ]),
    ).toEqual([])
    expect(missingRules(held, [{ ...read, verbs: ['delete'], resources: ['nodes'] }])).toHaveLength(1)
  })

  test('are joined by object name, and rules about several objects stay separate', () => {
    const named = { ...read, resourceNames: ['a'] }
    const rules: PolicyRule[] = [
      read,
      named,
      { ...named, verbs: ['delete'] },
      { ...read, verbs: ['delete'] },
      { ...read, resources: ['a', 'b'] },
      { ...read, apiGroups: ['', 'apps'] },
      { ...read, resourceNames: ['a', 'b'] },
      { verbs: ['get'], nonResourceURLs: ['/a'] },
      { verbs: ['get'], nonResourceURLs: ['/a'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get'], resources: ['pods'] },
      { verbs: ['list'], resources: ['pods'] },
      { verbs: ['get'], apiGroups: [''] },
      { verbs: ['list'], apiGroups: [''] },
    ]
    expect(compactRules(rules)).toEqual([
      ...rules.slice(4),
      { ...read, verbs: ['get', 'list', 'delete'] },
      { ...named, verbs: ['get', 'list', 'delete'] },
    ])
  })

  test('are computed in steps of some thousand comparisons', () => {
    const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`)
    const rules = words(25).flatMap((resource) =>
      words(10).map((group) => ({ verbs: words(100), apiGroups: [group], resources: [resource] })),
    )
    const steps = missingRulesInSteps(rules, rules)
    let count = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) count += 1
    expect([count, step.value]).toEqual([2, []])
  })

  test('are printed with paths and names', () => {
    expect(printRule({ verbs: ['get'], nonResourceURLs: ['/a'], apiGroups: [], resources: [], resourceNames: [] })).toBe(
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
    )
    expect(printRule({ verbs: ['get'], nonResourceURLs: ['/a'] })).toBe('{NonResourceURLs:["/a"], Verbs:["get"]}')
    expect(printRule({ ...read, resourceNames: ['n'] })).toBe(
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["n"], Verbs:["get" "list"]}',
    )
  })
})

describe('aggregation', () => {
  const role = (name: string, labels: Record<string, string>, rules: PolicyRule[]): RoleObject => ({
    apiVersion: 'v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules,
  })

  test('combines the rules of the selected roles by name, without repetition, and replaces its own rules', () => {
    const target: RoleObject = {
      ...role('sum', { part: 'yes' }, [{ verbs: ['own'] }]),
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }, { matchExpressions: [{ key: 'more', operator: 'Exists' }] }],
      },
    }
    const others = [
      target,
      role('b', { part: 'yes' }, [{ verbs: ['2'] }, { verbs: ['1'] }]),
      role('a', { more: '' }, [{ verbs: ['1'] }]),
      role('c', { part: 'no' }, [{ verbs: ['3'] }]),
    ]
    expect(aggregatedRules(target, others)).toEqual([{ verbs: ['1'] }, { verbs: ['2'] }])
  })

  test('treats rules with reordered members as equal, and ignores roles without rules', () => {
    const target: RoleObject = { ...role('sum', {}, []), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] } }
    const { rules: _rules, ...empty } = role('a', { part: 'yes' }, [])
    const turned = { resources: ['pods'], apiGroups: [''], verbs: ['get', 'list'] }
    const others = [role('c', { part: 'yes' }, [turned]), role('b', { part: 'yes' }, [read]), empty]
    expect(aggregatedRules(target, others)).toEqual([read])
    expect(Object.keys(aggregatedRules(target, others)[0] ?? {})).toEqual(['verbs', 'apiGroups', 'resources'])
  })

  test('without selectors, or with an invalid one, gives no rules', () => {
    const others = [role('a', { part: 'yes' }, [read])]
    const sum = (aggregationRule?: RoleObject['aggregationRule']) =>
      aggregatedRules({ ...role('sum', {}, []), ...(aggregationRule === undefined ? {} : { aggregationRule }) }, others)
    expect([sum(), sum(null), sum({}), sum({ clusterRoleSelectors: [] })]).toEqual([[], [], [], []])
    expect(sum({ clusterRoleSelectors: [{ matchExpressions: [{ key: 'part', operator: 'Near' }] }] })).toEqual([])
    expect(sum({ clusterRoleSelectors: [{}] })).toEqual([read])
  })

  test.each(['orch', 'kubernetes'] as const)('of the bootstrap roles is complete from the start: %s', (profile) => {
    const { clusterRoles, roles, clusterRoleBindings } = bootstrapPolicy(namesOf(profile), 25)
    const rulesOf = (name: string) => clusterRoles.find(({ metadata }) => metadata.name === name)?.rules ?? []
    expect(missingRules(rulesOf('edit'), rulesOf('view'))).toEqual([])
    expect(missingRules(rulesOf('admin'), rulesOf('edit'))).toEqual([])
    expect(missingRules(rulesOf('view'), rulesOf('edit'))).not.toEqual([])
    expect([clusterRoles.length, clusterRoleBindings.length, roles.length]).toEqual([66, 47, 8])
    expect(JSON.stringify(bootstrapPolicy(namesOf(profile), 37))).not.toContain('~')
  })
})

describe('LIM-12: the missing part of many rules', () => {
  const words = fc.subarray(['get', 'list', '*'], { minLength: 1 })
  const resources = fc.subarray(['pods', 'pods/log', '*/log', '*'], { minLength: 1 })
  const names = fc.option(fc.subarray(['a', 'b']), { nil: undefined })
  const anyRule: fc.Arbitrary<PolicyRule> = fc
    .record({ verbs: words, apiGroups: fc.subarray(['', 'apps', '*'], { minLength: 1 }), resources, resourceNames: names })
    .map(({ resourceNames, ...rule }) => (resourceNames === undefined ? rule : { ...rule, resourceNames }))

  test('is the part that no held rule allows', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, (held, wanted) => {
        const isPlain = [...wanted.verbs, ...(wanted.apiGroups ?? []), ...(wanted.resources ?? [])].every((word) => !word.includes('*'))
        fc.pre(isPlain)
        const missing = missingRules(held, [wanted])
        for (const single of missing) expect(missingRules(held, [single])).toEqual([single])
        for (const verb of wanted.verbs)
          for (const group of wanted.apiGroups ?? [])
            for (const path of wanted.resources ?? [])
              for (const name of wanted.resourceNames?.length ? wanted.resourceNames : [undefined]) {
                const [resource = '', subresource = ''] = path.split('/')
                const isHeld = held.some((rule) => allowsResource(rule, { verb, group, resource, subresource, name: name ?? '' }))
                const isMissing = missing.some(
                  (single) =>
                    single.verbs[0] === verb &&
                    single.apiGroups?.[0] === group &&
                    single.resources?.[0] === path &&
                    single.resourceNames?.[0] === name,
                )
                expect(isMissing).toBe(!isHeld)
              }
      }),
    )
  })

  const many = (front: string, count: number) => Array.from({ length: count }, (_, index) => `${front}${index}`)
  const cube: PolicyRule = { verbs: many('v', 300), apiGroups: many('g', 300), resources: many('r', 300) }

  test('is computed in steps, and at most a thousand are listed', () => {
    const steps = missingRulesInSteps([read], [cube])
    let count = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) count += 1
    expect(step.value).toHaveLength(1_000)
    expect(count).toBe(0)
  })

  test('is not computed completely if a rule covers millions', () => {
    // The first held rule covers all others, so the search ends at once.
    const held = [cube, ...Array.from({ length: 2_000 }, () => ({ ...read, resources: ['a', 'b'] }))]
    const steps = missingRulesInSteps(held, [cube])
    let count = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) count += 1
    expect(step.value).toBeUndefined()
    expect(count).toBeGreaterThan(150)
    expect(() => missingRules(held, [cube])).toThrow(new RangeError('the rules contain too many permissions'))
  })
})

test('LIM-12: a long pattern of stars is compared in linear time', () => {
  const stars = '*'.repeat(1_000_000)
  expect([coversPath(`/${stars}x*`, '/healthz'), coversPath(`/${stars}`, '/healthz')]).toEqual([false, true])
})
