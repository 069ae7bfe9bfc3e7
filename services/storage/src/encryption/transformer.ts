/** An encryption with one key: one line of a configuration for one key. */
export interface Transformer {
  /** The prefix of its encrypted values, as in kube-apiserver: `k8s:enc:aescbc:v1:key1:`. '' for unencrypted values. */
  readonly prefix: string
  /** Encrypts a value; `key` is where it is stored. Throws a 500 StatusError where it cannot. */
  seal(key: string, plain: Uint8Array): Uint8Array
  /** Decrypts a value of `seal`; undefined: `prepare` has to fetch its key first. Throws if the value was altered. */
  open(key: string, sealed: Uint8Array): Uint8Array | undefined
  /** Fetches the keys that `open` lacks for these values. Rejected if that fails. */
  prepare?(sealed: readonly Uint8Array[]): Promise<void>
  /** The key of a value, for a transformer with several; without a value, the key in use now. */
  keyId?(sealed?: Uint8Array): string
}

/** Unchanged values. */
export const identity: Transformer = {
  prefix: '',
  seal: (_key, plain) => plain,
  open: (_key, sealed) => sealed,
}
