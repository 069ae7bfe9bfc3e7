/** Whose signatures are good on client certificates, PEM. */
export interface Authorities {
  /** Their certificates make their owners users. */
  readonly clients: string
  /** Their certificates make their owners proxies, which are believed who asks. */
  readonly proxies: string
}

/** Authorities that may change while the server runs. */
export interface AuthoritySource {
  /** Another object whenever anything has changed. */
  readonly current: Authorities
  /** Called after a change; the function that it returns ends that. */
  listen(listener: (authorities: Authorities) => void): () => void
}

/** Authorities that stay as they are. */
export function fixedAuthorities({ clients = '', proxies = '' }: Partial<Authorities>): AuthoritySource {
  return { current: Object.freeze({ clients, proxies }), listen: () => () => {} }
}

/** The certificates of a text. What stands between them is of no concern. */
export function splitPem(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
}
