import { namesOf } from '@orch/core/names'
import { allowsPath, allowsResource, bootstrapPolicy, type PolicyRule } from '@orch/core/rbac'
import { expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi, untilEverywhere } from '../api/api.ts'
import { aBinding, rbac } from './people.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
const letters: Readonly<Record<(typeof verbs)[number], string>> = {
  get: 'g',
  list: 'l',
  watch: 'w',
  create: 'c',
  update: 'u',
  patch: 'p',
  delete: 'd',
  deletecollection: 'D',
}

interface Thing {
  readonly group: string
  readonly resource: string
  readonly subresource: string
}

const thing = (resource: string, group = '', subresource = ''): Thing => ({ group, resource, subresource })
const things: readonly Thing[] = [
  thing('pods'),
  thing('pods', '', 'exec'),
  thing('configmaps'),
  thing('secrets'),
  thing('services'),
  thing('serviceaccounts', '', 'token'),
  thing('namespaces'),
  thing('nodes'),
  thing('deployments', 'apps'),
  thing('roles', 'rbac.authorization.orch.io'),
]
const paths = ['/healthz', '/metrics', '/openapi/v2'] as const

const { clusterRoles, roles } = bootstrapPolicy(namesOf('orch'), 25)

function allowed(rules: readonly PolicyRule[], verb: string, { group, resource, subresource }: Thing): boolean {
  return rules.some((rule) => allowsResource(rule, { verb, group, resource, subresource, name: '' }))
}

/** The letters of the verbs that the rules allow; `-` for none. */
function verbsOf(rules: readonly PolicyRule[], of: Thing): string {
  const text = verbs.map((verb) => (allowed(rules, verb, of) ? letters[verb] : '')).join('')
  return text === '' ? '-' : text
}

function table(): string {
  const titles = things.map(({ resource, subresource }) => (subresource === '' ? resource : `${resource}/${subresource}`))
  const header = ['role', ...titles, ...paths]
  const rows = [...clusterRoles, ...roles].map(({ metadata, rules }) => {
    const place = metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`
    const given = rules ?? []
    const cells = things.map((one) => verbsOf(given, one))
    return [`${metadata.name}${place}`, ...cells, ...paths.map((path) => (given.some((rule) => allowsPath(rule, 'get', path)) ? 'g' : '-'))]
  })
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const legend = verbs.map((verb) => `${letters[verb]} ${verb}`).join(', ')
  return [
    'Who may do what by the roles of the start, without regard to names of objects.',
    legend,
    '',
    ...lines.map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
  ].join('\n')
}

test('AUTHZ-03: the rights of the bootstrap roles equal the recorded table', async () => {
  await expect(table()).toMatchFileSnapshot('access-table.golden.txt')
})

const server = sharedApi()

test.each(['cluster-admin', 'admin', 'edit', 'view'])('AUTHZ-03: the server decides like the table about %s', async (role) => {
  const { api } = server
  const [namespace, user] = [await aNamespace(api), aName('user')]
  await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'b', 'ClusterRole', role, user))
  const review = async (verb: string, one: Thing) => {
    const spec = { user, resourceAttributes: { ...one, verb, namespace } }
    return api.post('/apis/authorization.orch.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.orch.io/v1',
      kind: 'SubjectAccessReview',
      spec,
    })
  }
  await untilEverywhere(
    () => review('get', thing('pods')),
    ({ text }) => text.includes('"allowed":true'),
  )
  const rules = clusterRoles.find(({ metadata }) => metadata.name === role)?.rules ?? []
  for (const one of things) {
    const answers = await Promise.all(verbs.map(async (verb) => (await review(verb, one)).body.status))
    expect({ one, allowed: answers.map((status) => (status as unknown as { allowed: boolean }).allowed) }).toEqual({
      one,
      allowed: verbs.map((verb) => allowed(rules, verb, one)),
    })
  }
})
