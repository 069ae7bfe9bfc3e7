import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration, printConfiguration } from '@orch/client'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { aKubectl, describeBothKubectls, describeKubectls, ownServer, sharedServer } from './kubectl.ts'

const openServer = sharedServer()

const failing = (command: Promise<string>) =>
  command.then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  )

describeBothKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('AUTHN-SA-01, AUTHN-SA-13: prints auth whoami, and uses a token from create token', async () => {
    // kubectl 1.27 requests its user in a beta version.
    const { kubectl, env } = await aKubectl(binary, () =>
      ownServer({ version: '1.28', runtimeConfig: ['authentication.k8s.io/v1beta1=true'] }),
    )
    const name = ['-o', 'jsonpath={.status.userInfo.username}']
    expect(await kubectl('auth', 'whoami', ...name)).toBe('kubernetes-admin')
    await kubectl('create', 'serviceaccount', 'till')
    const token = (
      await kubectl('create', 'token', 'till', '--duration=20m', '--audience=https://kubernetes.default.svc.cluster.local')
    ).trim()
    const account = 'system:serviceaccount:default:till'
    // A certificate precedes a token, so the command uses the token without the administrator's configuration.
    const bare = join(aFolder(), 'bare.conf')
    const admin = await loadConfiguration(env.KUBECONFIG)
    const configuration = { server: admin.server, certificateAuthority: admin.certificateAuthority ?? '', token }
    writeFileSync(bare, printConfiguration({ cluster: 'c', user: 'u', configuration }))
    expect(await kubectl('auth', 'whoami', ...name, `--kubeconfig=${bare}`)).toBe(account)
    expect(await failing(kubectl('get', 'pods', `--kubeconfig=${bare}`))).toContain(`User "${account}" cannot list resource "pods"`)
    expect(await failing(kubectl('create', 'token', 'nobody'))).toContain('serviceaccounts "nobody" not found')
  })
})

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('IMP-01, IMP-02, IMP-16: impersonates with --as if the user may, and is refused otherwise', async () => {
    const { kubectl } = await aKubectl(binary, openServer)
    await kubectl('create', 'rolebinding', 'jane-edits', '--clusterrole=edit', '--user=jane')
    await expect.poll(() => failing(kubectl('get', 'configmaps', '--as=jane'))).toBe('')
    await kubectl('create', 'configmap', 'hers', '--from-literal=a=b', '--as=jane')
    expect(await kubectl('get', 'configmap', 'hers', '--as=jane', '-o', 'jsonpath={.data.a}')).toBe('b')
    expect(await failing(kubectl('get', 'configmap', 'hers', '--as=john'))).toContain(
      'configmaps "hers" is forbidden: User "john" cannot get resource "configmaps" in API group "" in the namespace "default"',
    )
    expect(await failing(kubectl('delete', 'namespace', 'default', '--as=jane'))).toContain(
      'User "jane" cannot delete resource "namespaces"',
    )
  })

  test('IMP-03, IMP-12: adds a group with --as-group, and gives a service account its groups', async () => {
    const { kubectl } = await aKubectl(binary, openServer)
    await kubectl('create', 'rolebinding', 'accounts-view', '--clusterrole=view', '--group=system:serviceaccounts:default')
    const account = 'system:serviceaccount:default:till'
    await expect.poll(() => failing(kubectl('get', 'configmaps', `--as=${account}`))).toBe('')
    expect(await failing(kubectl('get', 'secrets', `--as=${account}`))).toContain(`User "${account}" cannot list resource "secrets"`)
    expect(await kubectl('get', 'secrets', '--as=john', '--as-group=system:masters', '-o', 'name')).toBe('')
  })

  test('AUTHN-SA-13: creates a token within the bounds of its duration, bound to an existing Pod or Secret', async () => {
    const { kubectl, withFile } = await aKubectl(binary, openServer)
    await kubectl('create', 'serviceaccount', 'till')
    const spec = { serviceAccountName: 'till', containers: [{ name: 'a', image: 'a' }] }
    await withFile('create', JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }))
    const uid = await kubectl('get', 'pod', 'p', '-o', 'jsonpath={.metadata.uid}')
    const toPod = ['create', 'token', 'till', '--bound-object-kind=Pod', '--bound-object-name=p']
    const token = await kubectl(...toPod, `--bound-object-uid=${uid}`)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims['kubernetes.io']).toMatchObject({ namespace: 'default', pod: { name: 'p', uid }, serviceaccount: { name: 'till' } })
    expect(await failing(kubectl(...toPod, '--bound-object-uid=other'))).toContain(
      'the UID in the bound object reference (other) does not match',
    )
    expect(await failing(kubectl('create', 'token', 'till', '--bound-object-kind=Secret', '--bound-object-name=none'))).toContain(
      'secrets "none" not found',
    )
    expect(await failing(kubectl('create', 'token', 'till', '--duration=5m'))).toContain('may not specify a duration less than 10 minutes')
  })
})
