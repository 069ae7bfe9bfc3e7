import { hostname } from 'node:os'
import type { Client } from '@orch/client'
import {
  type AutoscalingOptions,
  aggregationController,
  attachDetachController,
  autoscalerController,
  type BootstrapObject,
  bootstrapController,
  bootstrapSigner,
  type ControllerName,
  claimProtectionController,
  cronJobController,
  daemonSetController,
  definitionController,
  deploymentController,
  disruptionController,
  endpointSliceController,
  endpointSliceMirroringController,
  endpointsController,
  ephemeralVolumeController,
  finishedJobCleaner,
  flowControlController,
  flowControlGroup,
  flowControlObjects,
  garbageCollector,
  jobController,
  type NodeControllersOptions,
  namespaceController,
  nodeControllersOf,
  policyStatusController,
  quotaController,
  replicaSetController,
  replicationController,
  requestApprover,
  requestCleaner,
  resourceClaimController,
  rootCertificatePublisher,
  type SecretTokenOptions,
  schedulerController,
  secretTokenController,
  serviceAccountController,
  signingController,
  simulatedProvisioner,
  startControllers,
  statefulSetController,
  storageVersionMigrator,
  tokenCleaner,
  unusedTokenCleaner,
  volumeBinderController,
  volumeExpander,
  volumeProtectionController,
} from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import { domainGroup, type Names } from '@orch/core/names'
import { type Metrics, type RequestSigner, workqueueMetricsOf } from '@orch/platform'
import type { FlowControlOptions } from '../flow-control/settings.ts'
import type { Surroundings } from '../surroundings.ts'

/** Identity of a part of the server. */
export interface Identity {
  readonly name: string
  readonly groups: readonly string[]
}

/** The identity of the part that creates the bootstrap objects. */
export const serverIdentity: Identity = { name: 'system:apiserver', groups: ['system:masters'] }

/** Prefix of node user names. */
export const nodeUserPrefix = 'system:node:'

export interface ControllersParts {
  readonly controllers: readonly ControllerName[]
  /** Undefined without autoscaling. */
  readonly autoscaling?: AutoscalingOptions | undefined
  /** Undefined without node controllers. */
  readonly nodes?: NodeControllersOptions | undefined
  /** Time for which a terminating namespace keeps its contents; 0 by default. */
  readonly namespaceDelayMs?: number | undefined
  /** The bootstrap objects, for the controller that restores them. */
  readonly objects: readonly BootstrapObject[]
  /** The dependencies of token Secrets; undefined if none are filled. */
  readonly secretTokens?: SecretTokenOptions | undefined
  /** Signs approved certificate requests; optional. */
  readonly signRequest?: RequestSigner | undefined
  /** Authority that Pods trust for the server, as PEM; without it namespaces get no root certificate. */
  readonly rootCertificate?: string | undefined
  /** A client with this identity. */
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
  /** Resolves when the controllers may have work, at the latest when the signal is aborted. By default they may from the start. */
  readonly until?: ((signal: AbortSignal) => Promise<void>) | undefined
}

/** Controllers that run. */
export interface RunningControllers {
  /** True if no controller has a pending timer. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Does work while no controller runs; then they restart. */
  pausing<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when such work is done; undefined if there is none. */
  paused(): Promise<void> | undefined
}

