import { type Answer, type Api, aName, created, type Sending, until, untilEverywhere } from '../api/api.ts'

export const rbac = '/apis/rbac.authorization.orch.io/v1'
const apiVersion = 'rbac.authorization.orch.io/v1'
const apiGroup = 'rbac.authorization.orch.io'

/** A user who is not the administrator. */
export type Person = ReturnType<typeof aPerson>

/** A user whom the administrator impersonates. */
export function aPerson(api: Api, name = aName('user'), group = 'system:authenticated') {
  const send = (method: string, target: string, { headers = {}, ...sending }: Sending = {}) =>
    api.send(method, target, { ...sending, headers: { 'impersonate-user': name, 'impersonate-group': group, ...headers } })
  return {
    name,
    send,
    get: (target: string) => send('GET', target),
    post: (target: string, body: unknown) => send('POST', target, { body }),
  }
}

/** A rule of a role. */
export interface Rule {
  readonly verbs: string[]
  readonly apiGroups?: string[]
  readonly resources?: string[]
  readonly resourceNames?: string[]
  readonly nonResourceURLs?: string[]
}

export const aClusterRole = (name: string, rules: readonly Rule[], more: object = {}) => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
  ...more,
})

export const aRole = (name: string, rules: readonly Rule[]) => ({ apiVersion, kind: 'Role', metadata: { name }, rules })

export const aBinding = (
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  roleKind: 'Role' | 'ClusterRole',
  role: string,
  user: string,
) => ({
  apiVersion,
  kind,
  metadata: { name },
  subjects: [{ kind: 'User', apiGroup, name: user }],
  roleRef: { apiGroup, kind: roleKind, name: role },
})

/** Gives a person rules, in a namespace or everywhere. Waits until the rules take effect, and returns the name of the role and its binding. */
export async function give(api: Api, person: Person, rules: readonly [Rule, ...Rule[]], namespace?: string): Promise<string> {
  const name = aName('role')
  if (namespace === undefined) {
    await created(api, `${rbac}/clusterroles`, aClusterRole(name, rules))
    await created(api, `${rbac}/clusterrolebindings`, aBinding('ClusterRoleBinding', name, 'ClusterRole', name, person.name))
  } else {
    await created(api, `${rbac}/namespaces/${namespace}/roles`, aRole(name, rules))
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', name, 'Role', name, person.name))
  }
  const spec = { user: person.name, ...attributesOf(rules[0], namespace) }
  const review = { apiVersion: 'authorization.orch.io/v1', kind: 'SubjectAccessReview', spec }
  await untilEverywhere(
    () => api.post('/apis/authorization.orch.io/v1/subjectaccessreviews', review),
    ({ body }) => (body['status'] as { allowed?: boolean } | undefined)?.allowed === true,
  )
  return name
}

/** A request that the rule allows. */
function attributesOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: Rule, namespace?: string) {
  const [verb, [path], [group], [name]] = [verbs[0], nonResourceURLs, apiGroups, resourceNames]
  if (path !== undefined) return { nonResourceAttributes: { verb, path } }
  const [resource, subresource] = resources[0]?.split('/') ?? []
  return { resourceAttributes: { verb, group, resource, subresource, name, namespace } }
}

/** Repeats the request while the answer is a 403: a binding takes effect when the gateway has seen it. */
export function onceAllowed(ask: () => Promise<Answer>): Promise<Answer> {
  return until(ask, ({ status }) => status !== 403)
}
