import { ConfigurationError } from './configuration.ts'
import type { NamedPlugin, PluginNeeds, Registration } from './plugin.ts'
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

/** The constructors of the plugins, in call order, independent of the order of flags. */
const registrations: ReadonlyMap<string, Registration> = new Map(
  Object.entries({
    AlwaysAdmit: alwaysAdmit,
    NamespaceAutoProvision: namespaceAutoProvision,
    NamespaceLifecycle: namespaceLifecycle,
    NamespaceExists: namespaceExists,
    SecurityContextDeny: securityContextDeny,
    LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
    LimitRanger: limitRanger,
    ServiceAccount: serviceAccount,
    NodeRestriction: nodeRestriction,
    TaintNodesByCondition: taintNodesByCondition,
    AlwaysPullImages: alwaysPullImages,
    ImagePolicyWebhook: imagePolicyWebhook,
    PodSecurity: podSecurity,
    PodNodeSelector: podNodeSelector,
    Priority: priority,
    DefaultTolerationSeconds: defaultTolerationSeconds,
    PodTolerationRestriction: podTolerationRestriction,
    EventRateLimit: eventRateLimit,
    ExtendedResourceToleration: extendedResourceToleration,
    PersistentVolumeLabel: persistentVolumeLabel,
    DefaultStorageClass: defaultStorageClass,
    StorageObjectInUseProtection: storageObjectInUseProtection,
    PodGroupProtection: podGroupProtection,
    OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
    PersistentVolumeClaimResize: persistentVolumeClaimResize,
    RuntimeClass: runtimeClass,
    CertificateApproval: certificateApproval,
    CertificateSigning: certificateSigning,
    ClusterTrustBundleAttest: trustBundleAttest,
    CertificateSubjectRestriction: certificateSubjectRestriction,
    DefaultIngressClass: defaultIngressClass,
    DenyServiceExternalIPs: denyServiceExternalIps,
    PodTopologyLabels: podTopologyLabels,
    NodeDeclaredFeatureValidator: nodeDeclaredFeatureValidator,
    PodResizeValidator: podResizeValidator,
    MutatingAdmissionPolicy: mutatingAdmissionPolicy,
    MutatingAdmissionWebhook: mutatingAdmissionWebhook,
    ValidatingAdmissionPolicy: validatingAdmissionPolicy,
    ValidatingAdmissionWebhook: validatingAdmissionWebhook,
    ResourceQuota: resourceQuota,
    AlwaysDeny: alwaysDeny,
  }),
)

/** All names, in call order. */
export const pluginOrder: readonly string[] = [...registrations.keys()]

/** The plugins selected by flags. */
export interface PluginChoice {
  /** Enabled in addition to the defaults. */
  readonly enabled: readonly string[]
  /** Disabled defaults. */
  readonly disabled: readonly string[]
}

/** Names of the plugins of a release by its minor version, in order. */
export function pluginsAt(level: number): readonly string[] {
  return [...registrations].filter(([, { since = 0, until = level }]) => level >= since && level <= until).map(([name]) => name)
}

/** Validates a selection at a level; returns the names of the enabled plugins in order. */
export function choosePlugins({ enabled, disabled }: PluginChoice, level: number): readonly string[] {
  const pluginNames = pluginsAt(level)
  for (const name of [...enabled, ...disabled]) {
    if (pluginNames.includes(name)) continue
    throw new ConfigurationError(
      `there is no admission plugin ${JSON.stringify(name)} at level 1.${level}; expected some of ${pluginNames.join(', ')}`,
    )
  }
  const both = enabled.find((name) => disabled.includes(name))
  if (both !== undefined) throw new ConfigurationError(`the admission plugin ${both} is both enabled and disabled; expected one of the two`)
  return pluginNames.filter((name) => {
    const { isDefault, refusal } = registrations.get(name)!
    if (enabled.includes(name) && refusal !== undefined)
      throw new ConfigurationError(`the admission plugin ${name} cannot be enabled: ${refusal}`)
    return enabled.includes(name) || (isDefault && !disabled.includes(name))
  })
}

/** True if a selected plugin counts over all requests of a process, which then may have only one admission. */
export function countsOnce(choice: PluginChoice, level: number): boolean {
  return choosePlugins(choice, level).some((name) => registrations.get(name)?.countsOnce === true)
}

/** Refuses a configuration for an unknown plugin, or for a plugin without configuration. */
export function checkConfigured(name: string, isConfigured: boolean, level: number): void {
  if (!pluginsAt(level).includes(name))
    throw new ConfigurationError(`plugins: there is no admission plugin ${JSON.stringify(name)} at level 1.${level}`)
  if (isConfigured && registrations.get(name)?.isConfigurable !== true)
    throw new ConfigurationError(`plugins: the admission plugin ${name} takes no configuration`)
}

/** The plugins with these names, in the given order. */
export function createPlugins(names: readonly string[], needsOf: (name: string) => PluginNeeds): readonly NamedPlugin[] {
  const made: NamedPlugin[] = []
  try {
    for (const name of names) made.push(Object.assign(registrations.get(name)!.create(needsOf(name)), { name }))
    return made
  } catch (error) {
    for (const plugin of made) plugin.close?.()
    throw error
  }
}
