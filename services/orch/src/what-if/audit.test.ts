import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { type RunningServer, start } from '../index.ts'
import { printingTerminal } from '../process/terminal-testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'audit-command-'))
let server: RunningServer

beforeAll(async () => {
  server = await start({ profile: 'kubernetes' })
  write('server.conf', server.kubeconfig)
  const { objects } = server.client
  for (const namespace of ['team-a', 'team-b']) {
    await objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    for (const name of ['old', 'new']) {
      const labels: Record<string, string> = name === 'new' ? { owner: 'ann' } : {}
      await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } })
    }
  }
  await server.install(write('widgets.json', JSON.stringify(definition({ size: { type: 'integer' }, colour: { type: 'string' } }))))
  const widget = (name: string, spec: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'team-a' },
    spec,
  })
  await objects.create(widget('small', { size: 1 }))
  await objects.create(widget('big', { size: 9, colour: 'red' }))
  await objects.create(role(['get', 'list', 'delete']))
  await objects.create({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'readers', namespace: 'team-a' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [
      { kind: 'ServiceAccount', name: 'deployer', namespace: 'team-b' },
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jürgen' },
    ],
  })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

function write(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function definition(properties: object, version = 'v1') {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' } },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [
        { name: version, served: true, storage: true, schema },
        ...(version === 'v1' ? [] : [{ name: 'v1', served: false, storage: false, schema }]),
      ],
    },
  }
}

function role(verbs: readonly string[]) {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'reader' }, rules }
}

function policy(operations: readonly string[], expression: string) {
  return {
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'owner' } },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['configmaps'] }] },
      validations: [{ expression, message: 'an owner is required' }],
    },
  }
}

function binding(action: string) {
  return {
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'owner' } },
    spec: { policyName: 'owner', validationActions: [action], matchResources: { namespaceSelector: inTeamA } },
  }
}

const inTeamA = { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } }
const hasOwner = "'owner' in object.metadata.?labels.orValue({})"

async function audit(items: readonly object[], ...given: string[]) {
  const words = given.some((word) => word.startsWith('--kubeconfig')) ? given : ['--kubeconfig=server.conf', ...given]
  const file = write('change.json', list(items))
  const { printed, terminal } = printingTerminal(folder, ['audit', file, ...words])
  const code = await runCommand(terminal)
  return { code, out: printed.out.split('\n'), error: printed.error }
}

async function auditJson(items: readonly object[], ...words: string[]) {
  const { code, out } = await audit(items, '--output=json', ...words)
  return { code, report: JSON.parse(out.join('\n')) }
}

