/** Encryption of stored values: the store below sees ciphertext. */
export { type EncryptedStoreOptions, encryptStore } from './encrypted-store.ts'
export { ConfiguredEncryption, type EncryptedResources, type Encryption } from './encryption.ts'
export { type LocalCipher, type LocalKey, localTransformer } from './local-keys.ts'
export { observeTransformations } from './transformation-metrics.ts'
export { identity, type Transformer } from './transformer.ts'
