/** The certificate authorities that are trusted for client certificates, PEM. */
export interface Authorities {
  /** Authorities of users. */
  readonly clients: string
  /** Authorities of authenticating proxies, whose headers name the user. */
  readonly proxies: string
}

/** A source of authorities, which may change while the server runs. */
export interface AuthoritySource {
  /** The current authorities; a new object after each change. */
  readonly current: Authorities
  /** Calls the listener after each change. Returns a function that removes it. */
  listen(listener: (authorities: Authorities) => void): () => void
}

/** The PEM blocks of certificates in a text. Other content is ignored. */
export function splitPem(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
}
