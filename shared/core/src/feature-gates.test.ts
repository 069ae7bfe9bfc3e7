import { expect, test } from 'vitest'
import { featureGates, parseFeatureGates } from './feature-gates.ts'

const isOn = (...words: string[]) => {
  const gates = parseFeatureGates(words)
  return gates.kind === 'gates' ? [gates.isOn('APIListChunking'), gates.isOn('ServerSideFieldValidation')] : gates.message
}

test('GATE-01: alpha gates are off by default', () => {
  expect(featureGates().filter(({ stage, isOnByDefault }) => stage === 'alpha' && isOnByDefault)).toEqual([])
})

test('GATE-02: beta gates are on by default, with a few named exceptions', () => {
  const off = featureGates().filter(({ stage, isOnByDefault, missing }) => stage === 'beta' && !isOnByDefault && missing === undefined)
  expect(off.map(({ name }) => name)).toEqual([
    'AllBeta',
    'CSIMigrationPortworx',
    'CoordinatedLeaderElection',
    'ExperimentalHostUserNamespaceDefaulting',
    'MinDomainsInPodTopologySpread',
    'UnauthenticatedHTTP2DOSMitigation',
  ])
})

test('GATE-04: the gate of a GA feature cannot be switched off', () => {
  expect(isOn('ServerSideApply=false')).toBe('feature gate ServerSideApply: the feature is settled and cannot be switched off')
})

test('GATE-05: setting a GA gate causes a warning', () => {
  expect(parseFeatureGates(['ServerSideApply=true'])).toMatchObject({ warnings: [expect.stringContaining('ServerSideApply')] })
})

test('GATE-09, GATE-10: list chunking and field validation are on by default', () => {
  expect(isOn()).toEqual([true, true])
})

test('GATE-11: gates are set as name=true or name=false, and the last value counts', () => {
  expect(isOn('APIListChunking=false', 'ServerSideFieldValidation=false')).toEqual([false, false])
  expect(isOn('APIListChunking=false', 'APIListChunking=true')).toEqual([true, true])
  expect(isOn('APIListChunking=no')).toBe('feature gate APIListChunking=no: must be true or false')
  expect(isOn('APIListChunkin=true')).toBe('unknown feature gate APIListChunkin')
})

test('gates whose rules exist can be switched on and off', () => {
  const gates = parseFeatureGates(['TaintTolerationComparisonOperators=true', 'SchedulerPopFromBackoffQ=false'], 37)
  if (gates.kind === 'refused') throw new Error(gates.message)
  expect([gates.isOn('TaintTolerationComparisonOperators'), gates.isOn('SchedulerPopFromBackoffQ')]).toEqual([true, false])
})

test('READ-25: gates for internals of kube-apiserver are accepted, with a warning that they have no effect', () => {
  for (const word of ['EtcdRangeStream=false', 'EtcdRangeStream=true']) {
    const warning = `feature gate ${word.split('=')[0]} has no effect in this server`
    expect(parseFeatureGates([word])).toMatchObject({ kind: 'gates', warnings: [warning] })
  }
})

test.each([
  ['StructuredAuthenticationConfigurationEgressSelector', 'egress selectors'],
  ['UnknownVersionInteroperabilityProxy', 'proxy between servers of different versions'],
])('the gate %s of an absent feature is off, and cannot be switched on', (name, what) => {
  const off = { kind: 'gates', warnings: [] }
  for (const words of [[], [`${name}=false`]]) {
    const gates = parseFeatureGates(words)
    expect(gates).toMatchObject(off)
    expect(gates.kind === 'gates' && gates.isOn(name)).toBe(false)
  }
  expect(parseFeatureGates([`${name}=true`])).toEqual({
    kind: 'refused',
    message: `feature gate ${name}: this server has no ${what}, so it cannot be switched on`,
  })
})

test('a gate without any effect here is not switched silently', () => {
  expect(isOn('CSIInlineVolume=true')).toEqual([true, true])
  expect(isOn('APIServerTracing=true')).toContain('has no effect in this server')
})

