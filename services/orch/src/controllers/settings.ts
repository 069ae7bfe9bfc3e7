import { X509Certificate } from 'node:crypto'
import {
  type AutoscalingOptions,
  type ControllerName,
  type ControllersOptions,
  controllerNames,
  type NodeControllersOptions,
  namedControllers,
  nodeControllers,
  type SecretTokenOptions,
  selectControllers,
  workloadControllers,
} from '@orch/controllers'
import { BuiltInReaders } from '@orch/core/catalogue'
import { knownReleases } from '@orch/core/feature-gates'
import { textAt } from '@orch/core/meta'
import { domainGroup, type Names, namesOf, type Profile } from '@orch/core/names'
import { nodeRangeProblem } from '@orch/core/node-lifecycle'
import type { AddedAffinity, SchedulerProfiles } from '@orch/core/scheduling'
import { decoderOf } from '@orch/core/schema'
import { runAtOnce } from '@orch/core/steps'
import { cidrFamilyOf } from '@orch/core/validation'
import { readYaml } from '@orch/core/yaml'
import {
  type CidrPair,
  type KeyPair,
  messageOf,
  parseSigningKey,
  SettingsError,
  settingsOf,
  settingTypes,
  type Values,
} from '@orch/platform'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'
import { parseFlagFile, readCertificateFile, readPairIfNamed } from '../configuration/files.ts'

const { bool, duration, fraction, int, list, path } = settingTypes
const inApi = settingsOf('API')
const inControllers = settingsOf('Controllers')

/** Prefix length; 0 for the default. */
const rangeBits = int({ min: 0, max: 128 })

/** The settings of the running controllers. */
export const controllersSettings = {
  controllers: inApi(
    { flag: '--controllers', type: list, default: '*' },
    `Controllers to run: * means all but ${namedControllers.join(', ')} and the controllers of workloads and nodes, a name adds one, workloads and nodes add all controllers of those, a leading dash removes. Names may end in -controller. Pods of workloads stay Pending until a node, or a test, runs them. Known: ${controllerNames.join(', ')} (workloads are those from ${workloadControllers[0]} on, nodes those from ${nodeControllers[0]} on).`,
  ),
  autoscaling: {
    periodMs: inControllers(
      { flag: '--horizontal-pod-autoscaler-sync-period', type: duration, default: '15s' },
      'Pause between two looks of horizontalpodautoscaling at an autoscaler.',
    ),
    tolerance: inControllers(
      { flag: '--horizontal-pod-autoscaler-tolerance', type: fraction, default: '0.1' },
      'Deviation of a metric from its target, as a share, that changes no number of replicas.',
    ),
    initializationMs: inControllers(
      { flag: '--horizontal-pod-autoscaler-cpu-initialization-period', type: duration, default: '5m' },
      'Time after the start of a Pod in which its use of CPU counts only while it is ready.',
    ),
    readinessDelayMs: inControllers(
      { flag: '--horizontal-pod-autoscaler-initial-readiness-delay', type: duration, default: '30s' },
      'Time after the start of a Pod in which a change to unready means that it has not been ready yet.',
    ),
    downWindowMs: inControllers(
      { flag: '--horizontal-pod-autoscaler-downscale-stabilization', type: duration, default: '5m' },
      'Time whose highest recommendation counts before an autoscaler removes replicas, if its behavior has no window.',
    ),
  },
  nodeLifecycle: {
    monitorPeriodMs: inControllers(
      { flag: '--node-monitor-period', type: duration, default: '5s' },
      'Pause between two looks of nodelifecycle at the nodes.',
    ),
    graceMs: inControllers(
      { flag: '--node-monitor-grace-period', type: duration, default: '0s', defaultDoc: '50s; 40s below API level 1.32' },
      'Time without a sign of life after which a node is not ready.',
    ),
    startupGraceMs: inControllers(
      { flag: '--node-startup-grace-period', type: duration, default: '1m' },
      'The same for a node that has not reported yet, from its creation on.',
    ),
    evictionRate: inControllers(
      { flag: '--node-eviction-rate', type: fraction, default: '0.1' },
      'Nodes a second that are not ready and lose their Pods, in each zone.',
    ),
    secondaryEvictionRate: inControllers(
      { flag: '--secondary-node-eviction-rate', type: fraction, default: '0.01' },
      'The same in a large zone of which much is not ready; in a small one none.',
    ),
    largeZoneSize: inControllers(
      { flag: '--large-cluster-size-threshold', type: int({ min: 0, max: 1_000_000 }), default: '50' },
      'Nodes beyond which a zone is large.',
    ),
    unhealthyShare: inControllers(
      { flag: '--unhealthy-zone-threshold', type: fraction, default: '0.55' },
      'Share of nodes that are not ready from which on it is much of a zone; three nodes at least.',
    ),
  },
  allocatesRanges: inControllers(
    { flag: '--allocate-node-cidrs', type: bool, default: 'false' },
    'Has nodeipam give each node a range of addresses out of --cluster-cidr.',
  ),
  clusterRanges: inControllers(
    { flag: '--cluster-cidr', type: list, default: '' },
    'Range of addresses of Pods such as 10.244.0.0/16; with a comma one of IPv4 and one of IPv6.',
  ),
  nodeRangeBits: inControllers(
    { flag: '--node-cidr-mask-size', type: rangeBits, default: '0', defaultDoc: '24 for IPv4, 64 for IPv6' },
    "Bits of a node's range, with one --cluster-cidr.",
  ),
  nodeRangeBits4: inControllers(
    { flag: '--node-cidr-mask-size-ipv4', type: rangeBits, default: '0', defaultDoc: '24' },
    "Bits of a node's range of IPv4.",
  ),
  nodeRangeBits6: inControllers(
    { flag: '--node-cidr-mask-size-ipv6', type: rangeBits, default: '0', defaultDoc: '64' },
    "Bits of a node's range of IPv6.",
  ),
  schedulerConfigurationFile: inControllers(
    { flag: '--scheduler-config', type: path },
    'KubeSchedulerConfiguration: the profiles of the scheduler, with the names by which Pods choose one in spec.schedulerName, and the affinity to nodes that each adds to its Pods (addedAffinity of NodeAffinity). Other fields are refused. Without it there is default-scheduler.',
  ),
  terminatedPodsMax: inControllers(
    { flag: '--terminated-pod-gc-threshold', type: int({ min: 0, max: 1_000_000_000 }), default: '12500' },
    'Finished Pods that podgc keeps; it deletes the oldest beyond them. 0 keeps all.',
  ),
}

