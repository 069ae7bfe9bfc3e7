import { describe, expect, test } from 'vitest'
import { namesOf } from '../../../names.ts'
import { warningsAt } from '../../testing/readers-testing.ts'
import { type Body, problemsOf } from '../../testing/rules-testing.ts'

const type = 'core/v1.Pod'
const key = 'container.apparmor.security.beta.orch.io/c'
const pod = (fields: Body, own: Body = {}, annotations: Body = {}): Body => ({
  metadata: { name: 'p', namespace: 'n', annotations },
  spec: { containers: [{ name: 'c', image: 'i', ...own }], ...fields },
})
const secured = (securityContext: Body): Body => pod({ securityContext })
const isGateOn = () => true

const security = 'spec.securityContext'
const own = 'spec.containers[0].securityContext'
const device = { volumeDevices: [{ name: 'v', devicePath: '/d' }] }
const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }]

const rows: readonly (readonly [name: string, level: number, body: Body, ...expected: string[]])[] = [
  ['groups are merged or strict', 31, secured({ supplementalGroupsPolicy: 'Strict' })],
  [
    'groups are not of another word',
    31,
    secured({ supplementalGroupsPolicy: '' }),
    `${security}.supplementalGroupsPolicy: Unsupported value: "": supported values: "Merge", "Strict"`,
  ],
  ['a profile of the node has a name', 30, secured({ appArmorProfile: { type: 'Localhost', localhostProfile: 'a' } })],
  [
    'a profile of the node needs a name',
    30,
    secured({ appArmorProfile: { type: 'Localhost' } }),
    `${security}.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost`,
  ],
  [
    'a profile of the node has a name without spaces around it',
    30,
    secured({ appArmorProfile: { type: 'Localhost', localhostProfile: ' a' } }),
    `${security}.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace`,
  ],
  [
    'a profile of the node has a name of at most 4095 bytes',
    30,
    secured({ appArmorProfile: { type: 'Localhost', localhostProfile: 'a'.repeat(4096) } }),
    `${security}.appArmorProfile.localhostProfile: Too long: may not be longer than 4095`,
  ],
  [
    'other profiles have no name',
    30,
    secured({ appArmorProfile: { type: 'Unconfined', localhostProfile: 'a' } }),
    `${security}.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost`,
  ],
  [
    'a profile has a type',
    30,
    secured({ appArmorProfile: {} }),
    `${security}.appArmorProfile.type: Required value: type is required when appArmorProfile is set`,
  ],
  [
    'a profile has a type that is known',
    30,
    secured({ appArmorProfile: { type: 'X' } }),
    `${security}.appArmorProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
  ],
  [
    'an annotation says what the field says',
    30,
    pod({}, { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, { [key]: 'unconfined' }),
    `${own}.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`,
  ],
  [
    'an annotation says what the field of the Pod says',
    30,
    pod({ securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'a' } } }, {}, { [key]: 'localhost/b' }),
    `${own}.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match`,
  ],
  [
    'volumes are labelled file by file before 1.37',
    36,
    secured({ seLinuxChangePolicy: 'MountOption' }),
    `${security}.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"`,
  ],
  ['volumes are labelled by their mounts from 1.37 on', 37, secured({ seLinuxChangePolicy: 'MountOption' })],
  [
    '/proc is unmasked for own users only',
    30,
    pod({}, { securityContext: { procMount: 'Unmasked' } }),
    `${own}.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
  ],
  ['/proc is unmasked for own users', 30, pod({ hostUsers: false }, { securityContext: { procMount: 'Unmasked' } })],
  [
    'own users share no other namespace',
    33,
    pod({ hostUsers: false, hostPID: true }),
    'spec.HostPID: Forbidden: when `pod.Spec.HostUsers` is false',
  ],
  ['own users have devices before 1.34', 33, pod({ hostUsers: false, volumes }, device)],
  [
    'own users have no devices from 1.34 on',
    34,
    pod({ hostUsers: false, volumes }, device),
    'spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
  ],
  [
    'windows has none of it',
    37,
    pod({
      os: { name: 'windows' },
      hostUsers: true,
      securityContext: { appArmorProfile: { type: 'Unconfined' }, supplementalGroupsPolicy: 'Merge', seLinuxChangePolicy: 'Recursive' },
    }),
    ...['appArmorProfile', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'].map(
      (name) => `${security}.${name}: Forbidden: cannot be set for a windows pod`,
    ),
    'spec.hostUsers: Forbidden: cannot be set for a windows pod',
  ],
]

describe('the security of a Pod', () => {
  test.each(rows.map(([name, level, body, ...expected]) => ({ name, level, body, expected })))(
    'has the expected errors at level $level: $name',
    ({ level, body, expected }) => {
      expect(problemsOf(type, body, { level, isGateOn })).toEqual(expected)
    },
  )

  test('device volumes that the Pod already had stay allowed with user namespaces', () => {
    const body = pod({ hostUsers: false, volumes }, device)
    expect(problemsOf(type, body, { level: 34, isGateOn, live: body })).toEqual([])
  })

  test('annotations about profiles and mirror Pods are immutable', () => {
    const before = pod({ nodeName: 'n' }, {}, { [key]: 'unconfined', 'orch.io/config.mirror': 'x' })
    const after = pod(
      { nodeName: 'n', initContainers: [{ name: 'i', image: 'i' }] },
      {},
      { 'container.apparmor.security.beta.orch.io/i': '' },
    )
    expect(problemsOf(type, { ...after, spec: before['spec'] }, { level: 37, live: before })).toEqual([
      'metadata.annotations[container.apparmor.security.beta.orch.io/i]: Invalid value: "i": container not found',
      `metadata.annotations[${key}]: Forbidden: may not remove or update AppArmor annotations`,
      'metadata.annotations[orch.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation',
      'metadata.annotations[container.apparmor.security.beta.orch.io/i]: Forbidden: may not add AppArmor annotations',
    ])
  })

  test('an annotation in a template is warned about from 1.30 on, unless a field sets the same profile', () => {
    const template = (annotation: string) =>
      pod({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }, {}, { [key]: annotation })
    const warnings = (annotation: string, level: number) =>
      warningsAt(
        level,
        { type: 'apps/v1.Deployment', names: namesOf('orch') },
        { metadata: { name: 'd' }, spec: { template: template(annotation) } },
      )
    const text = `spec.template.metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`
    expect(warnings('runtime/default', 29)).toEqual([])
    expect(warnings('runtime/default', 30)).toEqual([text])
    expect(warnings('unconfined', 30)).toEqual([])
  })
})
