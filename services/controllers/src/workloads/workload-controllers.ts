import type { Catalogue } from '@orch/core/catalogue'
import { domainGroup } from '@orch/core/names'
import type { Controller } from '../controller.ts'
import { type AutoscalingOptions, autoscalerController } from './autoscaler-controller.ts'
import { cronJobController } from './cron-job-controller.ts'
import { daemonSetController } from './daemon-set-controller.ts'
import { deploymentController } from './deployment-controller.ts'
import { disruptionController } from './disruption-controller.ts'
import { endpointSliceController } from './endpoint-slice-controller.ts'
import { endpointSliceMirroringController } from './endpoint-slice-mirroring-controller.ts'
import { endpointsController } from './endpoints-controller.ts'
import { ephemeralVolumeController } from './ephemeral-volume-controller.ts'
import { finishedJobCleaner } from './finished-job-cleaner.ts'
import { jobController } from './job-controller.ts'
import { replicaSetController, replicationController } from './replica-controllers.ts'
import { resourceClaimController } from './resource-claim-controller.ts'
import { statefulSetController } from './stateful-set-controller.ts'
import { volumeBinderController } from './volume-binder-controller.ts'
import { volumeExpander } from './volume-expander.ts'

/** All controllers of workloads; without the dependencies of autoscaling none scales. */
export function workloadControllersOf(catalogue: Catalogue, autoscaling: AutoscalingOptions | undefined): Controller[] {
  const servesClaims = catalogue.find(domainGroup(catalogue.names, 'resource'), 'v1', 'resourceclaims') !== undefined
  return [
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
    endpointSliceMirroringController(catalogue),
    volumeBinderController(catalogue),
    volumeExpander(catalogue),
    ephemeralVolumeController,
    ...(servesClaims ? [resourceClaimController] : []),
    ...(autoscaling === undefined ? [] : [autoscalerController(catalogue, autoscaling)]),
  ]
}
