/** A proof of the client's identity that is valid for a limited time. */
export interface Credential {
  readonly token?: string
  /** PEM; may hold the certificates of intermediate authorities after the client's own. */
  readonly clientCertificate?: string
  readonly clientKey?: string
  /** Milliseconds since 1970. Default: valid until the server refuses it. */
  readonly expiresAtMs?: number
}

/** A source of credentials: a program, or an OpenID provider. Rejects with a ConfigurationError that says why it has none. */
export interface CredentialSource {
  obtain(): Promise<Credential>
  /** Ends its open work. */
  close(): void
}

/** The parts of the process that sources of credentials use. */
export interface CredentialSurroundings {
  /** Milliseconds since 1970. */
  now(): number
  readonly env: Readonly<Record<string, string | undefined>>
  /** True if a person can type on standard input. */
  readonly isInteractive: boolean
  /** A text for the person at the terminal, such as how to install a missing program. */
  say(text: string): void
  /** Runs work during which a program may print to the terminal and prompt there. */
  lendTerminal?<T>(work: () => Promise<T>): Promise<T>
}

/** Caches a credential until it expires or is refused. All callers share one request to the source. */
export class KeptCredential {
  readonly #source: CredentialSource
  readonly #now: () => number
  #kept: Credential | undefined
  #asking: Promise<Credential> | undefined

  constructor(source: CredentialSource, now: () => number) {
    this.#source = source
    this.#now = now
  }

  current(): Promise<Credential> {
    const kept = this.#kept
    if (kept !== undefined && (kept.expiresAtMs === undefined || this.#now() < kept.expiresAtMs)) return Promise.resolve(kept)
    return this.#ask()
  }

  /** Replaces a credential that the server has refused. Resolves with a new one, which another caller may already have obtained. */
  replaced(refused: Credential): Promise<Credential> {
    if (this.#kept === refused) this.#kept = undefined
    return this.current()
  }

  close(): void {
    this.#source.close()
  }

  #ask(): Promise<Credential> {
    this.#asking ??= this.#source
      .obtain()
      .then((credential) => {
        this.#kept = credential
        return credential
      })
      .finally(() => {
        this.#asking = undefined
      })
    return this.#asking
  }
}
