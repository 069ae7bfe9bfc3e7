import { ConfigurationError } from './configuration.ts'
import type { NamedPlugin, PluginNeeds, Registration } from './plugin.ts'
import { alwaysDeny, withoutRules } from './plugins/always.ts'
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
    AlwaysAdmit: { isDefault: false, create: withoutRules },
    NamespaceAutoProvision: { isDefault: false, create: namespaceAutoProvision },
    NamespaceLifecycle: { isDefault: true, create: namespaceLifecycle },
    NamespaceExists: { isDefault: false, create: namespaceExists },
    SecurityContextDeny: { isDefault: false, until: 29, create: securityContextDeny },
    LimitPodHardAntiAffinityTopology: { isDefault: false, create: limitPodHardAntiAffinityTopology },
    LimitRanger: { isDefault: true, create: limitRanger },
    ServiceAccount: { isDefault: true, create: serviceAccount },
    NodeRestriction: { isDefault: false, create: nodeRestriction },
    TaintNodesByCondition: { isDefault: true, create: taintNodesByCondition },
    AlwaysPullImages: { isDefault: false, create: alwaysPullImages },
    ImagePolicyWebhook: { isDefault: false, isConfigurable: true, countsOnce: true, create: imagePolicyWebhook },
    PodSecurity: { isDefault: true, isConfigurable: true, create: podSecurity },
    PodNodeSelector: { isDefault: false, isConfigurable: true, create: podNodeSelector },
    Priority: { isDefault: true, create: priority },
    DefaultTolerationSeconds: { isDefault: true, create: defaultTolerationSeconds },
    PodTolerationRestriction: { isDefault: false, isConfigurable: true, create: podTolerationRestriction },
    EventRateLimit: { isDefault: false, isConfigurable: true, countsOnce: true, create: eventRateLimit },
    ExtendedResourceToleration: { isDefault: false, create: extendedResourceToleration },
    PersistentVolumeLabel: {
      isDefault: false,
      until: 30,
      refusal: 'it labels volumes by what a cloud says of them, and this server knows no cloud; volumes get such labels from their drivers',
      create: withoutRules,
    },
    DefaultStorageClass: { isDefault: true, create: defaultStorageClass },
    StorageObjectInUseProtection: { isDefault: true, create: storageObjectInUseProtection },
    PodGroupProtection: { isDefault: true, since: 36, create: withoutRules },
    OwnerReferencesPermissionEnforcement: { isDefault: false, create: ownerReferencesPermissionEnforcement },
    PersistentVolumeClaimResize: { isDefault: true, create: persistentVolumeClaimResize },
    RuntimeClass: { isDefault: true, create: runtimeClass },
    CertificateApproval: { isDefault: true, create: certificateApproval },
    CertificateSigning: { isDefault: true, create: certificateSigning },
    ClusterTrustBundleAttest: { isDefault: true, since: 27, create: trustBundleAttest },
    CertificateSubjectRestriction: { isDefault: true, create: certificateSubjectRestriction },
    DefaultIngressClass: { isDefault: true, create: defaultIngressClass },
    DenyServiceExternalIPs: { isDefault: false, create: denyServiceExternalIps },
    PodTopologyLabels: { isDefault: true, since: 33, create: podTopologyLabels },
    NodeDeclaredFeatureValidator: { isDefault: true, since: 35, create: nodeDeclaredFeatureValidator },
    PodResizeValidator: { isDefault: true, since: 36, create: podResizeValidator },
    MutatingAdmissionPolicy: { isDefault: true, isConfigurable: true, since: 32, create: mutatingAdmissionPolicy },
    MutatingAdmissionWebhook: { isDefault: true, isConfigurable: true, create: mutatingAdmissionWebhook },
    ValidatingAdmissionPolicy: { isDefault: true, isConfigurable: true, since: 26, create: validatingAdmissionPolicy },
    ValidatingAdmissionWebhook: { isDefault: true, isConfigurable: true, create: validatingAdmissionWebhook },
    ResourceQuota: { isDefault: true, isConfigurable: true, create: resourceQuota },
    AlwaysDeny: { isDefault: false, create: alwaysDeny },
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
