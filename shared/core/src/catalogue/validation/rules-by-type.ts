import { RuleBook, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { policyRules } from './admission-policy.ts'
import { apiServiceRules } from './api-service.ts'
import { autoscalerRules } from './autoscaler.ts'
import { metricRules } from './autoscaler-metrics.ts'
import { claimSpecRules } from './claim-spec.ts'
import { cronJobRules } from './cron-job.ts'
import { csiRules } from './csi-kinds.ts'
import { csiNodeRules } from './csi-node.ts'
import { daemonSetRules } from './daemon-set.ts'
import { deploymentRules } from './deployment.ts'
import { dynamicResourceRules } from './devices/index.ts'
import { disruptionBudgetRules } from './disruption-budget.ts'
import { endpointRules } from './endpoints.ts'
import { flowSchemaRules } from './flow-control.ts'
import { ingressRules } from './ingress.ts'
import { ingressClassRules } from './ingress-class.ts'
import { jobRules } from './job.ts'
import { networkPolicyRules } from './network-policy.ts'
import { persistentVolumeRules } from './persistent-volume.ts'
import { environmentRules } from './pod/container-env.ts'
import { containerRules } from './pod/containers.ts'
import { podSpecRules } from './pod/pod-spec.ts'
import { podStatusRules } from './pod/pod-status.ts'
import { probeRules } from './pod/probes.ts'
import { fileRules } from './pod/projected.ts'
import { schedulingRules } from './pod/scheduling.ts'
import { securityRules } from './pod/security.ts'
import { sourceRules } from './pod/volume-sources.ts'
import { podCertificateRules } from './pod-certificate-request.ts'
import { podTemplateRules } from './pod-template.ts'
import { priorityLevelRules } from './priority-level.ts'
import { rbacRules } from './rbac.ts'
import { replicaRules } from './replica-set.ts'
import { serviceRules } from './service.ts'
import { serviceRangeRules } from './service-cidr.ts'
import { runtimeClassRules } from './small-kinds.ts'
import { statefulSetRules } from './stateful-set.ts'
import { storageClassRules } from './storage-class.ts'
import { migrationRules } from './storage-version-migration.ts'
import { attachmentRules } from './volume-attachment.ts'
import { webhookRules } from './webhook.ts'

/** Types whose rules have another order than their fields, or that have rules besides the facets of fields. */
const rulesByType: Readonly<Record<string, TypeRules>> = {
  ...apiServiceRules,
  ...attachmentRules,
  ...autoscalerRules,
  ...claimSpecRules,
  ...containerRules,
  ...cronJobRules,
  ...csiNodeRules,
  ...csiRules,
  ...daemonSetRules,
  ...deploymentRules,
  ...disruptionBudgetRules,
  ...dynamicResourceRules,
  ...endpointRules,
  ...environmentRules,
  ...fileRules,
  ...flowSchemaRules,
  ...ingressClassRules,
  ...ingressRules,
  ...jobRules,
  ...metricRules,
  ...migrationRules,
  ...networkPolicyRules,
  ...persistentVolumeRules,
  ...podCertificateRules,
  ...podSpecRules,
  ...podStatusRules,
  ...podTemplateRules,
  ...policyRules,
  ...priorityLevelRules,
  ...probeRules,
  ...rbacRules,
  ...replicaRules,
  ...runtimeClassRules,
  ...schedulingRules,
  ...securityRules,
  ...serviceRangeRules,
  ...serviceRules,
  ...sourceRules,
  ...statefulSetRules,
  ...storageClassRules,
  ...webhookRules,
  'meta/v1.LabelSelector': [(errors, selector, at) => void errors.push(...validateLabelSelector(selector, at))],
}

/** Collects the rules of all types at a level. */
export function createRuleBook(level: number): RuleBook {
  return new RuleBook(level, rulesByType)
}
