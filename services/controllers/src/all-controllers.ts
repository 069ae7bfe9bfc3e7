import { hostname } from 'node:os'
import type { Catalogue } from '@orch/core/catalogue'
import { domainGroup } from '@orch/core/names'
import type { SchedulerProfiles } from '@orch/core/scheduling'
import type { Chance, RequestSigner } from '@orch/platform'
import { type BootstrapObject, bootstrapController } from './bootstrap.ts'
import { requestApprover } from './certificates/request-approver.ts'
import { requestCleaner } from './certificates/request-cleaner.ts'
import { signingController } from './certificates/request-signer.ts'
import type { Controller } from './controller.ts'
import type { ControllerName } from './controller-names.ts'
import { definitionController } from './definition-controller.ts'
import { flowControlController } from './flow-control-controller.ts'
import { servesFlowControl } from './flow-control-objects.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { namespaceController } from './namespace-controller.ts'
import { rootCertificatePublisher } from './namespace-objects/root-certificate.ts'
import { serviceAccountController } from './namespace-objects/service-account.ts'
import { type NodeControllersOptions, nodeControllersOf } from './nodes/node-controllers.ts'
import { policyStatusController } from './policy-status-controller.ts'
import { claimProtectionController } from './protection/claim-protection.ts'
import { volumeProtectionController } from './protection/volume-protection.ts'
import { quotaController } from './quota/quota-controller.ts'
import { aggregationController } from './roles/aggregation.ts'
import { schedulerController } from './scheduler/scheduler.ts'
import { storageVersionMigrator } from './storage-version-migrator.ts'
import { type SecretTokenOptions, secretTokenController } from './tokens/account-secret-tokens.ts'
import { bootstrapSigner } from './tokens/bootstrap-signer.ts'
import { tokenCleaner } from './tokens/token-cleaner.ts'
import { unusedTokenCleaner } from './tokens/unused-token-cleaner.ts'
import { attachDetachController } from './workloads/attach-detach-controller.ts'
import { type AutoscalingOptions, autoscalerController } from './workloads/autoscaler-controller.ts'
import { cronJobController } from './workloads/cron-job-controller.ts'
import { daemonSetController } from './workloads/daemon-set-controller.ts'
import { deploymentController } from './workloads/deployment-controller.ts'
import { disruptionController } from './workloads/disruption-controller.ts'
import { endpointSliceController } from './workloads/endpoint-slice-controller.ts'
import { endpointSliceMirroringController } from './workloads/endpoint-slice-mirroring-controller.ts'
import { endpointsController } from './workloads/endpoints-controller.ts'
import { ephemeralVolumeController } from './workloads/ephemeral-volume-controller.ts'
import { finishedJobCleaner } from './workloads/finished-job-cleaner.ts'
import { jobController } from './workloads/job-controller.ts'
import { replicaSetController, replicationController } from './workloads/replica-controllers.ts'
import { resourceClaimController } from './workloads/resource-claim-controller.ts'
import { simulatedProvisioner } from './workloads/simulated-provisioner.ts'
import { statefulSetController } from './workloads/stateful-set-controller.ts'
import { volumeBinderController } from './workloads/volume-binder-controller.ts'
import { volumeExpander } from './workloads/volume-expander.ts'

/** The dependencies of the controllers. */
export interface ControllersOptions {
  /** Undefined without autoscaling. */
  readonly autoscaling?: AutoscalingOptions | undefined
  /** Undefined without node controllers. */
  readonly nodes?: NodeControllersOptions | undefined
  /** The profiles of the scheduler; by default `default-scheduler`. */
  readonly schedulers?: SchedulerProfiles | undefined
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
}

/** The controllers of a server with these names. */
export function createControllers(
  wanted: readonly ControllerName[],
  options: ControllersOptions,
  { catalogue, chance }: { readonly catalogue: Catalogue; readonly chance: Chance },
): Controller[] {
  const { autoscaling, nodes, schedulers: profiles, namespaceDelayMs = 0, objects, secretTokens, signRequest, rootCertificate } = options
  // Optional: without it claims are bound by tests, which need no other writes.
  const hasBinder = wanted.includes('persistentvolume-binder')
  const all: readonly Controller[] = [
    namespaceController(namespaceDelayMs, catalogue.level),
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
    schedulerController({ ...catalogue, host: hostname(), newUid: chance.stream('shares').uuid, profiles }),
    ...(autoscaling === undefined ? [] : [autoscalerController(catalogue, autoscaling)]),
    ...(nodes === undefined ? [] : nodeControllersOf(catalogue, nodes)),
    ...(rootCertificate === undefined ? [] : [rootCertificatePublisher(rootCertificate)]),
    ...(serves(catalogue, 'certificates', 'v1', 'certificatesigningrequests')
      ? [requestApprover, requestCleaner, ...(signRequest === undefined ? [] : [signingController(signRequest)])]
      : []),
    ...(secretTokens === undefined ? [] : [secretTokenController(secretTokens, catalogue)]),
    ...(catalogue.isGateOn('LegacyServiceAccountTokenCleanUp') ? [unusedTokenCleaner] : []),
    ...(servesFlowControl(catalogue) ? [flowControlController(catalogue.level)] : []),
  ]
  return all.filter(({ name }) => wanted.includes(name))
}

/** True if a resource of an own group is served in a version. */
function serves({ names, find }: Catalogue, domain: string, version: string, plural: string): boolean {
  return find(domainGroup(names, domain), version, plural) !== undefined
}
