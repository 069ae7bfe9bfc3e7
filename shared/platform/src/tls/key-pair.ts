/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}
