import type { Catalogue } from '@orch/core/catalogue'
import { domainGroup } from '@orch/core/names'
import type { SchedulerProfiles } from '@orch/core/scheduling'
import type { Chance, RequestSigner } from '@orch/platform'
import { type BootstrapObject, bootstrapController } from './bootstrap.ts'
import { requestApprover } from './certificates/request-approver.ts'
import { requestCleaner } from './certificates/request-cleaner.ts'
import { signingController } from './certificates/request-signer.ts'
import type { Controller } from './controller.ts'
import { type ControllerName, nodeControllers, workloadControllers } from './controller-names.ts'
import { definitionController } from './definition-controller.ts'
import { candidatesVersion, electionController } from './elections/election-controller.ts'
import { flowControlController } from './flow-control-controller.ts'
import { servesFlowControl } from './flow-control-objects.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { namespaceController } from './namespace-controller.ts'
import { rootCertificatePublisher } from './namespace-objects/root-certificate.ts'
import { serviceAccountController } from './namespace-objects/service-account.ts'
import type { NodeControllersOptions } from './nodes/node-controllers.ts'
import { policyStatusController } from './policy-status-controller.ts'
import { claimProtectionController } from './protection/claim-protection.ts'
import { classProtectionController } from './protection/class-protection.ts'
import { volumeProtectionController } from './protection/volume-protection.ts'
import { quotaController } from './quota/quota-controller.ts'
import { aggregationController } from './roles/aggregation.ts'
import { storageVersionMigrator } from './storage-version-migrator.ts'
import { type SecretTokenOptions, secretTokenController } from './tokens/account-secret-tokens.ts'
import { bootstrapSigner } from './tokens/bootstrap-signer.ts'
import { tokenCleaner } from './tokens/token-cleaner.ts'
import { unusedTokenCleaner } from './tokens/unused-token-cleaner.ts'
import type { AutoscalingOptions } from './workloads/autoscaler-controller.ts'

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

/** The controllers of a server with these names. The code of workload controllers, and that of node controllers, is loaded only if one of them is wanted. */
export async function createControllers(
  wanted: readonly ControllerName[],
  options: ControllersOptions,
  { catalogue, chance }: { readonly catalogue: Catalogue; readonly chance: Chance },
): Promise<Controller[]> {
  const { autoscaling, nodes, schedulers, namespaceDelayMs = 0, objects, secretTokens, signRequest, rootCertificate } = options
  const { level } = catalogue
  const isWanted = (name: ControllerName) => wanted.includes(name)
  // Optional: without it claims are bound by tests, which need no other writes.
  const hasBinder = isWanted('persistentvolume-binder')
  const workloads = workloadControllers.some(isWanted)
    ? (await import('./workloads/workload-controllers.ts')).workloadControllersOf(catalogue, autoscaling)
    : []
  const onNodes = nodeControllers.some(isWanted)
    ? (await import('./nodes/node-controllers.ts')).nodeControllersOf(catalogue, chance, { nodes, schedulers })
    : []
  const all: readonly Controller[] = [
    namespaceController(namespaceDelayMs, catalogue.isGateOn('OrderedNamespaceDeletion')),
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
    ...(catalogue.isGateOn('VolumeAttributesClass') && serves(catalogue, 'storage', 'v1', 'volumeattributesclasses')
      ? [classProtectionController]
      : []),
    ...(serves(catalogue, 'storagemigration', 'v1', 'storageversionmigrations') ? [storageVersionMigrator] : []),
    ...(catalogue.isGateOn('CoordinatedLeaderElection') && serves(catalogue, 'coordination', candidatesVersion(level), 'leasecandidates')
      ? [electionController(level)]
      : []),
    ...(serves(catalogue, 'admissionregistration', 'v1', 'validatingadmissionpolicies') ? [policyStatusController] : []),
    ...workloads,
    ...onNodes,
    ...(rootCertificate === undefined ? [] : [rootCertificatePublisher(rootCertificate)]),
    ...(serves(catalogue, 'certificates', 'v1', 'certificatesigningrequests')
      ? [requestApprover, requestCleaner, ...(signRequest === undefined ? [] : [signingController(signRequest)])]
      : []),
    ...(secretTokens === undefined ? [] : [secretTokenController(secretTokens, catalogue)]),
    ...(catalogue.isGateOn('LegacyServiceAccountTokenCleanUp') ? [unusedTokenCleaner] : []),
    ...(servesFlowControl(catalogue) ? [flowControlController(level)] : []),
  ]
  return all.filter(({ name }) => isWanted(name))
}

/** True if a resource of an own group is served in a version. */
function serves({ names, find }: Catalogue, domain: string, version: string, plural: string): boolean {
  return find(domainGroup(names, domain), version, plural) !== undefined
}