test.each([
  ['AllAlpha=true', 'EvictionRequestAPI', 'EmptyDirVolumeMode', 'CRIListStreaming'],
  ['AllBeta=false', 'PodTopologyLabelsAdmission', 'ShardedListAndWatch', 'AtomicFIFO'],
])(
  'GATE-11: %s switches %s, but not %s that is set by name, and a warning names %s, which has no effect',
  (word, switched, named, idle) => {
    const value = word.endsWith('true')
    for (const words of [
      [word, `${named}=${!value}`],
      [`${named}=${!value}`, word],
    ]) {
      const gates = parseFeatureGates(words, 37)
      if (gates.kind !== 'gates') throw new Error(gates.message)
      expect([switched, named, 'ServerSideApply'].map(gates.isOn)).toEqual([value, !value, true])
      expect(gates.warnings).toEqual([expect.stringContaining(`feature gate ${word} has no effect in this server on `)])
      expect(gates.warnings.flatMap((warning) => warning.split(/,? /))).toContain(idle)
    }
  },
)

const isOnAt = (minor: number, name: string, ...words: string[]) => {
  const gates = parseFeatureGates(words, minor)
  return gates.kind === 'gates' ? gates.isOn(name) : gates.message
}

test('EMV-03: a gate has the default of each release from 1.25 to 1.37', () => {
  const levels = Array.from({ length: 13 }, (_, index) => 25 + index)
  const onFrom = (name: string) => levels.find((level) => isOnAt(level, name) === true)
  expect(['SidecarContainers', 'PodLevelResources', 'JobManagedBy', 'ClusterTrustBundle'].map(onFrom)).toEqual([29, 34, 32, 37])
  expect(levels.map((level) => isOnAt(level, 'UserNamespacesSupport'))).toEqual(levels.map((level) => level >= 33))
  expect(isOnAt(34, 'PodLevelResources', 'PodLevelResources=false')).toBe(false)
})

test('EMV-12: a gate of a later release is refused, whatever its value', () => {
  const refusal = 'feature gate PodTopologyLabelsAdmission: the feature does not exist at version 1.30'
  for (const value of [true, false]) {
    expect(isOnAt(30, 'PodTopologyLabelsAdmission', `PodTopologyLabelsAdmission=${value}`)).toBe(refusal)
  }
})

test('GATE-04: a GA gate that its release has not locked yet is switched off, with a warning', () => {
  expect(isOnAt(37, 'PodCertificateRequest', 'PodCertificateRequest=false')).toBe(false)
  expect(isOnAt(36, 'VolumeAttributesClass', 'VolumeAttributesClass=false')).toContain('settled')
  expect(parseFeatureGates(['DRADeviceTaints=false'], 37)).toMatchObject({ warnings: [expect.stringContaining('will be removed')] })
})

test('the gate of a feature that this server has by another switch may be switched on', () => {
  const names = [
    [28, 'ValidatingAdmissionPolicy'],
    [33, 'ClusterTrustBundle'],
    [30, 'MultiCIDRServiceAllocator'],
  ] as const
  for (const [minor, name] of names) expect(parseFeatureGates([`${name}=true`], minor)).toMatchObject({ kind: 'gates', warnings: [] })
})

test('READ-25: a locked gate for internals of kube-apiserver keeps its value', () => {
  expect(isOnAt(37, 'SeparateCacheWatchRPC', 'SeparateCacheWatchRPC=true')).toContain('settled')
})

test('EMV-12: a gate that the release has dropped is unknown, and its feature keeps its last state', () => {
  expect(isOnAt(37, 'JobPodFailurePolicy')).toBe(true)
  expect(isOnAt(37, 'JobPodFailurePolicy', 'JobPodFailurePolicy=true')).toBe('unknown feature gate JobPodFailurePolicy')
  expect(isOnAt(28, 'UserNamespacesStatelessPodsSupport')).toBe(false)
  expect(isOnAt(28, 'UserNamespacesStatelessPodsSupport', 'UserNamespacesStatelessPodsSupport=true')).toContain('unknown')
})

test('EMV-12: the numbers of known and enabled gates at 1.37 equal those of kube-apiserver', () => {
  const known = featureGates(37).filter(({ name }) => name !== 'AllAlpha' && name !== 'AllBeta')
  expect(known.length).toBe(252)
  expect(known.filter(({ isOnByDefault, missing }) => isOnByDefault || missing !== undefined).length).toBe(178)
})