/** The settings of controllers, and the range of Services if known. */
interface NodeValues extends Values<typeof controllersSettings> {
  readonly profile: Profile
  readonly serviceClusterIpRange?: CidrPair
  readonly simulatedNodes?: number
}

/** The options of autoscaling, of nodes and of the scheduler. */
export function readControllerOptions(settings: NodeValues): Pick<ControllersOptions, 'autoscaling' | 'nodes' | 'schedulers'> {
  return { autoscaling: readAutoscaling(settings), nodes: readNodeControllers(settings), schedulers: readSchedulers(settings) }
}

/** The profiles of the scheduler; undefined without a configuration. */
function readSchedulers(settings: NodeValues): SchedulerProfiles | undefined {
  const { schedulerConfigurationFile: file, profile } = settings
  if (file === '') return undefined
  if (!readControllers(settings).includes('scheduler')) throw new SettingsError('--scheduler-config needs the controller scheduler')
  return parseFlagFile('--scheduler-config', file, (text) => {
    const reading = parseSchedulerConfiguration(readYaml(text, { isStrict: true }), namesOf(profile))
    if (reading.kind === 'refused') throw new SettingsError(reading.problems.join('; '))
    return reading.profiles
  })
}

/** The intervals and thresholds of the node controllers. */
function readNodeControllers(settings: NodeValues): NodeControllersOptions {
  const { nodeLifecycle, terminatedPodsMax } = settings
  if (nodeLifecycle.monitorPeriodMs === 0) throw new SettingsError('--node-monitor-period=0s: must be longer')
  return { ...nodeLifecycle, graceMs: nodeLifecycle.graceMs || undefined, terminatedPodsMax, ranges: readRanges(settings) }
}

