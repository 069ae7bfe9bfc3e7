import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { bootstrapPolicy } from './policy.ts'
import type { BindingObject, RoleObject } from './rule.ts'

const upstream = readFileSync(new URL('upstream-roles.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')

/** Permissions that controllers of this server need beyond those of Kubernetes, since each reads under its own name. */
const additions = [
  /^\S*Role(?:Binding)? system:controllers/,
  /^Role system:controller:(?:root-ca-cert-publisher|service-account-controller) (?:get|list|watch) /,
  /^Role system:controller:endpoint\S*-controller watch /,
  /^Role system:controller:(?:disruption|node)-controller \S+ \/pods/,
  /^Role system:controller:statefulset-controller /,
  /^Role\S* system:controller:(?:storage-version-migrator|validatingadmissionpolicy-status)-controller /,
]

/** The rules of a migration that is off by default at 1.37. */
const absent = /^Role system:controller:storage-version-migrator-controller \S+ apiextensions/

test.each([25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37])('at 1.%d roles and bindings are those of that release', (level) => {
  const policy = bootstrapPolicy(namesOf('kubernetes'), level)
  const ours = new Set([
    ...[...policy.clusterRoles, ...policy.roles].flatMap(permissionsOf),
    ...[...policy.clusterRoleBindings, ...policy.roleBindings].map(wordsOfBinding),
  ])
  const wanted = upstreamAt(level)
  expect([...wanted].filter((one) => !ours.has(one) && !absent.test(one))).toEqual([])
  expect([...ours].filter((one) => !wanted.has(one) && !additions.some((addition) => addition.test(one)))).toEqual([])
  expect(wanted.size).toBeGreaterThan(1_000)
})

function permissionsOf(role: RoleObject): string[] {
  const { aggregationRule, rules } = role
  if (aggregationRule !== undefined) return []
  return (rules ?? []).flatMap(({ verbs, apiGroups, resources = [], resourceNames = [''], nonResourceURLs = [] }) =>
    verbs.flatMap((verb) => {
      const targets = [...(apiGroups ?? []).flatMap((group) => resources.map((resource) => `${group}/${resource}`)), ...nonResourceURLs]
      return targets.flatMap((target) => resourceNames.map((name) => `${titleOf(role)} ${verb} ${target} ${name}`.trimEnd()))
    }),
  )
}

function wordsOfBinding(binding: BindingObject): string {
  const subjects = (binding.subjects ?? []).map(({ kind, namespace = '', name }) => `${kind} ${namespace} ${name}`)
  return `${titleOf(binding)} ${binding.roleRef.name} ${subjects.sort().join()}`.trimEnd()
}

function titleOf({ kind, metadata: { name, namespace } }: RoleObject | BindingObject): string {
  return `${namespace === undefined ? '' : `${namespace}/`}${kind.replace('Cluster', '')} ${name}`
}

function upstreamAt(level: number): Set<string> {
  const all = new Set<string>()
  let title = ''
  for (const line of upstream) {
    if (line.startsWith('#')) continue
    if (!line.startsWith(' ')) title = line
    const [, since = '', until = '', verbs, targets = ''] = /^ (\d+)-(\d*) (?:([^ ]*): )?(.*)$/.exec(line) ?? []
    if (!line.startsWith(' ') || Number(since) > level || (until !== '' && Number(until) < level)) continue
    for (const target of targets.split(' | '))
      for (const verb of verbs === undefined ? [''] : verbs.split(','))
        all.add(`${title} ${verb}${verb === '' ? '' : ' '}${target}`.trimEnd())
  }
  return all
}
