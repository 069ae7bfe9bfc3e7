import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../command-line.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

async function validate(...args: string[]) {
  const printed = { out: '', error: '' }
  const code = await runCommand({
    arguments: ['validate', ...args],
    env: {},
    workingFolder: folder,
    out(text) {
      printed.out += text
    },
    error(text) {
      printed.error += text
    },
  })
  return { code, ...printed }
}

const printed = (code: number, ...lines: string[]) => ({ code, out: lines.map((line) => `${line}\n`).join(''), error: '' })

const deployment = (name: string, namespace = 'default') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: web:1
`
const restricted = `apiVersion: v1
kind: Namespace
metadata:
  name: strict
  labels:
    pod-security.kubernetes.io/enforce: restricted
`
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {type: integer, maximum: 5}
              x-kubernetes-validations:
                - rule: self.size != 3
                  message: size must not be 3
`
const widget = (size: number) => `apiVersion: example.com/v1
kind: Widget
metadata:
  name: w
spec:
  size: ${size}
`

describe('findings', () => {
  test('are empty for valid files', async () => {
    write('web.yaml', deployment('web'))
    expect(await validate('web.yaml')).toEqual(printed(0, '1 object in 1 file: 0 errors, 0 warnings'))
  })

  test('name the line of a field with a refused value', async () => {
    write(
      'deploy/service.yaml',
      '---\n# first\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n    - port: 80\n      name: a\n    - port: 0\n      targetPort: 1\n      name: b\n',
    )
    expect(await validate('deploy')).toEqual(
      printed(
        1,
        'deploy/service.yaml:10: error: Service s: spec.ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        '1 object in 1 file: 1 error, 0 warnings',
      ),
    )
  })

  test('for a value of a wrong type do not hide other wrong values or unknown fields', async () => {
    const text = deployment('web').replace('spec:\n', 'spec:\n  replicas: "x"\n  pausd: true\n')
    write('web.yaml', text.replace('image: web:1', 'image: web:1\n          ports: [{containerPort: http}]'))
    expect(await validate('web.yaml')).toEqual(
      printed(
        1,
        'web.yaml:7: error: Deployment web: spec.replicas: expected integer, got string',
        'web.yaml:8: error: Deployment web: unknown field "spec.pausd"',
        'web.yaml:18: error: Deployment web: spec.template.spec.containers[0].ports[0].containerPort: expected integer, got string',
        '1 object in 1 file: 3 errors, 0 warnings',
      ),
    )
  })

  test('for a value of a wrong type do not call a known field unknown', async () => {
    const text = deployment('web').replace('spec:\n', 'spec:\n  replicas: "x"\n')
    write('web.yaml', text.replace('image: web:1', 'image: web:1\n          restartPolicyRules: []'))
    expect((await validate('web.yaml')).out).toBe(
      'web.yaml:7: error: Deployment web: spec.replicas: expected integer, got string\n1 object in 1 file: 1 error, 0 warnings\n',
    )
  })

  test('for an unknown field do not hide a refused value', async () => {
    write('service.yaml', 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  prots: []\n  ports: [{port: 0}]\n')
    expect((await validate('service.yaml')).out).toMatch(
      /^service\.yaml:5: error: Service s: unknown field "spec\.prots"\nservice\.yaml:6: error: Service s: spec\.ports\[0\]\.port: Invalid value: 0/,
    )
  })

  test('report a repeated key as an error at the line of its second value', async () => {
    write('map.yaml', '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: b\n  a: c\n')
    expect((await validate('map.yaml')).out).toContain('map.yaml:7: error: ConfigMap m: key "a" already set in map\n')
  })

  test('name the files by the given paths', async () => {
    write('deploy/a.yaml', 'a: [\n')
    for (const [given, name] of [
      ['./deploy/a.yaml', './deploy/a.yaml'],
      [join(folder, 'deploy/a.yaml'), join(folder, 'deploy/a.yaml')],
      ['deploy', 'deploy/a.yaml'],
      ['.', 'deploy/a.yaml'],
    ] as const) {
      expect((await validate(given)).out.split(':')[0]).toBe(name)
    }
  })

  test('report unknown fields as errors, each with its line', async () => {
    write('web.yaml', deployment('web').replace('spec:\n', 'spec:\n  replica: 2\n  pausd: true\n'))
    expect(await validate('web.yaml')).toEqual(
      printed(
        1,
        'web.yaml:7: error: Deployment web: unknown field "spec.replica"',
        'web.yaml:8: error: Deployment web: unknown field "spec.pausd"',
        '1 object in 1 file: 2 errors, 0 warnings',
      ),
    )
  })

  test('for invalid YAML, or for an object without a kind, do not hide findings of other files', async () => {
    write('a.yaml', 'a: [\n')
    write('b.yaml', 'metadata: {name: b}\n')
    write('c.yaml', `${deployment('web')}---\n${deployment('web')}`)
    const { code, out } = await validate('.')
    expect(code).toBe(1)
    expect(out).toMatch(
      /^a\.yaml:1: error: .*\nb\.yaml:1: error: the object has no apiVersion or no kind\nc\.yaml:17: error: Deployment web: deployments\.apps "web" already exists\n2 objects in 3 files: 3 errors, 0 warnings\n$/,
    )
  })

  test('name the lines of the items of a List', async () => {
    write(
      'list.yaml',
      'apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n    date: {}\n',
    )
    expect((await validate('list.yaml')).out).toContain('list.yaml:10: error: ConfigMap b: unknown field "date"\n')
  })

  test('include warnings of the server, which count as errors if asked for', async () => {
    write(
      'pod.yaml',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default}}\nspec: {containers: [{name: c, image: i}]}\n',
    )
    const { code, out } = await validate('pod.yaml')
    expect(code).toBe(0)
    expect(out).toMatch(/^pod\.yaml:\d+: warning: Pod p: .*seccomp/)
    expect((await validate('--warnings-as-errors', 'pod.yaml')).code).toBe(1)
  })

  test('are printed as JSON on request', async () => {
    write('c.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n')
    const { code, out } = await validate('--output', 'json', 'c.yaml')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      objects: 1,
      files: 1,
      findings: [{ file: 'c.yaml', line: 3, severity: 'error', object: 'ConfigMap A' }],
    })
  })
})