/** Runs the controllers, each with its own identity. */
export async function runControllers(parts: ControllersParts, surroundings: Surroundings): Promise<RunningControllers> {
  const {
    controllers,
    autoscaling,
    nodes,
    namespaceDelayMs = 0,
    objects,
    secretTokens,
    signRequest,
    rootCertificate,
    clientAs,
    metrics,
  } = parts
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { names } = catalogue
  // Optional: without it claims are bound by tests, which need no other writes.
  const hasBinder = controllers.includes('persistentvolume-binder')
  const all = [
    namespaceController(namespaceDelayMs),
    definitionController(catalogue),
    bootstrapController(objects),
    garbageCollector,
    aggregationController,
    tokenCleaner,
    bootstrapSigner,
    serviceAccountController,
    quotaController(catalogue),
    claimProtectionController({ isUseShown: hasBinder && catalogue.isGateOn('PersistentVolumeClaimUnusedSinceTime') }),
    volumeProtectionController,
    ...(serves(catalogue, 'storagemigration', 'v1', 'storageversionmigrations') ? [storageVersionMigrator] : []),
    ...(serves(catalogue, 'admissionregistration', 'v1', 'validatingadmissionpolicies') ? [policyStatusController] : []),
    replicaSetController(catalogue),
    replicationController(),
    deploymentController(catalogue),
    statefulSetController(catalogue),
    daemonSetController(catalogue),
    jobController(catalogue),
    cronJobController(catalogue),
    finishedJobCleaner,
    disruptionController(catalogue),
    endpointSliceController(catalogue),
    endpointsController(catalogue),
    endpointSliceMirroringController,
    volumeBinderController(catalogue),
    volumeExpander(catalogue),
    ephemeralVolumeController,
    ...(serves(catalogue, 'resource', 'v1', 'resourceclaims') ? [resourceClaimController] : []),
    attachDetachController(catalogue),
    simulatedProvisioner,
    schedulerController({ ...catalogue, host: hostname(), newUid: chance.stream('shares').uuid }),
    ...(autoscaling === undefined ? [] : [autoscalerController(catalogue, autoscaling)]),
    ...(nodes === undefined ? [] : nodeControllersOf(catalogue, nodes)),
    ...(rootCertificate === undefined ? [] : [rootCertificatePublisher(rootCertificate)]),
    ...(serves(catalogue, 'certificates', 'v1', 'certificatesigningrequests') ? requestControllers(signRequest) : []),
    ...(secretTokens === undefined ? [] : [secretTokenController(secretTokens, catalogue)]),
    ...(catalogue.isGateOn('LegacyServiceAccountTokenCleanUp') ? [unusedTokenCleaner] : []),
    ...(servesFlowControl(catalogue) ? [flowControlController(catalogue.level)] : []),
  ]
  const options = {
    controllers: all.filter(({ name }) => controllers.includes(name)),
    clientFor: (name: ControllerName) => clientAs(identityOf(names, name)),
    names,
    clock,
    random: chance.stream('controllers').fraction,
    log,
    queues: workqueueMetricsOf(metrics, clock),
  }
  let running = startControllers({ ...options, until: parts.until })
  let isStopped = false
  const stop = async () => {
    isStopped = true
    await running.stop()
  }
  await lifecycle.run({ name: 'controllers', stop })
  let last: Promise<void> | undefined
  const pause = async <T>(work: () => Promise<T>): Promise<T> => {
    await running.stop()
    try {
      return await work()
    } finally {
      if (!isStopped) running = startControllers(options)
    }
  }
  return {
    isWithoutTimers: () => running.isWithoutTimers(),
    pausing(work) {
      const done = (last ?? Promise.resolve()).then(() => pause(work))
      const ended = Promise.allSettled([done]).then(() => {
        if (last === ended) last = undefined
      })
      last = ended
      return done
    },
    paused: () => last,
  }
}

/** The controllers of requests for certificates. */
function requestControllers(sign: RequestSigner | undefined) {
  return [requestApprover, requestCleaner, ...(sign === undefined ? [] : [signingController(sign)])]
}

/** The scheduler: a separate user, with the role of a kube-scheduler. */
export const schedulerIdentity: Identity = { name: 'system:kube-scheduler', groups: [] }

/** The user of a controller's requests. */
export function identityOf(names: Names, controller: ControllerName): Identity {
  if (controller === 'scheduler') return schedulerIdentity
  return isServer.has(controller) ? serverIdentity : controllerIdentity(names, controller)
}

/** Controllers that act as the server itself, as no bootstrap role has their rights. */
const isServer: ReadonlySet<ControllerName> = new Set([
  'bootstrap',
  'customresourcedefinition',
  'flow-control',
  'serviceaccount-token',
  'legacy-serviceaccount-token-cleaner',
])

function controllerIdentity(names: Names, controller: ControllerName): Identity {
  const group = 'system:serviceaccounts'
  return {
    name: `system:serviceaccount:${names.systemNamespace}:${accountOf(controller)}`,
    groups: [group, `${group}:${names.systemNamespace}`],
  }
}

const accounts: Partial<Record<ControllerName, string>> = {
  'garbage-collector': 'generic-garbage-collector',
  tokencleaner: 'token-cleaner',
  bootstrapsigner: 'bootstrap-signer',
  serviceaccount: 'service-account-controller',
  'root-ca-cert-publisher': 'root-ca-cert-publisher',
  replicationcontroller: 'replication-controller',
  resourceclaim: 'resource-claim-controller',
  csrapproving: 'certificate-controller',
  csrsigning: 'certificate-controller',
  csrcleaner: 'certificate-controller',
  daemonset: 'daemon-set-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler',
  nodeipam: 'node-controller',
  nodelifecycle: 'node-controller',
  podgc: 'pod-garbage-collector',
  'persistentvolume-binder': 'persistent-volume-binder',
  'persistentvolume-expander': 'expand-controller',
  'taint-eviction': 'node-controller',
  'simulated-provisioner': 'persistent-volume-binder',
}

/** The service account of a controller. */
function accountOf(controller: ControllerName): string {
  return accounts[controller] ?? `${controller}-controller`
}

/** Flow control's objects of the start; none if it is off or its group is not served. */
export function flowControlStart({ isFair }: FlowControlOptions, catalogue: Catalogue): readonly BootstrapObject[] {
  return isFair && servesFlowControl(catalogue) ? flowControlObjects(catalogue) : []
}

/** True if a resource of an own group is served in a version. */
function serves({ names, find }: Catalogue, domain: string, version: string, plural: string): boolean {
  return find(domainGroup(names, domain), version, plural) !== undefined
}

/** True if FlowSchemas are served. */
function servesFlowControl({ names, level, find }: Catalogue): boolean {
  const { group, version } = flowControlGroup(names, level)
  return find(group, version, 'flowschemas') !== undefined
}
