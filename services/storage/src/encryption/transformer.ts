/** One line of a configuration with one of its keys. */
export interface Transformer {
  /** The prefix of its encrypted values, as in kube-apiserver: `k8s:enc:aescbc:v1:key1:`. '' for unencrypted values. */
  readonly prefix: string
  /** Encrypts a value; `key` is its storage key. Throws a StatusError with code 500 if it fails. */
  seal(key: string, plain: Uint8Array): Uint8Array
  /** Decrypts a value of `seal`; undefined if `prepare` must fetch its key first. Throws if the value was altered. */
  open(key: string, sealed: Uint8Array): Uint8Array | undefined
  /** Fetches the keys that `open` lacks for these values. Rejects if that fails. */
  prepare?(sealed: readonly Uint8Array[]): Promise<void>
  /** The name of a value's key, for a transformer with several keys; without a value, the name of the current key. */
  keyId?(sealed?: Uint8Array): string
}

/** Unchanged values. */
export const identity: Transformer = {
  prefix: '',
  seal: (_key, plain) => plain,
  open: (_key, sealed) => sealed,
}
