/** Encryption with keys that a KMS plugin holds. Imported only where a plugin is configured, because gRPC takes time to load. */

export { dialKmsPlugin, type KmsPluginAddress } from './kms-plugin.ts'
export { type KmsOptions, type KmsPlugin, KmsProvider, type WrappedSecret } from './kms-provider.ts'
