import { ConfigurationError } from './configuration.ts'
import type { Plugin, PluginNeeds, Registration } from './plugin.ts'
import { alwaysAdmit, alwaysDeny, podGroupProtection } from './plugins/always.ts'
import { alwaysPullImages } from './plugins/always-pull-images.ts'
import { certificateApproval } from './plugins/certificate-approval.ts'
import { certificateSigning } from './plugins/certificate-signing.ts'
import { certificateSubjectRestriction } from './plugins/certificate-subject-restriction.ts'
import { defaultIngressClass } from './plugins/default-ingress-class.ts'
import { defaultStorageClass } from './plugins/default-storage-class.ts'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts'
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.ts'
import { eventRateLimit } from './plugins/event-rate-limit.ts'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts'
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './plugins/limit-ranger.ts'
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.ts'
import { namespaceExists } from './plugins/namespace-exists.ts'
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts'
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-feature-validator.ts'
import { nodeRestriction } from './plugins/node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
import { persistentVolumeLabel } from './plugins/persistent-volume-label.ts'
import { podNodeSelector } from './plugins/pod-node-selector.ts'
import { podResizeValidator } from './plugins/pod-resize-validator.ts'
import { podSecurity } from './plugins/pod-security.ts'
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts'
import { podTopologyLabels } from './plugins/pod-topology-labels.ts'
import { priority } from './plugins/priority.ts'
import { resourceQuota } from './plugins/resource-quota.ts'
import { runtimeClass } from './plugins/runtime-class.ts'
import { securityContextDeny } from './plugins/security-context-deny.ts'
import { serviceAccount } from './plugins/service-account.ts'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'
import { trustBundleAttest } from './plugins/trust-bundle-attest.ts'
import { mutatingAdmissionPolicy } from './policies/mutating.ts'
import { validatingAdmissionPolicy } from './policies/validating.ts'
import { mutatingAdmissionWebhook } from './webhooks/mutating.ts'
import { validatingAdmissionWebhook } from './webhooks/validating.ts'

/** All names, in call order, independent of the order of flags. */
export const pluginOrder = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'SecurityContextDeny',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'PersistentVolumeLabel',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'NodeDeclaredFeatureValidator',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const

export type PluginName = (typeof pluginOrder)[number]

/** The constructors of the plugins. */
const registrations: { readonly [N in PluginName]?: Registration } = {
  NamespaceLifecycle: namespaceLifecycle,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  ClusterTrustBundleAttest: trustBundleAttest,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  ImagePolicyWebhook: imagePolicyWebhook,
  NodeRestriction: nodeRestriction,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PodSecurity: podSecurity,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota,
  ServiceAccount: serviceAccount,
  AlwaysAdmit: alwaysAdmit,
  NamespaceAutoProvision: namespaceAutoProvision,
  NamespaceExists: namespaceExists,
  SecurityContextDeny: securityContextDeny,
  LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
  LimitRanger: limitRanger,
  TaintNodesByCondition: taintNodesByCondition,
  AlwaysPullImages: alwaysPullImages,
  PodNodeSelector: podNodeSelector,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  PodTolerationRestriction: podTolerationRestriction,
  EventRateLimit: eventRateLimit,
  ExtendedResourceToleration: extendedResourceToleration,
  PersistentVolumeLabel: persistentVolumeLabel,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIps,
  PodGroupProtection: podGroupProtection,
  PodTopologyLabels: podTopologyLabels,
  NodeDeclaredFeatureValidator: nodeDeclaredFeatureValidator,
  PodResizeValidator: podResizeValidator,
  AlwaysDeny: alwaysDeny,
}

/** The plugins selected by flags. */
export interface PluginChoice {
  /** Enabled in addition to the defaults. */
  readonly enabled: readonly string[]
  /** Disabled defaults. */
  readonly disabled: readonly string[]
}

/** Names of the plugins of a release by its minor version, in order. */
export function pluginsAt(level: number): readonly PluginName[] {
  return pluginOrder.filter((name) => isKnownAt(level, registrations[name]))
}

function isKnownAt(level: number, registration: Registration | undefined): boolean {
  return registration !== undefined && level >= (registration.since ?? 0) && level <= (registration.until ?? level)
}

/** Validates a selection at a level; returns the names of the enabled plugins in order. */
export function choosePlugins({ enabled, disabled }: PluginChoice, level: number): readonly PluginName[] {
  const pluginNames = pluginsAt(level)
  for (const name of [...enabled, ...disabled]) {
    if (pluginNames.some((known) => known === name)) continue
    throw new ConfigurationError(
      `there is no admission plugin ${JSON.stringify(name)} at level 1.${level}; expected some of ${pluginNames.join(', ')}`,
    )
  }
  const both = enabled.find((name) => disabled.includes(name))
  if (both !== undefined) throw new ConfigurationError(`the admission plugin ${both} is both enabled and disabled; expected one of the two`)
  return pluginNames.filter((name) => {
    const { isDefault, refusal } = registrations[name]!
    if (enabled.includes(name) && refusal !== undefined)
      throw new ConfigurationError(`the admission plugin ${name} cannot be enabled: ${refusal}`)
    return enabled.includes(name) || (isDefault && !disabled.includes(name))
  })
}

/** True if a selected plugin counts over all requests of a process, which then may have only one admission. */
export function countsOnce(choice: PluginChoice, level: number): boolean {
  return choosePlugins(choice, level).some((name) => registrations[name]?.countsOnce === true)
}

/** Refuses a configuration for an unknown plugin, or for a plugin without configuration. */
export function checkConfigured(name: string, isConfigured: boolean, level: number): void {
  const known = pluginsAt(level).find((one) => one === name)
  if (known === undefined) throw new ConfigurationError(`plugins: there is no admission plugin ${JSON.stringify(name)} at level 1.${level}`)
  if (isConfigured && registrations[known]?.isConfigurable !== true)
    throw new ConfigurationError(`plugins: the admission plugin ${name} takes no configuration`)
}

/** The plugins with these names, in the given order. */
export function createPlugins(names: readonly PluginName[], needsOf: (name: PluginName) => PluginNeeds): readonly Plugin[] {
  const made: Plugin[] = []
  try {
    for (const name of names) made.push(registrations[name]!.create(needsOf(name)))
    return made
  } catch (error) {
    for (const plugin of made) plugin.close()
    throw error
  }
}