describe('the checks', () => {
  test('cover custom resources by definitions among the files, in any order, with their rules', async () => {
    write('a.yaml', widget(3))
    write('z.yaml', definition)
    expect(await validate('.')).toEqual(
      printed(1, 'a.yaml:5: error: Widget w: spec: Invalid value: size must not be 3', '2 objects in 2 files: 1 error, 0 warnings'),
    )
  })

  test('cover custom resources by given definitions', async () => {
    write('given/z.yaml', definition)
    write('w.yaml', widget(9))
    expect((await validate('w.yaml')).out).toContain('w.yaml:1: error: Widget w: no kind Widget in example.com/v1: it is not served')
    expect((await validate('--given=given', 'w.yaml')).out).toContain('w.yaml:6: error: Widget w: spec.size: Invalid value: 9: ')
    expect(await validate('--given', 'given', 'w.yaml')).toEqual(await validate('--given=given', 'w.yaml'))
  })

  test('accept given objects with metadata from a server, and report the ignored members in a line', async () => {
    write(
      'given.yaml',
      `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata:
    name: default
    uid: 3d1b5c0e-6a4c-4a3f-8a51-1f2f4d0c7a11
    resourceVersion: "12"
    creationTimestamp: "2026-01-01T00:00:00Z"
    labels: {pod-security.kubernetes.io/enforce: restricted}
    managedFields: [{manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}]
  spec: {finalizers: [kubernetes]}
  status: {phase: Active}
`,
    )
    write('web.yaml', deployment('web'))
    const { code, out } = await validate('--given=given.yaml', 'web.yaml')
    expect(code).toBe(1)
    const setAside =
      'resourceVersion, uid, managedFields and status are set aside: only the server that the object came from knows what they mean'
    expect(out).toContain(`given.yaml:4: note: Namespace default: ${setAside}\n`)
    expect(out).toMatch(/web\.yaml:1: error: Deployment web: its Pods would be refused: .*violates PodSecurity "restricted:latest"/)
  })

  test('cover the Pods of workloads by the pod security of their namespace, and of no other namespace', async () => {
    write('all.yaml', [restricted, deployment('in', 'strict'), deployment('out', 'other')].join('---\n'))
    const { code, out } = await validate('all.yaml')
    expect(code).toBe(1)
    expect(out).toMatch(/^all\.yaml:8: error: Deployment in: its Pods would be refused: .*violates PodSecurity "restricted:latest"/)
    expect(out).not.toContain('Deployment out')
  })

  test('give the Pods of a StatefulSet the volumes of its claim templates', async () => {
    const set = (mounted: string) => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ${mounted}}
spec:
  selector: {matchLabels: {app: a}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  template:
    metadata: {labels: {app: a}}
    spec:
      volumes: [{name: data, emptyDir: {}}, {name: other, emptyDir: {}}]
      containers: [{name: a, image: a, volumeMounts: [{name: ${mounted}, mountPath: /x}]}]
`
    write('sets.yaml', ['data', 'other', 'none'].map(set).join('---\n'))
    const { code, out } = await validate('sets.yaml')
    expect(code).toBe(1)
    expect(out).toMatch(
      /^sets\.yaml:\d+: error: StatefulSet none: spec\.template\..*Not found: "none"\n3 objects in 1 file: 1 error, 0 warnings\n$/,
    )
  })

  test('ignore kustomization files', async () => {
    write('all/kustomization.yaml', 'resources: [a.yaml]\n')
    write('all/a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n')
    expect(await validate('all')).toEqual(printed(0, '1 object in 1 file: 0 errors, 0 warnings'))
  })

  test('cover given quotas', async () => {
    write(
      'quota.yaml',
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: default}\nspec: {hard: {count/configmaps: "1"}}\n',
    )
    write('maps.yaml', ['a', 'b'].map((name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`).join('---\n'))
    expect((await validate('maps.yaml')).code).toBe(0)
    expect((await validate('--given=quota.yaml', 'maps.yaml')).out).toMatch(/^maps\.yaml:\d: error: ConfigMap [ab]: .*exceeded quota: q/)
  })

  test('cover webhook configurations, without calling their webhooks', async () => {
    const webhook =
      '{name: w.example.com, clientConfig: {url: "https://127.0.0.1:1/"}, rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}], sideEffects: None, admissionReviewVersions: [v1]}'
    write(
      'a.yaml',
      `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v}\nwebhooks: [${webhook}]\n`,
    )
    write('b.yaml', deployment('web'))
    expect((await validate('.')).out).toBe('2 objects in 2 files: 0 errors, 0 warnings\n')
    write(
      'a.yaml',
      'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v}\nwebhooks: [{name: w}]\n',
    )
    expect((await validate('.')).code).toBe(1)
  })

  test('cover objects of the other profile', async () => {
    write('role.yaml', 'apiVersion: rbac.authorization.orch.io/v1\nkind: Role\nmetadata: {name: r}\nrules: []\n')
    expect(await validate('role.yaml')).toEqual(printed(0, '1 object in 1 file: 0 errors, 0 warnings'))
    expect((await validate('--profile=kubernetes', 'role.yaml')).code).toBe(1)
  })
})

