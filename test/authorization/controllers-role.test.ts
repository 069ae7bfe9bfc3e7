import { controllersUser } from '@orch/core/rbac'
import { expect, test } from 'vitest'
import { aName, sharedApi } from '../api/api.ts'
import { aBinding, aClusterRole, aPerson, rbac } from './people.ts'

const served = sharedApi()
const controllers = () => aPerson(served.api, controllersUser)

/** True if the controllers' user may do this. */
async function mayControllers(resourceAttributes: object): Promise<unknown> {
  const body = { apiVersion: 'authorization.orch.io/v1', kind: 'SubjectAccessReview', spec: { user: controllersUser, resourceAttributes } }
  const { body: review } = await served.api.send('POST', '/apis/authorization.orch.io/v1/subjectaccessreviews', { body })
  return (review['status'] as { allowed?: boolean }).allowed
}

test('the user of the controllers may not write roles and bindings, or extend its own rights', async () => {
  const user = controllers()
  for (const [plural, body] of [
    ['clusterrolebindings', aBinding('ClusterRoleBinding', aName('mine'), 'ClusterRole', 'cluster-admin', user.name)],
    ['clusterroles', aClusterRole(aName('mine'), [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])],
  ] as const) {
    expect(await user.post(`${rbac}/${plural}`, body)).toMatchObject({ status: 403 })
  }
  const patch = { headers: { 'content-type': 'application/merge-patch+json' } }
  for (const name of ['clusterrolebindings/cluster-admin', 'clusterroles/system:controllers'])
    expect(await user.send('PATCH', `${rbac}/${name}`, { ...patch, body: { metadata: { labels: { mine: '1' } } } })).toMatchObject({
      status: 403,
    })
})

test('an account of a controller may not add a subject to the binding of cluster-admin', async () => {
  const collector = aPerson(served.api, 'system:serviceaccount:orch-system:generic-garbage-collector', 'system:serviceaccounts')
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: controllersUser }]
  const sending = { headers: { 'content-type': 'application/merge-patch+json' }, body: { subjects } }
  expect(await collector.send('PATCH', `${rbac}/clusterrolebindings/cluster-admin`, sending)).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('attempting to grant') },
  })
})

test('the user of the controllers may impersonate their accounts in the system namespace, and no other user, group or account', async () => {
  const inSystem = { verb: 'impersonate', resource: 'serviceaccounts', namespace: 'orch-system' }
  expect(await mayControllers({ ...inSystem, name: 'namespace-controller' })).toBe(true)
  for (const other of [
    { ...inSystem, name: 'default' },
    { ...inSystem, name: 'namespace-controller', namespace: 'default' },
    { verb: 'impersonate', resource: 'users', name: 'admin' },
    { verb: 'impersonate', resource: 'groups', name: 'system:masters' },
    { verb: 'escalate', group: 'rbac.authorization.orch.io', resource: 'clusterroles' },
    { verb: 'bind', group: 'rbac.authorization.orch.io', resource: 'clusterroles', name: 'cluster-admin' },
    { verb: 'create', resource: 'pods', namespace: 'default' },
    { verb: 'create', resource: 'serviceaccounts', subresource: 'token', namespace: 'default' },
    { verb: 'update', group: 'coordination.orch.io', resource: 'leases', namespace: 'orch-system', name: 'other' },
  ])
    expect(await mayControllers(other), JSON.stringify(other)).not.toBe(true)
})