/** Undefined if nodes get no ranges. */
function readRanges(settings: NodeValues): NodeControllersOptions['ranges'] {
  const { allocatesRanges, clusterRanges, nodeRangeBits, serviceClusterIpRange } = settings
  const ofFamilies = { IPv4: settings.nodeRangeBits4, IPv6: settings.nodeRangeBits6 }
  if (!allocatesRanges) {
    const isGiven = clusterRanges.length > 0 || nodeRangeBits + ofFamilies.IPv4 + ofFamilies.IPv6 > 0
    if (isGiven) throw new SettingsError('--cluster-cidr and --node-cidr-mask-size need --allocate-node-cidrs')
    return undefined
  }
  if (!readControllers(settings).includes('nodeipam')) throw new SettingsError('--allocate-node-cidrs needs nodeipam in --controllers')
  const families = clusterRanges.map((range) => cidrFamilyOf(range))
  if (clusterRanges.length === 0 || clusterRanges.length > 2 || families[0] === families[1])
    throw new SettingsError(
      `--cluster-cidr=${clusterRanges.join(',')}: must be one range such as 10.244.0.0/16, or one of IPv4 and one of IPv6`,
    )
  if (clusterRanges.length === 2 && nodeRangeBits > 0)
    throw new SettingsError('--node-cidr-mask-size is for one --cluster-cidr; with two there are --node-cidr-mask-size-ipv4 and -ipv6')
  const ranges = clusterRanges.map((range, index) => {
    const family = families[index] ?? 'IPv4'
    const nodeBits = ofFamilies[family] || nodeRangeBits || (family === 'IPv4' ? 24 : 64)
    const problem = nodeRangeProblem(range, nodeBits)
    if (problem !== undefined) throw new SettingsError(`--cluster-cidr: ${problem}`)
    return { range, nodeBits }
  })
  return { clusterRanges: ranges, serviceRanges: serviceClusterIpRange?.map(({ text }) => text) }
}

/** The intervals and tolerances of autoscaling. */
function readAutoscaling({ autoscaling }: Values<typeof controllersSettings>): AutoscalingOptions {
  if (autoscaling.periodMs === 0) throw new SettingsError('--horizontal-pod-autoscaler-sync-period=0s: must be longer')
  return autoscaling
}

/** The settings with which separate controllers fill token Secrets. */
export const accountKeySettings = {
  serviceAccountPrivateKeyFile: inControllers(
    { flag: '--service-account-private-key-file', type: path },
    'Private key that signs the tokens which serviceaccount-token puts into Secrets: the one of --service-account-signing-key-file of the gateways, or one of their --service-account-key-file. Without it that controller does not run.',
  ),
  rootCaFile: inControllers(
    { flag: '--root-ca-file', type: path, defaultDoc: 'the authority of --kubeconfig' },
    'Authority that is put into Secrets beside a token: by it the holder knows the gateways.',
  ),
}

/** The settings with which separate controllers sign certificate requests. */
export const signingSettings = {
  clusterSigningCertFile: inControllers(
    { flag: '--cluster-signing-cert-file', type: path },
    'Certificate authority as which csrsigning signs requests for certificates: one of --client-ca-file of the gateways. Without it that controller does not run.',
  ),
  clusterSigningKeyFile: inControllers(
    { flag: '--cluster-signing-key-file', type: path },
    'Private key of --cluster-signing-cert-file, of RSA or of an elliptic curve.',
  ),
}

/** Words of `--controllers`, and the nodes that need additional controllers. */
interface ControllersWanted extends Pick<Values<typeof controllersSettings>, 'controllers'> {
  readonly simulatedNodes?: number
}

/** The controllers of words such as `*` and `-namespace`; with simulated nodes also those of workloads and nodes, unless a word removes them. */
export function readControllers({ controllers, simulatedNodes = 0 }: ControllersWanted): ControllerName[] {
  try {
    return selectControllers(simulatedNodes > 0 ? ['workloads', 'nodes', ...controllers] : controllers)
  } catch (error) {
    throw new SettingsError(`--controllers: ${messageOf(error)}`)
  }
}

/** True if controllers of a controller manager run; the others belong to the API server. */
export function isControllerManager(controllers: readonly ControllerName[]): boolean {
  return controllers.includes('namespace') || controllers.includes('garbage-collector')
}

type TokenValues = Pick<Values<typeof controllersSettings>, 'controllers'> & Values<typeof accountKeySettings>

/** The dependencies of token Secrets; undefined without a key. */
export function readSecretTokens(settings: TokenValues, ownAuthority: string): SecretTokenOptions | undefined {
  const { serviceAccountPrivateKeyFile: path, rootCaFile, controllers } = settings
  if (path === '') {
    if (controllers.includes('serviceaccount-token')) {
      throw new SettingsError('--controllers=serviceaccount-token needs --service-account-private-key-file')
    }
    if (rootCaFile !== '') throw new SettingsError('--root-ca-file has no effect without --service-account-private-key-file')
    return undefined
  }
  return {
    signingKey: parseFlagFile('--service-account-private-key-file', path, parseSigningKey),
    certificateAuthority: rootCaFile === '' ? ownAuthority : readCertificateFile('--root-ca-file', rootCaFile),
  }
}

type SigningValues = Pick<Values<typeof controllersSettings>, 'controllers'> & Values<typeof signingSettings>

