import { describe, expect, test } from 'vitest'
import { namesOf } from '../../../names.ts'
import { warningsAt } from '../../testing/readers-testing.ts'
import { type Body, problemsOf } from '../../testing/rules-testing.ts'

const type = 'core/v1.Pod'
const pod = (volumes: readonly Body[], mount?: Body): Body => ({
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c', image: 'i', ...(mount && { volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] }) }], volumes },
})
const mounted = (mount: Body): Body => pod([{ name: 'v', emptyDir: {} }], mount)
const projected = (...sources: Body[]): Body => pod([{ name: 'v', projected: { sources } }])
const bundle = (fields: Body): Body => projected({ clusterTrustBundle: { path: 'p', ...fields } })
const certificate = (fields: Body): Body =>
  projected({ podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'k', ...fields } })
const isGateOn = () => true

const at = 'spec.volumes[0].projected.sources[0]'
const recursion = 'spec.containers[0].volumeMounts.recursiveReadOnly'
const keyTypes = '"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"'

const rows: readonly (readonly [name: string, body: Body, ...expected: string[]])[] = [
  ['an image has a reference', pod([{ name: 'v', image: { pullPolicy: 'Never' } }]), 'spec.volumes[0].image.reference: Required value'],
  [
    'an image has a policy that is known',
    pod([{ name: 'v', image: { reference: 'r', pullPolicy: 'X' } }]),
    'spec.volumes[0].image.pullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"',
  ],
  ['mounts below are read-only', mounted({ readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'None' })],
  ['mounts below may be what they are', mounted({ recursiveReadOnly: 'Disabled' })],
  [
    'mounts below are read-only if the mount is, and sees no others',
    mounted({ recursiveReadOnly: 'IfPossible', mountPropagation: 'HostToContainer' }),
    `${recursion}: Forbidden: may only be specified when readOnly is true`,
    `${recursion}: Forbidden: may only be specified when mountPropagation is None or not specified`,
  ],
  [
    'mounts below are read-only by a word that is known',
    mounted({ readOnly: true, recursiveReadOnly: 'X' }),
    `${recursion}: Unsupported value: "X": supported values: "Disabled", "Enabled", "IfPossible"`,
  ],
  ['a bundle has a name', bundle({ name: 'a.b:c:d' })],
  ['a bundle has a signer', bundle({ signerName: 'a.b/c', labelSelector: {} })],
  ['a bundle has a name or a signer', bundle({}), `${at}.clusterTrustBundle: Required value: either name or signerName must be specified`],
  [
    'a bundle is not both',
    bundle({ name: 'a', signerName: 'a.b/c' }),
    `${at}.clusterTrustBundle: Invalid value: {"Name":"a","SignerName":"a.b/c","LabelSelector":null,"Optional":null,"Path":"p","User":null}: only one of name and signerName may be used`,
  ],
  [
    'a bundle with a name has no labels',
    bundle({ name: 'a', labelSelector: {} }),
    `${at}.clusterTrustBundle.labelSelector: Invalid value: {}: labelSelector must be unset if name is specified`,
  ],
  ['a bundle has a file', bundle({ name: 'a', path: '' }), `${at}.clusterTrustBundle.path: Required value`],
  [
    'the file of a bundle is in the volume',
    bundle({ name: 'a', path: '../p' }),
    `${at}.clusterTrustBundle.path: Invalid value: "../p": must not contain '..'`,
  ],
  ['a certificate has hints', certificate({ userAnnotations: { 'A.b/c': 'x' }, maxExpirationSeconds: 3600 })],
  [
    'hints have a domain',
    certificate({ userAnnotations: { C: 'x' } }),
    `${at}.podCertificate.userAnnotations: Invalid value: "c": must be a domain-prefixed key (such as "acme.io/foo")`,
  ],
  [
    'a certificate has a kind of key',
    certificate({ keyType: 'DSA' }),
    `${at}.podCertificate.keyType: Unsupported value: "DSA": supported values: ${keyTypes}`,
  ],
  [
    'a certificate is valid for an hour',
    certificate({ maxExpirationSeconds: 3599 }),
    `${at}.podCertificate.maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600`,
  ],
  ['a certificate of others is valid for 91 days', certificate({ maxExpirationSeconds: 7_862_400 })],
  [
    'a certificate of the system is valid for a day',
    certificate({ signerName: 'orch.io/c', maxExpirationSeconds: 86_401 }),
    `${at}.podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400`,
  ],
  [
    'a certificate has a file',
    certificate({ keyPath: '' }),
    `${at}.podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
  ],
  [
    'files of certificates have paths of their own',
    projected(
      { clusterTrustBundle: { name: 'a', path: 'k' } },
      { podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'k', certificateChainPath: 'l' } },
    ),
    'spec.volumes[0].projected: Invalid value: "k": conflicting duplicate paths',
  ],
]

describe('the volumes of a Pod', () => {
  test.each(rows.map(([name, body, ...expected]) => ({ name, body, expected })))(
    'have the expected errors: $name',
    ({ body, expected }) => {
      expect(problemsOf(type, body, { level: 37, isGateOn })).toEqual(expected)
    },
  )
})

describe('the warnings of volumes', () => {
  const item = (path: string) => ({ key: 'k', path })
  const said = (volume: Body, level = 37) => warningsAt(level, { type, names: namesOf('orch') }, pod([{ name: 'v', ...volume }]))

  test.each([
    [
      26,
      { glusterfs: {} },
      ['spec.volumes[0].glusterfs: deprecated in v1.25, this feature will be removed soon after in a subsequent release'],
    ],
    [27, { glusterfs: {} }, ['spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+']],
    [26, { flocker: {} }, ['spec.volumes[0].flocker: deprecated in v1.22, support removal is planned in v1.26']],
    [27, { flocker: {} }, ['spec.volumes[0].flocker: deprecated in v1.22, non-functional in v1.25+']],
    [27, { rbd: {} }, []],
    [28, { cephfs: {} }, ['spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+']],
    [32, { gitRepo: {} }, ['spec.volumes[0].gitRepo: deprecated in v1.11']],
    [33, { gitRepo: {} }, ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+']],
  ])('at 1.%d %o gives %j', (level, volume, expected) => {
    expect(said(volume, level)).toEqual(expected)
  })

  test('name files with one path, and files below the path of another file, from 1.30 on', () => {
    const configMap = { name: 'm', items: [item('a'), item('b'), item('a/c/'), item('ab')] }
    expect(said({ configMap }, 29)).toEqual([])
    expect(said({ configMap })).toEqual(['volume "v" (ConfigMap "m"): overlapping paths: "a/c" with "a"'])
  })

  test('name projected files with their sources, and empty sources', () => {
    const sources = [
      { secret: { name: 's', items: [item('a')] } },
      {},
      { serviceAccountToken: { path: 'a' } },
      { clusterTrustBundle: { signerName: 'a.b/c', path: 'd' } },
      { podCertificate: { credentialBundlePath: 'd/e' } },
    ]
    expect(said({ projected: { sources } })).toEqual([
      'volume "v" (Projected) has no sources provided',
      'volume "v" (Projected): overlapping paths: "a" (ServiceAccountToken) with "a" (Secret "s")',
      'volume "v" (Projected): overlapping paths: "d/e" (PodCertificate credential bundle) with "d" (ClusterTrustBundle "a.b/c")',
    ])
  })
})
