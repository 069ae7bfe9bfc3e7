import { describe, expect, test } from 'vitest'
import { createCatalogue } from '../catalogue.ts'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const set = 'apps/v1.StatefulSet'
const whole: Body = {
  metadata: { name: 'w', namespace: 'n' },
  spec: {
    serviceName: 's',
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const withClaim = (claim: Body, container: Body = {}): Body =>
  withChange(withChange(whole, 'spec/volumeClaimTemplates', [{ metadata: { name: 'v' }, spec: claim }]), 'spec/template/spec/containers', [
    { name: 'c', image: 'i', ...container },
  ])
const sound = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } }

describe('StatefulSets from 1.34 on', () => {
  const unnamed = withChange(whole, 'spec/template/spec/containers', [{ name: 'c' }])
  const missing = 'spec.template.spec.containers[0].image: Required value'

  test('have a valid template when they are new, or when the old template was valid', () => {
    expect(problemsOf(set, unnamed, { level: 33 })).toEqual([])
    expect(problemsOf(set, unnamed, { level: 34 })).toEqual([missing])
    expect(problemsOf(set, unnamed, { level: 34, live: whole })).toEqual([missing])
    expect(problemsOf(set, unnamed, { level: 34, live: unnamed })).toEqual([])
  })

  test('have valid templates of claims when they are new', () => {
    const empty = withClaim({ accessModes: ['X'] })
    const at = 'spec.volumeClaimTemplates[0].spec'
    expect(problemsOf(set, empty, { level: 33 })).toEqual([])
    expect(problemsOf(set, empty, { level: 34 })).toEqual([
      `${at}.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
      `${at}.resources[storage]: Required value`,
    ])
    expect(problemsOf(set, empty, { level: 34, live: empty })).toEqual([])
  })

  test('have no duplicate hosts and volumes', () => {
    const mounts = withClaim(sound, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })
    expect(problemsOf(set, withChange(mounts, 'spec/template/spec/subdomain', 'A!'), { level: 37 })).toEqual([])
    const twice = withChange(mounts, 'spec/template/spec/volumes', [{ name: 'v', emptyDir: {} }])
    expect(problemsOf(set, twice, { level: 37 })).toEqual([])
  })

  test('are named by a DNS label from 1.27 on', () => {
    const kindAt = (minor: number) => createCatalogue('orch', { minor }).resources.find(({ plural }) => plural === 'statefulsets')?.nameKind
    expect([kindAt(26), kindAt(27)]).toEqual(['subdomain', 'label'])
  })
})

const pod = (annotations: Body, spec: Body = {}): Body => ({
  metadata: { name: 'p', namespace: 'n', annotations },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const seccomp = 'seccomp.security.alpha.orch.io/pod'
const tolerations = 'scheduler.alpha.orch.io/tolerations'

describe('annotations of Pods', () => {
  test.each([
    ['localhost/../a', 'Invalid value: "../a": must not contain \'..\''],
    ['x', 'Invalid value: "x": must be a valid seccomp profile'],
  ])('about seccomp have valid profiles: %s', (profile, problem) => {
    expect(problemsOf('core/v1.Pod', pod({ [seccomp]: profile }), { level: 37 })).toEqual([`metadata.annotations.${seccomp}: ${problem}`])
    expect(problemsOf('core/v1.Pod', pod({ [`container.seccomp.security.alpha.orch.io/c`]: profile }), { level: 25 })).toEqual([
      `metadata.annotations.container.seccomp.security.alpha.orch.io/c: ${problem}`,
    ])
  })

  test('about seccomp agree with the fields', () => {
    const profile = { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a' } } }
    const at = 'spec.securityContext.seccompProfile'
    const problems = (annotation: string) => problemsOf('core/v1.Pod', pod({ [seccomp]: annotation }, profile), { level: 37 })
    expect(problems('localhost/a')).toEqual([])
    expect(problems('localhost/b')).toEqual([`${at}.localhostProfile: Forbidden: seccomp profile in annotation and field must match`])
    expect(problems('docker/default')).toEqual([`${at}.type: Forbidden: seccomp type in annotation and field must match`])
  })

  test.each([
    ['{', '', `Invalid value: "${tolerations}": unexpected end of JSON input`],
    ['{}', '', `Invalid value: "${tolerations}": json: cannot unmarshal object into Go value of type []core.Toleration`],
    ['[1]', '', `Invalid value: "${tolerations}": json: cannot unmarshal number into Go value of type core.Toleration`],
    [
      '[{"key":1}]',
      '',
      `Invalid value: "${tolerations}": json: cannot unmarshal number into Go struct field Toleration.Key of type string`,
    ],
    ['[{"key":"a","operator":"X"}]', `.${tolerations}[0].operator`, 'Unsupported value: "X": supported values: "Equal", "Exists"'],
    [
      '[{"key":"a","operator":"Exists","value":"v"}]',
      `.${tolerations}[0].operator`,
      'Invalid value: "v": value must be empty when `operator` is \'Exists\'',
    ],
  ])('about tolerations are parsed: %s', (text, path, problem) => {
    expect(problemsOf('core/v1.Pod', pod({ [tolerations]: text }), { level: 37 })).toEqual([`metadata.annotations${path}: ${problem}`])
  })
})

test('names of new admission configurations with the suffix of static manifests are refused from 1.37 on', () => {
  const binding: Body = { metadata: { name: 'a.static.orch.io' }, spec: { policyName: 'p', validationActions: ['Deny'] } }
  const type = 'admissionregistration/v1.ValidatingAdmissionPolicyBinding'
  const why = 'names ending with ".static.orch.io" are reserved for static manifest-based configurations and cannot be managed via the API'
  expect(problemsOf(type, binding, { level: 36 })).toEqual([])
  expect(problemsOf(type, binding, { level: 37 })).toEqual([`metadata.name: Invalid value: "a.static.orch.io": ${why}`])
  expect(problemsOf(type, binding, { level: 37, live: binding })).toEqual([])
})
