import { readFileSync } from 'node:fs'
import { createCatalogue } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import type { MatchResourcesSpec, NamedRuleSpec } from '@orch/core/policies'
import { describe, expect, test } from 'vitest'
import { type Equivalents, equivalentsOf, type RequestVersion } from '../matching/equivalents.ts'
import { readMatchResources } from './bound-policies.ts'
import { matchResources } from './match-resources.ts'

interface Resource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

type GivenRules = readonly {
  readonly resourceNames?: readonly string[]
  readonly ruleWithOperations?: { readonly operations?: string[]; readonly rule?: NamedRuleSpec }
}[]

interface MatchingCase {
  readonly name: string
  readonly criteria: Omit<MatchResourcesSpec, 'resourceRules' | 'excludeResourceRules'> & {
    readonly resourceRules?: GivenRules
    readonly excludeResourceRules?: GivenRules
  }
  readonly attrs: Pick<Attributes, 'namespace' | 'name' | 'subresource' | 'operation' | 'dryRun'> & {
    readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
    readonly resource: Resource
    readonly object?: unknown
  }
  readonly expectMatches: boolean
  readonly expectMatchResource?: Resource
  readonly expectErr?: string
}

/** The cases; `cases/README.md` describes them. */
const cases = readFileSync(new URL('./cases/matching.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as MatchingCase)
  .map((one): [string, MatchingCase] => [one.name, one])

/** The upstream matcher reads an absent selector like these; a stored policy has both. */
const nothing = {
  matchExpressions: [
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'a', operator: 'DoesNotExist' },
  ],
}

function rulesOf(rules: GivenRules | undefined): NamedRuleSpec[] | undefined {
  return rules?.map(({ resourceNames, ruleWithOperations: { operations, rule } = {} }) => ({
    ...rule,
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(operations === undefined ? {} : { operations }),
  }))
}

/** The upstream case has Deployments in three versions; this server has one of them. */
const deploymentsIn = [
  ['apps', 'v1'],
  ['apps', 'v1beta1'],
  ['extensions', 'v1beta1'],
] as const

const ofCatalogue = equivalentsOf(createCatalogue('kubernetes'))
const equivalents: Equivalents = {
  own: (attributes) => ofCatalogue.own(attributes),
  groupsOf: (resource) => ofCatalogue.groupsOf(resource),
  others({ group, version, resource, subresource, kind }): readonly RequestVersion[] {
    if (resource !== 'deployments') return []
    return deploymentsIn
      .filter(([otherGroup, otherVersion]) => otherGroup !== group || otherVersion !== version)
      .map(([otherGroup, otherVersion]) => ({
        group: otherGroup,
        version: otherVersion,
        resource,
        subresource,
        kind: { group: otherGroup, version: otherVersion, kind },
        described: undefined,
      }))
  },
}

describe('VAP-15: cases of matching', () => {
  test.each(cases)(
    'match as recorded from kube-apiserver: %s',
    async (_name, { criteria, attrs, expectMatches, expectMatchResource, expectErr = '' }) => {
      const { resourceRules, excludeResourceRules, ...rest } = criteria
      const rules = rulesOf(resourceRules)
      const excluded = rulesOf(excludeResourceRules)
      const matched = readMatchResources({
        // The upstream matcher defaults to Exact; a stored policy has the member.
        matchPolicy: 'Exact',
        namespaceSelector: nothing,
        objectSelector: nothing,
        ...rest,
        ...(rules === undefined ? {} : { resourceRules: rules }),
        ...(excluded === undefined ? {} : { excludeResourceRules: excluded }),
      })
      const { resource, kind, ...others } = attrs
      const attributes: Attributes = {
        ...others,
        ...resource,
        kind: kind.kind,
        object: attrs.object,
        oldObject: undefined,
        options: undefined,
        user: { name: '', uid: '', groups: [], extra: {} },
        requestId: '',
        writeId: '',
      }
      const labelsOf = async () => ({ kind: 'labels', labels: {} }) as const
      const match = await matchResources(matched, attributes, { equivalents, labelsOf })
      if (expectErr !== '') {
        expect(match).toMatchObject({ kind: 'undecided' })
        return
      }
      expect(match.kind === 'called').toBe(expectMatches)
      if (expectMatchResource !== undefined) expect(match).toMatchObject({ asVersion: expectMatchResource })
    },
  )
})
