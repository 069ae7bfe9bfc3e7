/** The admission service: the plugins that allow, refuse or change requests. */
export { type AdmissionOptions, createAdmission } from './admission.ts'
export type { Admission } from './ask.ts'
export { ConfigurationError, type ConfiguredPlugin, type PluginConfiguration, parseAdmissionConfiguration } from './configuration.ts'
export { Manifests } from './manifests/manifests.ts'
export { manifestsFolderKey, pluginFilesOf } from './manifests/plugin-files.ts'
export { type ManifestFile, type ManifestPlugin, manifestPlugins, readManifests } from './manifests/read-manifests.ts'
export {
  type Conditions,
  defaultPluginSettings,
  type Inquiry,
  type Plugin,
  type PluginNeeds,
  type PluginSettings,
  type Reinvocation,
  type ReviewSender,
  type Verdict,
} from './plugin.ts'
export { type ImagePolicy, readImagePolicy } from './plugins/image-policy-configuration.ts'
export { choosePlugins, countsOnce, type PluginChoice, pluginOrder } from './registry.ts'
export { parseWebhookCredentials } from './webhooks/credentials-file.ts'