describe('an invalid command line', () => {
  test.each([
    ['no files', [], 2, 'files or folders are needed: orch validate deploy/'],
    ['files that are not there', ['nosuch'], 1, 'nosuch: there is no such file or folder'],
    ['an unknown flag', ['--nosuch', '.'], 2, 'unknown flag --nosuch'],
  ])('%s', async (_what, args, code, reason) => {
    expect(await validate(...args)).toEqual({ code, out: '', error: expect.stringContaining(reason) })
  })

  test('includes objects of --given that the server refuses', async () => {
    write('given.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n')
    write('a.yaml', deployment('web'))
    expect(await validate('--given=given.yaml', 'a.yaml')).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(/--given: .*given\.yaml:1: ConfigMap "A" is invalid/),
    })
  })
})

describe('policies', () => {
  const group = 'admissionregistration.k8s.io/v1'
  const policy = (name: string, spec: string, resource = '[apps], apiVersions: [v1], resources: [deployments]') => `apiVersion: ${group}
kind: ValidatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: ${resource}}]
${spec}
`
  const binding = (name: string, action: string, rest = '') => `apiVersion: ${group}
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: ${name}, validationActions: [${action}]${rest}}
`
  const team = '  validations: [{expression: "has(object.metadata.labels)", message: labels are required}]'
  const said = (action: string) => `ValidatingAdmissionPolicy 'team' with binding 'team'${action} labels are required`

  test.each([
    ['Deny', 1, `error: Deployment web: ${said(' denied request:')}`, '1 error, 0 warnings'],
    ['Warn', 0, `warning: Deployment web: Validation failed for ${said(':')}`, '0 errors, 1 warning'],
    ['Audit', 0, `audit: Deployment web: Validation failed for ${said(':')}`, '0 errors, 0 warnings, 1 audited'],
  ])('among the files: %s', async (action, code, expected, counts) => {
    write('a.yaml', deployment('web'))
    write('z.yaml', [policy('team', team), binding('team', action)].join('---\n'))
    expect(await validate('.')).toEqual(printed(code, `a.yaml:1: ${expected}`, `3 objects in 2 files: ${counts}`))
  })

  test('of --given do not check the given objects', async () => {
    write('given/web.yaml', deployment('given'))
    write('given/policy.yaml', [binding('team', 'Deny'), policy('team', team)].join('---\n'))
    write('web.yaml', deployment('web'))
    expect(await validate('--given=given', 'web.yaml')).toEqual(
      printed(1, `web.yaml:1: error: Deployment web: ${said(' denied request:')}`, '1 object in 1 file: 1 error, 0 warnings'),
    )
  })

  test('VAP-14: without a binding do nothing', async () => {
    write('web.yaml', deployment('web'))
    write('policy.yaml', policy('team', team))
    expect(await validate('.')).toEqual(printed(0, '2 objects in 2 files: 0 errors, 0 warnings'))
  })

  test('find their parameters, of custom kinds too, in any order of the files', async () => {
    const params = '  paramKind: {apiVersion: example.com/v1, kind: Widget}\n'
    const limit =
      "  validations: [{expression: 'object.spec.replicas <= params.spec.size', messageExpression: \"'at most ' + string(params.spec.size)\"}]"
    const reference = ', paramRef: {name: limit, parameterNotFoundAction: Deny}'
    write('a.yaml', deployment('web').replace('spec:', 'spec:\n  replicas: 3'))
    write('b.yaml', [policy('limit', params + limit), binding('limit', 'Deny', reference)].join('---\n'))
    write('c.yaml', 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: limit, namespace: default}\nspec: {size: 2}\n')
    write('d.yaml', definition)
    const { code, out } = await validate('.')
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        "a.yaml:1: error: Deployment web: ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: at most 2\n",
      ),
    ])
  })

  test('for Pods also check the Pods of workloads', async () => {
    const pods = policy(
      'team',
      '  validations: [{expression: "\'team\' in object.metadata.labels", message: no team}]',
      "[''], apiVersions: [v1], resources: [pods]",
    )
    write('a.yaml', deployment('web'))
    write('b.yaml', [pods, binding('team', 'Audit')].join('---\n'))
    const warning = "of its Pods: Validation failed for ValidatingAdmissionPolicy 'team' with binding 'team': no team"
    expect(await validate('.')).toEqual(
      printed(0, `a.yaml:1: audit: Deployment web: ${warning}`, '3 objects in 2 files: 0 errors, 0 warnings, 1 audited'),
    )
  })

  test('that mutate change the checked objects', async () => {
    const mutating = policy(
      'team',
      '  reinvocationPolicy: Never\n  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{replicas: -1}}"}}]',
    )
    write('a.yaml', deployment('web'))
    write(
      'b.yaml',
      [
        mutating.replace('Validating', 'Mutating'),
        `apiVersion: ${group}\nkind: MutatingAdmissionPolicyBinding\nmetadata: {name: team}\nspec: {policyName: team}\n`,
      ].join('---\n'),
    )
    const { code, out } = await validate('.')
    expect([code, out]).toEqual([1, expect.stringMatching(/^a.yaml:\d+: error: Deployment web: spec.replicas: Invalid value: -1/)])
  })

  test('report unknown inputs: the user, and the labels of an absent namespace', async () => {
    const asking = policy(
      'asking',
      "  matchConditions: [{name: c, expression: \"!authorizer.requestResource.check('bypass').allowed()\"}]\n  validations: [{expression: 'false'}]",
    )
    const reading = policy(
      'reading',
      "  validations: [{expression: \"'a' in namespaceObject.metadata.?labels.orValue({'a': ''}) || true\"}]",
    )
    write('a.yaml', [asking, binding('asking', 'Deny'), reading, binding('reading', 'Deny')].join('---\n'))
    write('b.yaml', [deployment('web', 'strict'), deployment('other', 'elsewhere'), deployment('more', 'elsewhere')].join('---\n'))
    write('c.yaml', restricted.replace('restricted', 'privileged'))
    expect(await validate('.')).toEqual(
      printed(
        0,
        'a.yaml:1: note: ValidatingAdmissionPolicy asking: it asks the authorizer, which is not known here: requests are evaluated as those of an administrator',
        'b.yaml:17: note: Deployment other: the namespace elsewhere is not among the files or those of --given: reading see it without labels',
        '8 objects in 3 files: 0 errors, 0 warnings, 2 notes',
      ),
    )
  })

  test('that are invalid are refused like any other object', async () => {
    write('a.yaml', policy('bad', '  validations: 7'))
    write('b.yaml', binding('bad', 'Denied'))
    const { code, out } = await validate('.')
    expect(code).toBe(1)
    expect(out).toContain('b.yaml:4: error: ValidatingAdmissionPolicyBinding bad: spec.validationActions[0]: Unsupported value: "Denied"')
  })
})
