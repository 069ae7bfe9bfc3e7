/** Encryption with keys that a KMS plugin holds. Imported only where one is configured: gRPC costs time to load. */

export { dialKmsPlugin, type KmsPluginAddress } from './kms-plugin.ts'
export { type KmsOptions, type KmsPlugin, KmsProvider, type WrappedSecret } from './kms-provider.ts'