function list(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

test('orch audit names the stored objects that a policy refuses, and only reads from the server', async () => {
  const auditor = server.user('auditor')
  write('auditor.conf', auditor.kubeconfig)
  const refusal = `configmaps "old" is forbidden: ValidatingAdmissionPolicy 'owner' with binding 'owner' denied request: an owner is required`
  expect(await audit([policy(['CREATE'], hasOwner), binding('Deny')], '--kubeconfig=auditor.conf')).toEqual({
    code: 1,
    out: [
      'VERDICT   OPERATIONS   OBJECT                    MESSAGE',
      `refused   create       v1 ConfigMap team-a/old   ${refusal}`,
      expect.stringMatching(/^objects: \d+ stored, 5 tried; 1 refused, 0 warned of, 0 audited$/),
      '',
    ],
    error: '',
  })
  const verbs = new Set(auditor.requests().map(({ verb }) => verb))
  expect(verbs).toEqual(new Set(['get', 'list']))
})

test.each([
  ['Warn', 'warned'],
  ['Audit', 'audited'],
])('orch audit ends with 0 for a policy whose binding says %s', async (action, verdict) => {
  const { code, report } = await auditJson([policy(['UPDATE', 'DELETE'], `object == null || ${hasOwner}`), binding(action)])
  const message = "Validation failed for ValidatingAdmissionPolicy 'owner' with binding 'owner': an owner is required"
  expect([code, report]).toMatchObject([0, { findings: [{ object: 'v1 ConfigMap team-a/old', operations: ['update'], verdict, message }] }])
})

test('orch audit tries deletions for a policy that matches DELETE', async () => {
  const { report } = await auditJson([policy(['DELETE'], "oldObject.metadata.name != 'new'"), binding('Deny')])
  expect(report).toMatchObject({ findings: [{ object: 'v1 ConfigMap team-a/new', operations: ['delete'], verdict: 'refused' }] })
})

test('orch audit names a policy without a binding, and uses the stored binding of a stored policy', async () => {
  const unbound = await auditJson([policy(['CREATE'], hasOwner)])
  const note = 'ValidatingAdmissionPolicy owner: no binding puts it into effect: it refuses nothing'
  expect([unbound.code, unbound.report]).toMatchObject([0, { findings: [], notes: [note] }])
  await using fork = await server.fork()
  await fork.install(write('bound.json', list([policy(['CREATE'], 'true'), binding('Audit')])))
  write('fork.conf', fork.kubeconfig)
  const { report } = await auditJson([policy(['CREATE'], hasOwner)], '--kubeconfig=fork.conf')
  expect(report).toMatchObject({ findings: [{ object: 'v1 ConfigMap team-a/old', verdict: 'audited' }], notes: [] })
})

test('orch audit names the stored objects that a schema refuses, and their fields that the schema lacks', async () => {
  const { code, out } = await audit([definition({ size: { type: 'integer', maximum: 5 } })])
  const message = 'Widget.example.com "big" is invalid: spec.size: Invalid value: 9: spec.size in body should be less than or equal to 5'
  expect([code, out.slice(1)]).toEqual([
    1,
    [
      'warned    create       example.com/v1 Widget team-a/big   unknown field "spec.colour"',
      `refused   create       example.com/v1 Widget team-a/big   ${message}`,
      expect.stringContaining(' stored, 2 tried; 1 refused, 1 warned of'),
      '',
    ],
  ])
})

test('orch audit names the stored objects of a version that would no longer be served', async () => {
  const { report } = await auditJson([definition({ size: { type: 'integer' } }, 'v2')])
  const finding = (name: string) => ({
    object: `example.com/v1 Widget team-a/${name}`,
    message: 'example.com/v1 would no longer be served',
  })
  expect(report).toMatchObject({ findings: [finding('big'), finding('small')] })
})

test('orch audit names the rights to stored objects that accounts lose and gain by a role', async () => {
  const { code, out } = await audit([role(['get', 'watch'])])
  expect([code, out.map((line) => line.split(/ {2,}/))]).toEqual([
    1,
    [
      ['ACCOUNT', 'CHANGE', 'VERBS', 'RESOURCE', 'NAMESPACES', 'OBJECTS'],
      ['ServiceAccount team-b/deployer', 'loses', 'delete,list', 'configmaps', 'team-a', '2'],
      ['ServiceAccount team-b/deployer', 'gains', 'watch', 'configmaps', 'team-a', '2'],
      ['User jürgen', 'loses', 'delete,list', 'configmaps', 'team-a', '2'],
      ['User jürgen', 'gains', 'watch', 'configmaps', 'team-a', '2'],
      [expect.stringContaining(' stored, 0 tried; 0 refused, 0 warned of, 0 audited; 2 rights lost')],
      [''],
    ],
  ])
  const more = await auditJson([role(['get', 'list', 'delete', 'watch'])])
  expect([more.code, more.report]).toMatchObject([0, { access: [{ change: 'gains' }, { change: 'gains' }] }])
  const { report } = await auditJson([
    { ...role([]), rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['old'] }] },
  ])
  expect(report).toMatchObject({
    access: [{ verbs: ['get'], objects: 1 }, { verbs: ['delete', 'list'], objects: 2 }, { objects: 1 }, { objects: 2 }],
  })
})

test('orch audit reads the stored objects from a dump, and names the objects that it cannot check', async () => {
  const given = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team-c' } }
  const wrong = { ...given, metadata: { ...given.metadata, name: 'wrong' }, data: { 'a b': '' } }
  write('dump.json', list([{ ...given, metadata: { ...given.metadata, name: 'c' } }, wrong]))
  const anywhere = { ...binding('Deny'), spec: { policyName: 'owner', validationActions: ['Deny'] } }
  const { report } = await auditJson([policy(['CREATE'], hasOwner), anywhere], '--stored=dump.json')
  expect(report).toMatchObject({
    ...{ stored: 2, tried: 2, findings: [{ object: 'v1 ConfigMap team-c/c', verdict: 'refused' }] },
    unchecked: [{ kind: 'ConfigMap', operation: 'create', count: 1, message: expect.stringContaining('data[a b]') }],
  })
})

test.each<[string, readonly object[], readonly string[], number, string]>([
  ['a policy that does not compile', [policy(['CREATE'], 'object.')], [], 1, 'ValidatingAdmissionPolicy owner: '],
  ['a kind that is not served', [{ apiVersion: 'no.example.com/v1', kind: 'No', metadata: { name: 'no' } }], [], 1, 'no.example.com'],
  [
    'a webhook',
    [{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'a' } }],
    [],
    1,
    'change.json:1: webhooks are not called by orch audit',
  ],
  ['a dump that is not there', [role([])], ['--stored=absent.json'], 1, 'absent.json: there is no such file or folder'],
  ['a file that is not there', [role([])], ['absent.yaml'], 1, 'absent.yaml: there is no such file or folder'],
  ['no client configuration', [role([])], ['--kubeconfig=absent.conf'], 1, 'absent.conf; give one with --kubeconfig'],
  ['a wrong output', [role([])], ['--output=wide'], 2, 'table'],
])('orch audit with %s says so', async (_what, items, words, code, message) => {
  expect(await audit(items, ...words)).toEqual({ code, out: [''], error: expect.stringContaining(message) })
})
