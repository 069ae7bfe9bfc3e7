import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration } from '@orch/client'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { aKubectl, describeKubectls, ownServer, sharedServer } from './kubectl.ts'

const openServer = sharedServer()

const policy = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: reader }
rules:
- { apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list"] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: readers }
subjects:
- { kind: Group, apiGroup: rbac.authorization.k8s.io, name: readers }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader }
`

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  /** The error output of a failing command. */
  const failing = async (command: Promise<string>): Promise<string> => {
    const error: unknown = await command.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    const { stdout = '', stderr = '' } = (error ?? {}) as { stdout?: string; stderr?: string }
    return `${stdout}${stderr}`
  }

  test('AUTHZ-03: creates roles and bindings, and shows the rights of a user', async () => {
    const { kubectl } = await aKubectl(binary, openServer)
    await kubectl('create', 'role', 'pod-reader', '--verb=get,list,watch', '--resource=pods,pods/log')
    await kubectl('create', 'rolebinding', 'jane-reads', '--role=pod-reader', '--user=jane')
    await kubectl('create', 'clusterrole', 'probes', '--verb=get', '--non-resource-url=/metrics')
    await kubectl('create', 'clusterrolebinding', 'jane-probes', '--clusterrole=probes', '--user=jane', '--group=team')
    const can = async (...args: string[]) =>
      (await kubectl('auth', 'can-i', ...args).catch((error: { stdout: string }) => error.stdout)).trim()
    await expect.poll(() => can('get', '/metrics', '--as=jane')).toBe('yes')
    expect(await can('create', 'deployments')).toBe('yes')
    expect(await can('list', 'pods', '--as=jane')).toBe('yes')
    expect(await can('get', 'pods', '--subresource=log', '--as=jane')).toBe('yes')
    expect(await can('get', 'pods', '--subresource=exec', '--as=jane')).toBe('no')
    expect(await can('delete', 'pods', '--as=jane')).toBe('no')
    expect(await can('list', 'pods', '--as=jane', '-n', 'kube-system')).toBe('no')
    expect(await can('get', '/metrics', '--as=joe', '--as-group=team')).toBe('yes')
    expect(await can('get', '/metrics', '--as=joe', '--as-group=other')).toBe('no')
    const list = await kubectl('auth', 'can-i', '--list', '--as=jane')
    expect(list).toMatch(/^pods\/log\s+\[\]\s+\[\]\s+\[get list watch\]$/m)
    expect(list).toMatch(/\[\/metrics\]/)
    expect(await kubectl('auth', 'can-i', '--list')).toMatch(/^\*\.\*\s+\[\]\s+\[\]\s+\[\*\]$/m)
  })

  test('AUTHZ-01: a restricted user reads the allowed objects, and other reads are refused', async () => {
    const { kubectl } = await aKubectl(binary, openServer)
    await kubectl('create', 'rolebinding', 'jane-views', '--clusterrole=view', '--user=jane')
    await kubectl('create', 'configmap', 'shown', '--from-literal=a=b')
    await expect.poll(() => kubectl('get', 'configmaps', '--as=jane').catch(() => '')).toContain('shown')
    expect(await failing(kubectl('get', 'secrets', '--as=jane'))).toContain(
      'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "default"',
    )
    expect(await failing(kubectl('delete', 'configmap', 'shown', '--as=jane'))).toContain(
      'configmaps "shown" is forbidden: User "jane" cannot delete resource "configmaps" in API group "" in the namespace "default"',
    )
    expect(await failing(kubectl('get', 'nodes', '--as=jane'))).toContain(
      'cannot list resource "nodes" in API group "" at the cluster scope',
    )
  })

  test('AUTHZ-08: reconciles roles and bindings from a file', async () => {
    const { kubectl, withFile } = await aKubectl(binary, openServer)
    await withFile('create', policy)
    const file = join(aFolder(), 'policy.yaml')
    writeFileSync(
      file,
      policy.replace('"get", "list"', '"get", "list", "watch"').replace('name: readers }\nroleRef', 'name: more }\nroleRef'),
    )
    const said = await kubectl('auth', 'reconcile', '-f', file)
    expect(said).toContain('clusterrole.rbac.authorization.k8s.io/reader reconciled')
    expect(await kubectl('get', 'clusterrole', 'reader', '-o', 'jsonpath={.rules[*].verbs[*]}')).toContain('watch')
    const subjects = await kubectl('get', 'clusterrolebinding', 'readers', '-o', 'jsonpath={.subjects[*].name}')
    expect(subjects).toBe('readers more')
    const versions = () =>
      kubectl('get', 'clusterrole/reader', 'clusterrolebinding/readers', '-o', 'jsonpath={.items[*].metadata.resourceVersion}')
    const before = await versions()
    await kubectl('auth', 'reconcile', '-f', file)
    expect(await versions()).toBe(before)
    writeFileSync(file, policy.replace('"get", "list"', '"get"'))
    await kubectl('auth', 'reconcile', '-f', file, '--remove-extra-permissions', '--remove-extra-subjects')
    expect(await kubectl('get', 'clusterrole', 'reader', '-o', 'jsonpath={.rules[*].verbs[*]}')).toBe('get')
    expect(await kubectl('get', 'clusterrolebinding', 'readers', '-o', 'jsonpath={.subjects[*].name}')).toBe('readers')
    // The role of a binding is immutable, so the client deletes the binding and creates it again.
    writeFileSync(file, policy.replace('kind: ClusterRole, name: reader', 'kind: ClusterRole, name: view'))
    await kubectl('auth', 'reconcile', '-f', file)
    expect(await kubectl('get', 'clusterrolebinding', 'readers', '-o', 'jsonpath={.roleRef.name}')).toBe('view')
    // At the first refusal kubectl 1.37 panics; other versions print the message.
    writeFileSync(file, policy)
    expect(await failing(kubectl('auth', 'reconcile', '-f', file, '--as=jane'))).toMatch(
      /User "jane" cannot get resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope|RunReconcile/,
    )
    expect(await kubectl('get', 'clusterrolebinding', 'readers', '-o', 'jsonpath={.roleRef.name}')).toBe('view')
  })

  test('AUTHZ-03: aggregates rules of cluster roles, and refuses to grant permissions that the grantor lacks', async () => {
    const { kubectl } = await aKubectl(binary, openServer)
    await kubectl('create', 'clusterrole', 'sum', '--aggregation-rule=example.com/to-sum=true')
    await kubectl('create', 'clusterrole', 'part', '--verb=list', '--resource=nodes')
    await kubectl('label', 'clusterrole', 'part', 'example.com/to-sum=true')
    await kubectl('create', 'clusterrolebinding', 'ann-sum', '--clusterrole=sum', '--user=ann')
    await kubectl('create', 'rolebinding', 'ann-admin', '--clusterrole=admin', '--user=ann')
    await expect.poll(() => failing(kubectl('get', 'nodes', '--as=ann'))).toBe('')
    await kubectl('create', 'rolebinding', 'joe-views', '--clusterrole=view', '--user=joe', '--as=ann')
    expect(await failing(kubectl('create', 'rolebinding', 'joe-all', '--clusterrole=cluster-admin', '--user=joe', '--as=ann'))).toContain(
      `rolebindings.rbac.authorization.k8s.io "joe-all" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:["*"], Resources:["*"], Verbs:["*"]}
{NonResourceURLs:["*"], Verbs:["*"]}`,
    )
    expect(await failing(kubectl('create', 'role', 'more', '--verb=delete', '--resource=nodes', '--as=ann'))).toContain(
      '{APIGroups:[""], Resources:["nodes"], Verbs:["delete"]}',
    )
    expect(await failing(kubectl('create', 'role', 'more', '--verb=get', '--resource=pods', '--as=joe'))).toContain(
      'User "joe" cannot create resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "default"',
    )
  })

  test('FLAG-30, CLI-02: --token names the user', async () => {
    // kubectl 1.27 requests its user in a beta version.
    const { kubectl, env } = await aKubectl(binary, () =>
      ownServer({ version: '1.28', runtimeConfig: ['authentication.k8s.io/v1beta1=true'] }),
    )
    await kubectl('create', 'serviceaccount', 'till')
    const token = (await kubectl('create', 'token', 'till')).trim()
    const admin = await loadConfiguration(env.KUBECONFIG)
    const authority = join(aFolder(), 'ca.crt')
    writeFileSync(authority, admin.certificateAuthority ?? '')
    const bare = ['--kubeconfig=/dev/null', `--server=${admin.server}`, `--certificate-authority=${authority}`]
    const name = ['-o', 'jsonpath={.status.userInfo.username}']
    expect(await kubectl('auth', 'whoami', ...name, ...bare, `--token=${token}`)).toBe('system:serviceaccount:default:till')
    expect(await failing(kubectl('get', 'pods', ...bare, '--token=wrong'))).toContain('You must be logged in to the server')
  })
})