/** The authority of certificate requests; undefined if none are signed. */
export function readSigningAuthority({ clusterSigningCertFile, clusterSigningKeyFile, controllers }: SigningValues): KeyPair | undefined {
  const certificate = { flag: '--cluster-signing-cert-file', path: clusterSigningCertFile }
  const key = { flag: '--cluster-signing-key-file', path: clusterSigningKeyFile }
  const authority = readPairIfNamed({ certificate, key })?.pair
  if (authority === undefined) {
    if (controllers.includes('csrsigning')) throw new SettingsError(`--controllers=csrsigning needs ${certificate.flag}`)
    return undefined
  }
  const { ca: isAuthority, publicKey } = new X509Certificate(authority.certificate)
  if (!isAuthority) throw new SettingsError(`${certificate.flag}=${certificate.path}: the certificate is not one of an authority`)
  if (!['ec', 'rsa'].includes(publicKey.asymmetricKeyType ?? '')) {
    throw new SettingsError(`${key.flag}=${key.path}: the key is neither one of RSA nor one of an elliptic curve`)
  }
  return authority
}

/** Reads a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1`: names of profiles, and the affinity that each adds (SCHED-32). */
export function parseSchedulerConfiguration(value: unknown, names: Names): Reading<{ readonly profiles: SchedulerProfiles }> {
  const reader = new Reader(names)
  const profiles = reader.configuration(value)
  return reader.reading({ profiles })
}

const plugin = 'NodeAffinity'
const argsKind = 'NodeAffinityArgs'
const type = 'core/v1.NodeAffinity'

class Reader extends FieldReader {
  readonly #names: Names
  readonly #apiVersion: string

  constructor(names: Names) {
    super()
    this.#names = names
    this.#apiVersion = `${domainGroup(names, 'kubescheduler.config')}/v1`
  }

  configuration(value: unknown): SchedulerProfiles {
    const fields = this.root(value, { kind: 'KubeSchedulerConfiguration', apiVersions: [this.#apiVersion], known: ['profiles'] })
    const list = this.list(fields['profiles'], 'profiles')
    if (list.length === 0) this.required('profiles')
    // A single profile needs no name, as in kube-scheduler.
    const usualName = list.length === 1 ? 'default-scheduler' : ''
    const profiles = new Map<string, AddedAffinity | undefined>()
    for (const [index, one] of list.entries()) {
      const at = `profiles[${index}]`
      const { schedulerName, pluginConfig } = this.fields(one, at, ['schedulerName', 'pluginConfig'])
      const name = this.text(schedulerName ?? usualName, `${at}.schedulerName`)
      if (name === '') this.required(`${at}.schedulerName`)
      if (profiles.has(name)) this.duplicate(`${at}.schedulerName`, name)
      profiles.set(name, this.#affinity(pluginConfig, `${at}.pluginConfig`))
    }
    return profiles
  }

  #affinity(value: unknown, at: string): AddedAffinity | undefined {
    let affinity: AddedAffinity | undefined
    for (const [index, one] of this.list(value, at).entries()) {
      const path = `${at}[${index}]`
      const { name, args } = this.fields(one, path, ['name', 'args'])
      if (name !== plugin) this.unsupported(`${path}.name`, this.text(name ?? '', `${path}.name`), [plugin])
      if (index > 0) this.duplicate(path, plugin)
      const known = ['apiVersion', 'kind', 'addedAffinity']
      const { apiVersion = this.#apiVersion, kind = argsKind, addedAffinity } = this.fields(args ?? {}, `${path}.args`, known)
      if (apiVersion !== this.#apiVersion) this.invalid(`${path}.args.apiVersion`, apiVersion, `must be ${this.#apiVersion}`)
      if (kind !== argsKind) this.invalid(`${path}.args.kind`, kind, `must be ${argsKind}`)
      affinity = this.#nodeAffinity(addedAffinity ?? {}, `${path}.args.addedAffinity`)
    }
    return affinity
  }

  /** The value is checked like the field of a Pod. */
  #nodeAffinity(value: unknown, at: string): AddedAffinity | undefined {
    const decoded = decoderOf(type)(value, { trackUnknown: true })
    if (decoded.kind === 'mismatch') {
      this.problems.push(`${at}.${decoded.message}`)
      return undefined
    }
    const { object, unknownFields } = decoded
    for (const field of unknownFields) this.problems.push(`unknown field ${JSON.stringify(`${at}.${field}`)}`)
    const level = knownReleases.own
    const candidate = { body: value, object, part: 'main', names: this.#names, isGateOn: () => false, level } as const
    for (const { field, message } of runAtOnce(new BuiltInReaders(type, { storedAs: type }, level).validate(candidate))) {
      this.problems.push(`${at}.${field}: ${textAt(message, level)}`)
    }
    return object
  }
}
